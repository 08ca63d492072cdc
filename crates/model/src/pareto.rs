//! The generalized Pareto distribution, as mixgraph has it for sizes of values and lengths of ranges.

/// The law whose part above x is (1 + k x / sigma)^(-1/k); e^(-x / sigma) for k = 0. It is drawn by its inverse
/// (Hosking and Wallis, "Parameter and quantile estimation for the generalized Pareto distribution", 1987, whose k has
/// the other sign), and rounded up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pareto {
    /// Shape of the tail: the law has a mean below 1.
    pub k: f64,
    /// The scale.
    pub sigma: f64,
}

/// The most that k may be: beyond, floats end.
const MOST_K: f64 = 10.0;
const SIGMAS: std::ops::RangeInclusive<f64> = 1e-3..=1e9;

impl Pareto {
    /// The law with the two numbers in these texts.
    ///
    /// # Errors
    /// Which of them is none, and what would be right.
    pub fn from_texts(k: &str, sigma: &str) -> Result<Pareto, String> {
        let number = |what: &str, text: &str, bounds: std::ops::RangeInclusive<f64>| {
            let number = text.parse().ok().filter(|number| bounds.contains(number));
            number.ok_or_else(|| {
                format!("the {what} of pareto is {text}; it must be {} to {}", bounds.start(), bounds.end())
            })
        };
        Ok(Pareto { k: number("k", k, 0.0..=MOST_K)?, sigma: number("sigma", sigma, SIGMAS)? })
    }

    /// The number that 64 random bits draw: whole, and at least 1.
    #[inline]
    pub fn drawn(&self, bits: u64) -> f64 {
        // 53 bits are the numbers from 0 to 1 that a float tells apart; 0 is none of them.
        let part = ((bits >> 11) + 1) as f64 / (1u64 << 53) as f64;
        let number = match self.k {
            0.0 => -self.sigma * part.ln(),
            k => self.sigma * (part.powf(-k) - 1.0) / k,
        };
        number.ceil().max(1.0)
    }

    /// The part of the draws that are above a number, which is 0 or more.
    pub fn above(&self, number: f64) -> f64 {
        match self.k {
            0.0 => (-number / self.sigma).exp(),
            k => (1.0 + k * number / self.sigma).powf(-1.0 / k),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_numbers_are_told() {
        let error = |k, sigma| Pareto::from_texts(k, sigma).unwrap_err();
        assert_eq!(error("-0.1", "5"), "the k of pareto is -0.1; it must be 0 to 10");
        assert_eq!(error("0.1", "-5"), "the sigma of pareto is -5; it must be 0.001 to 1000000000");
        assert!(error("x", "5").contains("the k of pareto is x") && error("0.1", "NaN").contains("sigma"));
    }
}
