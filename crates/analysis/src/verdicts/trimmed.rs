//! The middle of repeated figures and its standard error, robust against a few outliers.
//!
//! The middle is the mean of the values without the lowest and the highest seventh. Its standard error is Tukey and
//! McLaughlin's, made from the winsorized values (*Less Vulnerable Confidence and Significance Procedures for Location
//! Based on a Single Sample: Trimming/Winsorization 1*, Sankhya A 25, 1963; Yuen, *The Two-Sample Trimmed t for Unequal
//! Population Variances*, Biometrika 61, 1974). With fewer than seven values nothing is left out, and the interval is
//! Student's t: an outlier among so few values widens it, which takes more repeats but does not make it wrong. From
//! seven values on, a trial that was still starting up does neither.

use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::random::student;

/// One in so many values is left out at either end.
const TRIMMED: usize = 7;

/// The middle of a sample, its standard error, and the degrees of freedom of that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TrimmedMean {
    pub(crate) value: f64,
    pub(crate) error: f64,
    freedom: f64,
}

impl TrimmedMean {
    /// The middle of `values`. `None` for fewer than two values: one value has no information about spread.
    pub(crate) fn of(values: &[f64]) -> Option<TrimmedMean> {
        if values.len() < 2 {
            return None;
        }
        let kept = kept(values);
        let count = kept.len() as f64;
        let drawn_in = drawn_in(values);
        let middle = drawn_in.iter().sum::<f64>() / values.len() as f64;
        let squares: f64 = drawn_in.iter().map(|value| (value - middle).powi(2)).sum();
        Some(TrimmedMean {
            value: kept.iter().sum::<f64>() / count,
            error: (squares / (count * (count - 1.0))).sqrt(),
            freedom: freedom(values.len()),
        })
    }

    /// The distance of this from the middle of a sample that has nothing to do with it. Degrees of freedom are Welch's
    /// (*The Generalization of "Student's" Problem when Several Different Population Variances are Involved*,
    /// Biometrika 34, 1947).
    pub(crate) fn minus(&self, other: &TrimmedMean) -> TrimmedMean {
        let (one, two) = (self.error.powi(2), other.error.powi(2));
        let freedom = (one + two).powi(2) / (one.powi(2) / self.freedom + two.powi(2) / other.freedom);
        TrimmedMean {
            value: self.value - other.value,
            error: (one + two).sqrt(),
            // Two samples without any spread.
            freedom: if freedom.is_finite() { freedom } else { self.freedom + other.freedom },
        }
    }

    /// The middle of the same sample with each value moved by so much.
    pub(crate) fn moved(self, by: f64) -> TrimmedMean {
        TrimmedMean { value: self.value + by, ..self }
    }

    /// Half of the two-sided interval that misses the truth with this probability.
    pub(crate) fn half(&self, miss: f64) -> f64 {
        self.error * quantile(self.freedom, miss)
    }

    /// The middle that another such sample might have had.
    pub(crate) fn drawn(&self, random: &mut Xoshiro256PlusPlus) -> f64 {
        self.value + self.error * student(random, self.freedom)
    }

    /// The two-sided probability of a sample whose middle is at least `distance` from the truth.
    pub(crate) fn chance(&self, distance: f64) -> f64 {
        if self.error == 0.0 {
            return if distance == 0.0 { 1.0 } else { 0.0 };
        }
        let t = StudentsT::new(0.0, 1.0, self.freedom);
        t.map_or(1.0, |t| 2.0 * t.sf((distance / self.error).abs()))
    }
}

/// The values without the lowest and the highest seventh, in ascending order.
fn kept(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let cut = values.len() / TRIMMED;
    sorted[cut..values.len() - cut].to_vec()
}

/// Winsorized values, in their order: those that are left out are drawn in to the nearest that is kept.
pub(crate) fn drawn_in(values: &[f64]) -> Vec<f64> {
    let kept = kept(values);
    let (Some(lowest), Some(highest)) = (kept.first(), kept.last()) else { return Vec::new() };
    values.iter().map(|value| value.clamp(*lowest, *highest)).collect()
}

/// The two-sided quantile of Student's t for a probability of `miss` outside it.
pub(crate) fn quantile(freedom: f64, miss: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - miss / 2.0))
}

/// Degrees of freedom of a sample of this size: one less than the values kept, and less again where some are left out.
pub(crate) fn freedom(count: usize) -> f64 {
    let cut = (count / TRIMMED) as f64;
    let kept = count as f64 - 2.0 * cut;
    kept - 1.0 - cut / 2.0
}
