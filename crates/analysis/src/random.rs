//! Random numbers of distributions.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Above 0, and up to 1.
pub(crate) fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// A normal random number of mean 0 and standard deviation 1, by the method of Box and Muller (*A Note on the
/// Generation of Random Normal Deviates*, Annals of Mathematical Statistics 29, 1958).
pub(crate) fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let length = (-2.0 * uniform(random).ln()).sqrt();
    length * (std::f64::consts::TAU * uniform(random)).cos()
}

/// Student's t, as it is defined; of degrees of freedom that are not whole, the nearest whole number.
pub(crate) fn student(random: &mut Xoshiro256PlusPlus, freedom: f64) -> f64 {
    let count = freedom.round().max(1.0);
    let squares: f64 = (0..count as usize).map(|_| normal(random).powi(2)).sum();
    normal(random) / (squares / count).sqrt()
}
