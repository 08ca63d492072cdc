//! `3n1`: an empty database is filled with the cycle lengths of the 3n+1 problem, and asked for those that it knows.

mod computation;
mod numbers;
mod oracle;
mod problem;
mod stored;

use super::workload_key::{WorkloadError, WorkloadKey};
use kvdyno_dataset::{KeyError, KeyFormat};
use kvdyno_engine::{Durability, abi};
use kvdyno_experiment::{DataKey, RunKey};
use kvdyno_model::{Spelling, WorkloadName};
use kvdyno_results::{FigureValue, NamedFigure, WorkloadFigures};

use super::counts::TrialCounts;
use super::definition::{WorkloadDefinition, WorkloadProfile, can};
use super::load::LoadDefinition;
use super::parameters::{Data, WorkloadParameters};
use super::stored::StoredRecords;
use crate::shared::COUNTERS;
use computation::Computation;
use numbers::NumberCodec;
use oracle::CycleAnswers;
use problem::{LONGEST_CYCLE, MOST_STARTS, numbers_expected};
use stored::CycleRecords;

pub(super) static THREE_N_PLUS_ONE: CycleLengths = CycleLengths;

/// A client gets, computes and puts by turns.
static PROFILE: WorkloadProfile = WorkloadProfile {
    writer: Some(&Computation),
    has_think_time: true,
    loads: true,
    ..WorkloadProfile::new(
        WorkloadName::ThreeNPlusOne,
        "fill the database with cycle lengths of the 3n+1 problem, looking up known ones",
    )
};

/// Bytes of a key and a value of the enhanced spelling together, about: five to six digits of a key, three of a value,
/// nine bytes each.
const ENHANCED_BYTES: u64 = 80;

/// Puts and gets a second of a slow engine on a small machine, and puts that it syncs: for estimates of time, never for
/// figures.
const OPERATIONS_PER_S: f64 = 60e3;
const SYNCS_PER_S: f64 = 500.0;

/// It tests caches that are small beside a small database.
const LEAST_CACHE: u64 = 256 << 10;

/// The workload.
pub(super) struct CycleLengths;

impl WorkloadDefinition for CycleLengths {
    fn profile(&self) -> &WorkloadProfile {
        &PROFILE
    }

    fn takes(&self, key: WorkloadKey) -> bool {
        use DataKey::{Compressibility, KeyFormat, Records, Spelling};
        match key {
            WorkloadKey::Data(key) => matches!(key, Records | KeyFormat | Compressibility | Spelling),
            WorkloadKey::Run(key) => key == RunKey::Batch,
            WorkloadKey::Roles => false,
        }
    }

    fn check(&self, spec: &WorkloadParameters) -> Result<(), WorkloadError> {
        let starts = spec.data.records;
        let expected = format!("from 1 to {MOST_STARTS} starting points for {}", PROFILE.name);
        WorkloadError::unless((1..=MOST_STARTS).contains(&starts), DataKey::Records, starts, expected)
    }

    fn lacks(&self, _spec: &WorkloadParameters, capabilities: u64) -> Option<String> {
        let forgets = can(capabilities, abi::IS_VOLATILE);
        forgets.then(|| "keeps nothing, so that `3n1` would never find what it has put; leave it out".to_owned())
    }

    fn figures(&self, counts: &TrialCounts<'_>) -> Option<WorkloadFigures> {
        let (answers, data) = (CycleAnswers::of(counts), &counts.parameters.data);
        let count = |column, value, meaning| NamedFigure::new(column, FigureValue::Count(value), meaning);
        let rate = FigureValue::Rate(counts.operations.iter().map(|operations| operations.records_per_s).sum());
        let spelling = FigureValue::Text(data.spelling.to_string());
        Some(WorkloadFigures {
            heading: "3n+1".to_owned(),
            note: "Every answer was held against the same problem solved without a database.".to_owned(),
            figures: vec![
                count("n", data.records, "The starting points were 1 to this.").titled("N"),
                NamedFigure::new("spelling", spelling, "How numbers were spelled."),
                count("longest_cycle", answers.longest, "The longest cycle, both ends counted.").titled("longest"),
                count("longest_start", answers.longest_start, "The first starting point that has it."),
                count("highest", answers.highest, "The highest number on any way.").titled("highest"),
                count("puts", answers.puts, "Cycle lengths put.").titled("puts"),
                count("gets", answers.gets, "Cycle lengths asked for.").titled("gets"),
                count("ops", answers.puts + answers.gets, "Puts and gets."),
                NamedFigure::new("ops_per_s", rate, "Puts and gets a second, of all clients.").titled("ops/s"),
                count("known", answers.known, "Starting points whose length was in the database already."),
            ],
        })
    }

    fn notes(&self, counts: &TrialCounts<'_>) -> Vec<String> {
        CycleAnswers::of(counts).note().into_iter().collect()
    }
}

/// A killed load looks up the numbers that are in the database.
impl LoadDefinition for CycleLengths {
    fn default_sizes(&self, format: KeyFormat, spelling: Spelling) -> (u64, u64) {
        let numbers = NumberCodec::new(spelling, format);
        (numbers.key_size(), numbers.value_size())
    }

    fn default_batch(&self) -> u64 {
        1
    }

    fn least_cache(&self) -> Option<u64> {
        Some(LEAST_CACHE)
    }

    fn leaves_records(&self) -> bool {
        false
    }

    fn key_spelling(&self, data: &Data) -> String {
        match data.spelling {
            Spelling::Plain => data.key_format.to_string(),
            enhanced => enhanced.to_string(),
        }
    }

    /// The highest number of all the oracle knows.
    fn most_counted(&self, data: &Data, ticks: u64) -> [u64; COUNTERS] {
        let mut most = [ticks; COUNTERS];
        // The known part of a way and the unknown part have each at most the longest length.
        let longest = 2 * LONGEST_CYCLE;
        for (counter, count) in [
            (computation::LONGEST, longest),
            (computation::LONGEST_START, data.records),
            (computation::HIGHEST, u64::MAX),
            (computation::TOTAL, data.records.saturating_mul(longest)),
            (computation::STARTS, data.records),
            (computation::KNOWN, data.records),
        ] {
            most[counter.0] = count;
        }
        most
    }

    /// Starting points lead to other numbers.
    fn records_stored(&self, data: &Data) -> u64 {
        numbers_expected(data.records)
    }

    fn stored_bytes(&self, data: &Data) -> u64 {
        let each = match data.spelling {
            Spelling::Plain => data.key_size + data.value_size,
            Spelling::Enhanced => ENHANCED_BYTES,
        };
        numbers_expected(data.records).saturating_mul(each)
    }

    fn load_seconds(&self, data: &Data, batch: u64, durability: Durability) -> Option<f64> {
        let puts = numbers_expected(data.records) as f64;
        let syncing = match durability {
            Durability::Commit => puts / SYNCS_PER_S / batch.min(2) as f64,
            _ => 0.0,
        };
        Some((2.0 * puts + data.records as f64) / OPERATIONS_PER_S + syncing)
    }

    fn stored(&self, data: &Data) -> Result<Box<dyn StoredRecords>, KeyError> {
        Ok(Box::new(CycleRecords::new(data)))
    }

    fn wrong(&self, counts: &TrialCounts<'_>) -> Option<String> {
        CycleAnswers::of(counts).wrong()
    }
}
