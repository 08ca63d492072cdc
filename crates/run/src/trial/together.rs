//! Trials that run together: all open at once, each in slices, which this orders.

use std::iter;
use std::ops::Range;
use std::time::{Duration, Instant};

use kvdyno_model::Design;
use kvdyno_plan::design::{ALONE_OF_A_DUET, Slicing, StepDesign, slice_order};
use kvdyno_results::{AgainstCpuTime, CpuAccount};
use kvdyno_worker::ClientTimes;
use kvdyno_worker::slices::{Slice, SliceMoment};

use super::watching::{SLICE_TICK, TICK, Watching};
use crate::progress::Live;

/// The least time for which each trial's clients are watched before a duet is chosen. In half of it a single sleep of a
/// millisecond is more than clients may sleep: a repeat without a duet leaves the whole comparison without CPU time.
const FIRST_LOOK: Duration = Duration::from_millis(100);
/// The most looks before a duet is given up. The clients of a database that was just opened may sleep for some
/// milliseconds once, which is more than they may in one look.
const LOOKS: u32 = 3;

/// The order of slices for the trials of one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct SliceOrder {
    pub(super) warmup: Duration,
    pub(super) slicing: Slicing,
    pub(super) seed: u64,
}

/// The counters of a trial's warm-up so far.
#[derive(Clone, Copy, Default)]
struct WarmUpReading {
    clients: ClientTimes,
    /// Absent where no group counts it.
    cpu: Option<CpuAccount>,
}

impl WarmUpReading {
    fn of(watching: &Watching<'_>) -> WarmUpReading {
        let cpu = watching.standing.as_ref().and_then(|standing| standing.cpu.as_ref()).map(|cpu| cpu.warmup);
        WarmUpReading { clients: watching.observer.lead_times(), cpu }
    }
}

/// The conduct of a trial in a part of its warm-up.
struct WarmUp<'a> {
    engine: &'a str,
    /// Whether a group that can be frozen counts its CPU time.
    is_counted: bool,
    /// The share of the time that its clients slept, of 1.
    slept: Option<f64>,
    /// The share of background work in its CPU time, of 1; absent if it ended in its warm-up.
    background: Option<f64>,
}

impl<'a> WarmUp<'a> {
    /// Since a reading.
    fn since(before: WarmUpReading, watching: &'a Watching<'_>) -> WarmUp<'a> {
        let now = WarmUpReading::of(watching);
        WarmUp {
            engine: &watching.context.planned.key.engine,
            is_counted: now.cpu.is_some(),
            slept: now.clients.since(before.clients).slept(),
            background: now.cpu.and_then(|cpu| cpu.since(before.cpu.unwrap_or_default()).background_share()),
        }
    }
}

/// A round, which each trial has a slice in: all at once in a duet, else one after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SliceRound {
    /// Its number among those of its kind.
    number: u32,
    slice: Slice,
}

/// The rounds of a design. A duet comes before its slices. Where clients write, duets come after all slices: they
/// change the database, and by how much depends on the CPU time of an operation, so that the throughput of slices
/// after them would be that of other work.
fn rounds(slicing: Slicing, design: Design, write: bool) -> Vec<SliceRound> {
    let Slicing { lead, length, count } = slicing;
    let alone = |of: Slicing, numbers: Range<u32>| {
        let slice = Slice { lead: of.lead, length: of.length, is_duet: false, per_s: None };
        numbers.map(move |number| SliceRound { number, slice })
    };
    // Each has half of the processors' time, so that it works as long as it does alone.
    let slice = Slice { lead, length: length * 2, is_duet: true, per_s: None };
    let duets = (0..count).map(|number| SliceRound { number, slice });
    let beside = slicing.beside_duets();
    let of_duet = |number: u32| alone(beside, number * ALONE_OF_A_DUET..(number + 1) * ALONE_OF_A_DUET);
    match (design, write) {
        (Design::Duet, true) => alone(beside, 0..beside.count).chain(duets).collect(),
        (Design::Duet, false) => duets.flat_map(|duet| iter::once(duet).chain(of_duet(duet.number))).collect(),
        _ => alone(slicing, 0..count).collect(),
    }
}

/// Tells each of the trials which processes those beside it have.
pub(super) fn introduce(watchings: &mut [Watching<'_>]) {
    let pids: Vec<Vec<u32>> = watchings.iter().map(Watching::pids).collect();
    for (number, one) in watchings.iter_mut().enumerate() {
        let others = pids.iter().enumerate().filter(|(other, _)| *other != number);
        one.is_beside(others.flat_map(|(_, pids)| pids.clone()).collect());
    }
}

/// Looks at trials until all have ended. Every one is looked at, whether another still lives or not.
pub(super) fn until_all_end(watchings: &mut [Watching<'_>], live: &mut dyn FnMut(&Live)) {
    let each = TICK / watchings.len().max(1) as u32;
    let mut living = || watchings.iter_mut().map(|one| one.step(each, live)).filter(|ended| !ended).count();
    while living() > 0 {}
}

/// Conducts trials that stand still before their first slice.
pub(super) struct Conductor<'b, 'a, 'l> {
    watchings: &'b mut [Watching<'a>],
    live: &'l mut dyn FnMut(&Live),
    looked: Instant,
}

impl<'b, 'a, 'l> Conductor<'b, 'a, 'l> {
    pub(super) fn new(watchings: &'b mut [Watching<'a>], live: &'l mut dyn FnMut(&Live)) -> Self {
        introduce(watchings);
        Conductor { watchings, live, looked: Instant::now() }
    }

    /// Makes them work, and ends them. Returns the design that was used, and why.
    pub(super) fn run(mut self, step: &StepDesign, order: SliceOrder) -> (Design, String) {
        self.until_ready();
        let lead = order.warmup.max(if step.design == Design::Auto { FIRST_LOOK } else { Duration::ZERO });
        // Before their first slice clients make what they need. In an empty one all come to its end, and from then on
        // the CPU time of everything is that of slices.
        self.warm_up(Duration::ZERO);
        let (design, why) = self.warmed_up(step, lead);
        let rounds = rounds(order.slicing, design, self.watchings.iter().any(Watching::writes));
        for (nth, SliceRound { number, slice }) in rounds.iter().copied().enumerate() {
            let done = nth as f64 / rounds.len() as f64;
            self.watchings.iter_mut().for_each(|one| one.set_slices_done(done));
            let trials = slice_order(order.seed, number, self.watchings.len());
            match slice.is_duet {
                true => self.slice(&trials, slice),
                false => trials.iter().for_each(|one| self.slice(&[*one], slice)),
            }
        }
        self.watchings.iter_mut().for_each(Watching::end_slices);
        until_all_end(self.watchings, self.live);
        (design, why)
    }

    /// Waits until all have opened their databases and sessions, or will not.
    fn until_ready(&mut self) {
        while !self.watchings.iter().all(|one| one.is_ready() || one.is_leaving()) {
            for one in &mut *self.watchings {
                one.step(SLICE_TICK, self.live);
            }
        }
        self.watchings.iter_mut().filter(|one| !one.is_leaving()).for_each(Watching::row);
    }

    /// Lets each of them work for a while that counts nothing.
    fn warm_up(&mut self, lead: Duration) {
        for one in 0..self.watchings.len() {
            self.slice(&[one], Slice { lead, length: Duration::ZERO, is_duet: false, per_s: None });
        }
    }

    /// Lets them have their warm-up. Returns the step's design: for `auto` a duet if by one of the looks CPU time can
    /// compare the setups, else slices.
    fn warmed_up(&mut self, step: &StepDesign, lead: Duration) -> (Design, String) {
        let mut chosen = self.look_at_warm_up(lead);
        if step.design != Design::Auto {
            return (step.design, step.why.clone());
        }
        for _ in 1..LOOKS {
            if chosen.0 == Design::Duet {
                break;
            }
            chosen = self.look_at_warm_up(FIRST_LOOK);
        }
        chosen
    }

    /// Lets each of them work for a while that counts nothing. Returns a duet if by this while CPU time can compare the
    /// setups, else slices.
    fn look_at_warm_up(&mut self, lead: Duration) -> (Design, String) {
        let before: Vec<WarmUpReading> = self.watchings.iter().map(WarmUpReading::of).collect();
        self.warm_up(lead);
        let both = before.into_iter().zip(&*self.watchings);
        let warmups: Vec<WarmUp<'_>> = both.map(|(before, one)| WarmUp::since(before, one)).collect();
        let slices = |why: String| (Design::Slices, format!("no duet: {why}"));
        if warmups.iter().any(|warmup| !warmup.is_counted) {
            return slices(format!("of CPU time, {}", AgainstCpuTime::NotCounted));
        }
        if let Some(ended) = warmups.iter().find(|warmup| warmup.background.is_none()) {
            return slices(format!("{} failed in its warm-up", ended.engine));
        }
        for (number, own) in warmups.iter().enumerate() {
            let beside = warmups.iter().enumerate().find(|(other, _)| *other != number).map(|(_, other)| other);
            let background_beside = beside.and_then(|other| other.background);
            if let Some(why) = AgainstCpuTime::of(own.slept, own.background, background_beside) {
                return slices(format!("of the CPU time of {}, in its warm-up: {why}", own.engine));
            }
        }
        let most = |share: fn(&WarmUp<'_>) -> Option<f64>| 100.0 * warmups.iter().filter_map(share).fold(0.0, f64::max);
        let (slept, background) = (most(|warmup| warmup.slept), most(|warmup| warmup.background));
        let why = format!(
            "in the warm-up clients slept at most {slept:.1} % of the time, and background work was at most \
             {background:.1} % of the CPU time"
        );
        (Design::Duet, why)
    }

    /// Lets some of them work for a slice, and waits for its end.
    fn slice(&mut self, who: &[usize], slice: Slice) {
        let who: Vec<usize> = who.iter().copied().filter(|one| !self.watchings[*one].is_leaving()).collect();
        // To thaw one takes a while: the moment is one at which all can begin.
        who.iter().for_each(|one| self.watchings[*one].prepare_slice());
        let moment = SliceMoment::now();
        who.iter().for_each(|one| self.watchings[*one].begin_slice(slice, moment));
        for one in &who {
            while !self.watchings[*one].is_slice_over(SLICE_TICK) {
                self.look(*one);
            }
        }
        for one in &who {
            self.watchings[*one].end_slice(slice);
            self.watchings[*one].freeze(true);
        }
        // All were ordered to freeze first: none works on alone while another is waited for.
        who.iter().for_each(|one| self.watchings[*one].until_frozen(slice));
        if !slice.length.is_zero() {
            who.iter().for_each(|one| self.watchings[*one].note_dirty());
        }
        self.look(who.first().copied().unwrap_or(0));
    }

    /// Looks at all of them from time to time; reports the one at work.
    fn look(&mut self, at_work: usize) {
        if self.looked.elapsed() < TICK {
            return;
        }
        self.looked = Instant::now();
        for (number, one) in self.watchings.iter_mut().enumerate() {
            match number == at_work {
                true => one.step(Duration::ZERO, self.live),
                false => one.step(Duration::ZERO, &mut |_| {}),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rounds of two slices of 50 ms each: their number, counted milliseconds, and whether they are duets.
    fn rounds_of_two(design: Design, write: bool) -> Vec<(u32, u128, bool)> {
        let slicing = Slicing::of(Duration::from_millis(100));
        let told = |round: SliceRound| (round.number, round.slice.length.as_millis(), round.slice.is_duet);
        rounds(slicing, design, write).into_iter().map(told).collect()
    }

    #[test]
    fn each_duet_is_followed_by_short_slices_of_as_much_time_for_each() {
        assert_eq!(rounds_of_two(Design::Slices, true), [(0, 50, false), (1, 50, false)]);
        let of_duet =
            |number: u32| [(number, 100, true)].into_iter().chain((0..5).map(move |nth| (5 * number + nth, 10, false)));
        assert_eq!(rounds_of_two(Design::Duet, false), of_duet(0).chain(of_duet(1)).collect::<Vec<_>>());
    }

    #[test]
    fn duets_that_write_come_after_all_slices() {
        let all = rounds_of_two(Design::Duet, true);
        assert_eq!(all.len(), 12);
        assert!(all[..10].iter().all(|(_, ms, is_duet)| (*ms, *is_duet) == (10, false)), "{all:?}");
        assert_eq!(all[10..], [(0, 100, true), (1, 100, true)]);
    }
}
