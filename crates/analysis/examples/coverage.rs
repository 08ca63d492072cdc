//! How often intervals of comparisons hold the truth, in simulations: `cargo run --release -p kvdyno-analysis --example
//! coverage [TRIES]`, 10,000 unless said.

#![allow(clippy::print_stdout, reason = "it prints")]

use kvdyno_analysis::simulation::{simulate, simulate_equals, simulated_comparisons};
use kvdyno_analysis::verdicts::Looks;

fn main() {
    let tries = std::env::args().nth(1).and_then(|tries| tries.parse().ok()).unwrap_or(10_000);
    println!("end | noise | outliers | spread | truth | held | bounds | wrong | decided | repeats | half-width");
    for (seed, what) in (0..).zip(simulated_comparisons()) {
        let outcome = simulate(&what, tries, seed);
        let (low, high) = outcome.bounds();
        let of = |count: usize| 100.0 * count as f64 / tries as f64;
        println!(
            "{:?} | {:?} | {} | {} | {} | {:.2} % | {:.2} to {:.2} | {:.2} % | {:.1} % | {:.1} | {:.2} %",
            what.end,
            what.noise,
            what.outliers,
            what.spread,
            what.truth,
            of(outcome.held),
            100.0 * low,
            100.0 * high,
            of(outcome.wrong),
            of(outcome.decided),
            outcome.repeats,
            100.0 * outcome.half_width
        );
    }
    println!("\nsetups that are the same, repeats: neighbours that are said to differ | any pair | one fastest of all");
    for (setups, repeats) in [(2, 5), (4, 5), (8, 3), (8, 5), (8, 10), (22, 5)] {
        let wrong = simulate_equals(setups, repeats, Looks::Once, tries, 2014);
        let [neighbours, pairs, winner] = [wrong.neighbours, wrong.pairs, wrong.winner].map(|share| 100.0 * share);
        println!("{setups}, {repeats}: {neighbours:.2} % | {pairs:.2} % | {winner:.2} %");
    }
}
