//! Goodness of fit of drawn numbers to a law: chi-squared.

/// Bins of which fewer draws are expected are put together.
const LEAST_EXPECTED: f64 = 10.0;

/// Distance of draws from a law that gives bins these `parts`, up to a constant factor; `counts` has the number of
/// draws in each. It is chi-squared, as standard deviations of a normal law (Wilson and Hilferty, "The distribution of
/// chi-square", 1931). A sound sampler is above 4.75 once in a million times.
pub fn misfit(counts: &[u64], parts: &[f64]) -> f64 {
    let (drawn, sum) = (counts.iter().sum::<u64>() as f64, parts.iter().sum::<f64>());
    let (mut chi, mut bins, mut few) = (0.0, 0.0, (0.0, 0.0));
    for (&count, part) in counts.iter().zip(parts) {
        few = (few.0 + count as f64, few.1 + drawn * part / sum);
        if few.1 >= LEAST_EXPECTED {
            chi += (few.0 - few.1).powi(2) / few.1;
            bins += 1.0;
            few = (0.0, 0.0);
        }
    }
    deviations(chi, bins)
}

/// The same distance of two samples from each other: their counts in the same bins.
pub fn misfit_of_two(counts: &[u64], others: &[u64]) -> f64 {
    let [drawn, other] = [counts, others].map(|counts| counts.iter().sum::<u64>() as f64);
    let (ratio, mut chi, mut bins, mut few) = ((other / drawn).sqrt(), 0.0, 0.0, (0.0, 0.0));
    for (&count, &other) in counts.iter().zip(others) {
        few = (few.0 + count as f64, few.1 + other as f64);
        if few.0 + few.1 >= 2.0 * LEAST_EXPECTED {
            chi += (ratio * few.0 - few.1 / ratio).powi(2) / (few.0 + few.1);
            bins += 1.0;
            few = (0.0, 0.0);
        }
    }
    deviations(chi, bins)
}

/// Chi-squared of so many bins as standard deviations of a normal law.
fn deviations(chi: f64, bins: f64) -> f64 {
    let freedom = f64::max(bins - 1.0, 1.0);
    let spread = 2.0 / (9.0 * freedom);
    ((chi / freedom).cbrt() - (1.0 - spread)) / spread.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chi_squared_is_as_its_tables_have_it() {
        // 999 degrees of freedom: 1143.9 is passed once in a thousand times, where a normal law passes 3.09.
        let (parts, off) = (vec![1.0; 1000], (1143.9f64 * 1e6 / 1000.0).sqrt() as u64);
        let mut counts = vec![1_000_000u64; 1000];
        counts[..500].iter_mut().for_each(|count| *count += off);
        counts[500..].iter_mut().for_each(|count| *count -= off);
        assert!((misfit(&counts, &parts) - 3.09).abs() < 0.02, "{}", misfit(&counts, &parts));
    }

    /// Numerical Recipes (Press and others, 3rd edition, 2007, section 14.3.2): of two equal samples the sum of
    /// (a - b)² / (a + b), of unequal ones with each weighted by the root of the other's size over its own.
    #[test]
    fn chi_squared_of_two_samples_is_as_its_tables_have_it() {
        for size in [1, 9] {
            // As above; two samples differ by the root of 1 + 1/size more than one from its law.
            let spread = (1.0 + 1.0 / size as f64).sqrt();
            let off = ((1143.9f64 * 1e6 / 1000.0).sqrt() * spread) as u64;
            let others = vec![1_000_000 * size; 1000];
            let counts: Vec<u64> = (0..1000u64).map(|bin| 1_000_000 + (bin % 2) * 2 * off - off).collect();
            let misfit = misfit_of_two(&counts, &others);
            assert!((misfit - 3.09).abs() < 0.03, "{size}: {misfit}");
            assert!((misfit_of_two(&others, &counts) - misfit).abs() < 1e-9);
        }
    }
}
