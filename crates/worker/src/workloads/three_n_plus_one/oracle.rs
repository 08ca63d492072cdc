//! The answers of a trial, compared with the same problem solved without a database.

use kvdyno_results::OpKind;

use super::computation::{HIGHEST, KNOWN, LONGEST, LONGEST_START, STARTS, TOTAL};
use super::problem::{Solution, solve};
use crate::workloads::counts::TrialCounts;

/// The answers of all clients together.
#[derive(Clone, Debug)]
pub(super) struct CycleAnswers {
    /// The longest cycle, and the first starting point that has it.
    pub(super) longest: u64,
    pub(super) longest_start: u64,
    /// The highest number on any way.
    pub(super) highest: u64,
    /// Cycle lengths put, and asked for.
    pub(super) puts: u64,
    pub(super) gets: u64,
    /// Starting points whose length was known before their turn.
    pub(super) known: u64,
    /// The cycle lengths of all starting points together, and how many those were.
    total: u64,
    starts: u64,
    /// Number of starting points that are expected.
    expected_starts: u64,
    clients: u32,
    /// It went on in the database of a worker that was killed.
    resumed: bool,
}

impl CycleAnswers {
    pub(super) fn of(counts: &TrialCounts<'_>) -> CycleAnswers {
        let longest = counts.highest(LONGEST);
        // Clients that found one as long: the first start counts, as it would with one client.
        let has_it = counts.counters.iter().filter(|client| LONGEST.of(client) == longest);
        CycleAnswers {
            longest,
            longest_start: has_it.map(|client| LONGEST_START.of(client)).min().unwrap_or(0),
            highest: counts.highest(HIGHEST),
            puts: counts.records(OpKind::writes),
            gets: counts.records(|kind| !kind.writes()),
            known: counts.sum(KNOWN),
            total: counts.sum(TOTAL),
            starts: counts.sum(STARTS),
            expected_starts: counts.parameters.data.records,
            clients: counts.parameters.writers,
            resumed: counts.resumed,
        }
    }

    /// The note for a reader of the figures.
    pub(super) fn note(&self) -> Option<String> {
        self.resumed.then(|| {
            format!(
                "the computation went on in the database of a worker that was killed: its results were reused, so that \
                 {} of {} lengths were known beforehand or met on the way, and puts and gets are those of the rest",
                self.known, self.starts
            )
        })
    }

    /// The answer that is not right.
    pub(super) fn wrong(&self) -> Option<String> {
        self.mismatch(&solve(self.expected_starts))
    }

    fn mismatch(&self, solution: &Solution) -> Option<String> {
        let answers = [
            ("starting points", self.starts, self.expected_starts),
            ("the longest cycle", self.longest, solution.longest),
            ("the first number that has it", self.longest_start, solution.longest_start),
            ("the highest number", self.highest, solution.highest),
            ("the sum of all cycle lengths", self.total, solution.total),
        ];
        let wrong = answers.into_iter().find(|(_, answer, right)| answer != right);
        wrong
            .map(|(what, answer, right)| format!("3n+1: {what}: {answer} came out, and {right} is right"))
            .or_else(|| self.wrong_counts(solution))
    }

    /// Each number is put once, and each starting point ends with one get that finds something: but for 1, which is not
    /// asked for, and 2, whose way ends there. Clients beside each other may put a number twice, and a second one may
    /// come to 1 before the way of 2 is put.
    fn wrong_counts(&self, solution: &Solution) -> Option<String> {
        let CycleAnswers { puts, gets, .. } = *self;
        let numbers = solution.numbers?;
        let (ways, alone) = (self.expected_starts.saturating_sub(2), self.clients == 1);
        let fits = match (self.resumed, alone) {
            (true, _) => puts <= numbers || !alone,
            (false, true) => puts == numbers && gets == numbers + ways,
            (false, false) => puts >= numbers && gets <= puts + ways,
        };
        (!fits).then(|| {
            format!(
                "3n+1: {puts} puts and {gets} gets; one client needs {numbers} and {}: what was put was not found \
                 again",
                numbers + ways
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers() -> CycleAnswers {
        CycleAnswers {
            longest: 351,
            longest_start: 77_031,
            highest: 1_570_824_736,
            puts: 217_211,
            gets: 317_209,
            known: 50_000,
            total: solve(100_000).total,
            starts: 100_000,
            expected_starts: 100_000,
            clients: 1,
            resumed: false,
        }
    }

    fn reason(change: impl FnOnce(&mut CycleAnswers)) -> Option<String> {
        let mut answers = answers();
        change(&mut answers);
        answers.wrong()
    }

    #[test]
    fn the_right_answers_are_accepted_and_no_others() {
        assert_eq!(reason(|_| ()), None);
        for (change, words) in [
            (
                (|answers| answers.longest += 1) as fn(&mut CycleAnswers),
                "the longest cycle: 352 came out, and 351 is right",
            ),
            (|answers| answers.longest_start -= 1, "77030"),
            (|answers| answers.highest -= 1, "1570824735 came out"),
            (|answers| answers.total += 1, "the sum of all cycle lengths"),
            (|answers| answers.starts -= 1, "starting points: 99999"),
            (|answers| answers.puts += 1, "217212 puts"),
            (|answers| answers.gets -= 1, "317208 gets"),
        ] {
            let reason = reason(change).unwrap_or_default();
            assert!(reason.contains(words), "{reason:?} has no {words:?}");
        }
    }

    #[test]
    fn several_clients_may_put_twice_but_not_too_little() {
        let with_two =
            |puts: u64, gets: u64| reason(|answers| (answers.clients, answers.puts, answers.gets) = (2, puts, gets));
        assert_eq!(with_two(217_300, 317_298), None);
        assert!(with_two(217_210, 317_208).is_some());
        assert!(with_two(217_300, 317_299).is_some());
    }

    #[test]
    fn what_goes_on_puts_less_and_says_so() {
        let goes_on =
            |answers: &mut CycleAnswers| (answers.resumed, answers.puts, answers.gets) = (true, 1000, 101_000);
        assert_eq!(reason(goes_on), None);
        let mut answers = answers();
        assert_eq!(answers.note(), None);
        goes_on(&mut answers);
        assert!(
            answers.note().is_some_and(|note| note.contains("went on in the database of a worker that was killed"))
        );
    }
}
