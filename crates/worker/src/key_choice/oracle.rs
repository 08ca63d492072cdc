//! Draws of records, value sizes and range lengths beside those of `rand_distr` by the same laws, which others wrote:
//! by chi-squared of two samples, at a level that sound samplers miss once in a million seeds. Seeds are fixed.

use kvdyno_dataset::{Stream, ValueSizes, misfit_of_two};
use kvdyno_model::Pareto;
use rand_core::SeedableRng;
use rand_distr::{Distribution, Exp, Normal, Pareto as ParetoOfOne, Uniform, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::sample_ids;

const DRAWS: u64 = 1_000_000;
/// Standard deviations of a normal law, as in [`kvdyno_dataset::misfit`].
const ONE_IN_A_MILLION: f64 = 4.75;

/// Draws of a law in classes.
fn counted(classes: usize, mut class: impl FnMut() -> usize) -> Vec<u64> {
    let mut counts = vec![0; classes];
    (0..DRAWS).for_each(|_| counts[class()] += 1);
    counts
}

/// Classes of ids that are few at the front, where most are drawn: 16 for each doubling.
fn class_of(id: u64) -> usize {
    (((id + 1) as f64).log2() * 16.0) as usize
}

/// The distance of ids by our `law` from those of theirs; theirs beyond the last id are drawn again.
fn misfit_of_ids(law: &str, ids: u64, theirs: impl Distribution<f64>) -> f64 {
    let class = |id: u64| if ids > 2000 { class_of(id) } else { id as usize };
    let classes = class(ids - 1) + 1;
    let mut ours = vec![0; classes];
    sample_ids(law.parse().unwrap(), ids, 3, DRAWS, |id| ours[class(id)] += 1);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut id = || loop {
        let number = theirs.sample(&mut random);
        if (0.0..ids as f64).contains(&number) {
            return number as u64;
        }
    };
    misfit_of_two(&ours, &counted(classes, || class(id())))
}

/// The distance of sizes by our `law` from those that `theirs` draws.
fn misfit_of_sizes(law: &str, mut theirs: impl FnMut(&mut Xoshiro256PlusPlus) -> f64) -> f64 {
    let sizes: ValueSizes = law.parse().unwrap();
    let classes = sizes.largest() as usize + 1;
    let (mut stream, mut random) = (Stream::new(3), Xoshiro256PlusPlus::seed_from_u64(5));
    let ours = counted(classes, || sizes.drawn(stream.bits()) as usize);
    misfit_of_two(&ours, &counted(classes, || theirs(&mut random) as usize))
}

/// Theirs count ranks from 1.
fn zipf(ids: u64, exponent: f64) -> impl Distribution<f64> {
    Zipf::new(ids as f64, exponent).unwrap().map(|rank| rank - 1.0)
}

/// The generalized law from the plain one, whose least is 1.
fn pareto(Pareto { k, sigma }: Pareto) -> impl Fn(&mut Xoshiro256PlusPlus) -> f64 {
    let (tail, plain) = (Exp::new(1.0 / sigma).unwrap(), ParetoOfOne::new(1.0, 1.0 / k.max(1e-9)).unwrap());
    move |random| if k == 0.0 { tail.sample(random) } else { sigma * (plain.sample(random) - 1.0) / k }
}

#[test]
fn records_come_as_those_of_rand_distr() {
    for ids in [3, 1000, 1 << 40] {
        for exponent in [0.01, 0.5, 0.99, 1.0, 1.3, 3.0] {
            let misfit = misfit_of_ids(&format!("zipf-ordered {exponent}"), ids, zipf(ids, exponent));
            assert!(misfit < ONE_IN_A_MILLION, "zipf {exponent}, {ids} ids: {misfit}");
        }
    }
    for ids in [1000u64, 1_000_000] {
        for part in [0.01, 0.1, 0.9] {
            let theirs = Exp::new(1.0 / (ids as f64 * part)).unwrap();
            let misfit = misfit_of_ids(&format!("exponential {part}"), ids, theirs);
            assert!(misfit < ONE_IN_A_MILLION, "exponential {part}, {ids} ids: {misfit}");
            let theirs = Normal::new((ids / 2) as f64, ids as f64 * part).unwrap();
            let misfit = misfit_of_ids(&format!("normal {part}"), ids, theirs);
            assert!(misfit < ONE_IN_A_MILLION, "normal {part}, {ids} ids: {misfit}");
        }
    }
}

#[test]
fn sizes_of_values_come_as_those_of_rand_distr() {
    let uniform = Uniform::new_inclusive(100u64, 1000).unwrap();
    let misfit = misfit_of_sizes("uniform 100 1000", |random| uniform.sample(random) as f64);
    assert!(misfit < ONE_IN_A_MILLION, "uniform: {misfit}");
    for (mean, deviation) in [(200.0, 50.0), (100.0, 76.0)] {
        let normal = Normal::<f64>::new(mean, deviation).unwrap();
        let misfit = misfit_of_sizes(&format!("normal {mean} {deviation}"), |random| {
            loop {
                let size = normal.sample(random).round();
                if (24.0..=2.0 * mean - 24.0).contains(&size) {
                    return size;
                }
            }
        });
        assert!(misfit < ONE_IN_A_MILLION, "normal {mean} {deviation}: {misfit}");
    }
    for (k, sigma) in [(0.2615, 25.45), (0.0, 100.0), (1.0, 50.0)] {
        let law = pareto(Pareto { k, sigma });
        let misfit =
            misfit_of_sizes(&format!("pareto {k} {sigma} 1024"), |random| law(random).ceil().clamp(24.0, 1024.0));
        assert!(misfit < ONE_IN_A_MILLION, "pareto {k} {sigma}: {misfit}");
    }
}

#[test]
fn lengths_of_ranges_come_as_those_of_rand_distr() {
    for (k, sigma) in [(2.517, 14.236), (0.0, 10.0), (0.2615, 25.45)] {
        let (law, theirs) = (Pareto { k, sigma }, pareto(Pareto { k, sigma }));
        let (mut stream, mut random) = (Stream::new(3), Xoshiro256PlusPlus::seed_from_u64(5));
        let class = |length: f64| length.min(10_000.0) as usize;
        let ours = counted(10_001, || class(law.drawn(stream.bits())));
        let theirs = counted(10_001, || class(theirs(&mut random).ceil().max(1.0)));
        let misfit = misfit_of_two(&ours, &theirs);
        assert!(misfit < ONE_IN_A_MILLION, "{law:?}: {misfit}");
    }
}

/// An exponent that is wrong by a hundredth shows, a mean, a deviation or a scale that is by a few.
#[test]
fn another_law_of_rand_distr_does_not_fit() {
    for (what, misfit) in [
        ("zipf", misfit_of_ids("zipf-ordered 0.99", 1000, zipf(1000, 0.98))),
        ("zipf of many", misfit_of_ids("zipf-ordered 0.99", 1 << 40, zipf(1 << 40, 1.0))),
        ("zipf from 0", misfit_of_ids("zipf-ordered 0.99", 1000, Zipf::new(1000.0, 0.99).unwrap())),
        ("exponential", misfit_of_ids("exponential 0.1", 1000, Exp::new(0.01 / 1.04).unwrap())),
        ("normal", misfit_of_ids("normal 0.1", 1000, Normal::new(500.0, 104.0).unwrap())),
        ("normal, off its middle", misfit_of_ids("normal 0.1", 1000, Normal::new(504.0, 100.0).unwrap())),
    ] {
        assert!(misfit > ONE_IN_A_MILLION, "{what}: {misfit}");
    }
    let law = pareto(Pareto { k: 0.2615, sigma: 23.0 });
    let sizes = |random: &mut Xoshiro256PlusPlus| law(random).ceil().clamp(24.0, 1024.0);
    let misfit = misfit_of_sizes("pareto 0.2615 25.45 1024", sizes);
    assert!(misfit > ONE_IN_A_MILLION, "pareto: {misfit}");
}
