//! The answers of a 3n+1 trial, held against the same problem solved without a database.

use kvdyno_results::{Cycles, Failure, FailureKind, Operations, Outcome};
use kvdyno_worker::CyclesFound;
use kvdyno_dataset::Workload;
use kvdyno_dataset::cycles::{Solution, solve};

use super::Ask;

/// What a trial found.
pub(super) struct Found {
    pub(super) facts: Cycles,
    /// The cycle lengths of all starting points together, and how many those were.
    total: u64,
    starts: u64,
    clients: u32,
    /// It went on in the database of a worker that was killed.
    resumed: bool,
}

impl Found {
    pub(super) fn new(ask: &Ask<'_>, found: CyclesFound, operations: &[Operations]) -> Found {
        let workload: &Workload = &ask.planned.workload;
        let records = |writes| operations.iter().filter(|kind| kind.writes() == writes).map(|kind| kind.records).sum();
        let facts = Cycles {
            starts: workload.data.records,
            spelling: workload.data.spelling.to_string(),
            longest: found.longest,
            longest_start: found.longest_start,
            highest: found.highest,
            puts: records(true),
            gets: records(false),
            operations_per_s: operations.iter().map(|kind| kind.records_per_s).sum(),
            known: found.known,
        };
        let (total, starts) = (found.total, found.starts);
        Found { facts, total, starts, clients: workload.writers, resumed: !ask.create }
    }

    /// What a reader of the figures should know.
    pub(super) fn note(&self) -> Option<String> {
        self.resumed.then(|| {
            format!(
                "the computation went on in the database of a worker that was killed: its results were reused, so that \
                 {} of {} lengths were known beforehand or met on the way, and puts and gets are those of the rest",
                self.facts.known, self.starts
            )
        })
    }

    /// Finished, if every answer is right.
    pub(super) fn outcome(&self) -> Outcome {
        match self.mismatch(&solve(self.facts.starts)) {
            None => Outcome::Finished,
            Some(reason) => Outcome::Failed(Failure { kind: FailureKind::WrongAnswer, reason }),
        }
    }

    fn mismatch(&self, solution: &Solution) -> Option<String> {
        let facts = &self.facts;
        let answers = [
            ("starting points", self.starts, facts.starts),
            ("the longest cycle", facts.longest, solution.longest),
            ("the first number that has it", facts.longest_start, solution.longest_start),
            ("the highest number", facts.highest, solution.highest),
            ("the sum of all cycle lengths", self.total, solution.total),
        ];
        let wrong = answers.into_iter().find(|(_, found, right)| found != right);
        wrong
            .map(|(what, found, right)| format!("3n+1: {what}: {found} came out, and {right} is right"))
            .or_else(|| self.wrong_counts(solution))
    }

    /// Each number is put once, and each starting point ends with one get that finds something: but for 1, which is not
    /// requested for, and 2, whose way ends there. Threads beside each other may put a number twice, and a second one may come
    /// to 1 before the way of 2 is put.
    fn wrong_counts(&self, solution: &Solution) -> Option<String> {
        let Cycles { starts, puts, gets, .. } = self.facts;
        let numbers = solution.numbers?;
        let (ways, alone) = (starts.saturating_sub(2), self.clients == 1);
        let fits = match (self.resumed, alone) {
            (true, _) => puts <= numbers || !alone,
            (false, true) => puts == numbers && gets == numbers + ways,
            (false, false) => puts >= numbers && gets <= puts + ways,
        };
        (!fits).then(|| {
            format!(
                "3n+1: {puts} puts and {gets} gets; one thread needs {numbers} and {}: what was put was not found again",
                numbers + ways
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> Found {
        let facts = Cycles {
            starts: 100_000,
            spelling: "plain".to_owned(),
            longest: 351,
            longest_start: 77_031,
            highest: 1_570_824_736,
            puts: 217_211,
            gets: 317_209,
            operations_per_s: 1.0,
            known: 50_000,
        };
        Found { facts, total: solve(100_000).total, starts: 100_000, clients: 1, resumed: false }
    }

    fn reason(change: impl FnOnce(&mut Found)) -> Option<String> {
        let mut found = found();
        change(&mut found);
        match found.outcome() {
            Outcome::Finished => None,
            Outcome::Failed(failure) => Some(failure.reason),
        }
    }

    #[test]
    fn the_right_answers_are_accepted_and_no_others() {
        assert_eq!(reason(|_| ()), None);
        for (change, words) in [
            ((|found| found.facts.longest += 1) as fn(&mut Found), "the longest cycle: 352 came out, and 351 is right"),
            (|found| found.facts.longest_start -= 1, "77030"),
            (|found| found.facts.highest -= 1, "1570824735 came out"),
            (|found| found.total += 1, "the sum of all cycle lengths"),
            (|found| found.starts -= 1, "starting points: 99999"),
            (|found| found.facts.puts += 1, "217212 puts"),
            (|found| found.facts.gets -= 1, "317208 gets"),
        ] {
            let reason = reason(change).unwrap_or_default();
            assert!(reason.contains(words), "{reason:?} has no {words:?}");
        }
    }

    #[test]
    fn several_threads_may_put_twice_but_not_too_little() {
        let with_two = |puts: u64, gets: u64| {
            reason(|found| (found.clients, found.facts.puts, found.facts.gets) = (2, puts, gets))
        };
        assert_eq!(with_two(217_300, 317_298), None);
        assert!(with_two(217_210, 317_208).is_some());
        assert!(with_two(217_300, 317_299).is_some());
    }

    #[test]
    fn what_goes_on_puts_less_and_says_so() {
        let goes_on = |found: &mut Found| (found.resumed, found.facts.puts, found.facts.gets) = (true, 1000, 101_000);
        assert_eq!(reason(goes_on), None);
        let mut found = found();
        assert_eq!(found.note(), None);
        goes_on(&mut found);
        assert!(found.note().is_some_and(|note| note.contains("went on in the database of a worker that was killed")));
    }
}
