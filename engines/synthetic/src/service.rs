//! How long an operation is served: by the options, and by nothing that anybody else does.

use kvdyno_abi::adapter::{Config, Error, Opt};

/// The longest service of an operation.
const LONGEST_NS: i64 = 10_000_000;

/// The engine's options.
pub const OPTIONS: &[Opt] = &[
    Opt::integer(c"get_ns", c"1000", 0, LONGEST_NS, c"nanoseconds that a get is served, on average"),
    Opt::integer(c"put_ns", c"1000", 0, LONGEST_NS, c"nanoseconds that a put is served, and each of a batch"),
    Opt::choice(
        c"distribution",
        c"fixed",
        c"fixed|exponential|two-point",
        c"of the service times; two-point: nine in ten take half of the average, one 5.5 times as long",
    ),
    Opt::integer(c"stall_every", c"0", 0, i64::MAX, c"each so-manieth operation of a session stalls; 0: none"),
    Opt::integer(c"stall_every_ms", c"0", 0, 86_400_000, c"a session stalls after each so many milliseconds; 0: never"),
    Opt::integer(c"stall_ns", c"1000000", 0, 1_000_000_000, c"nanoseconds that a stall adds"),
    Opt::real(c"drift", c"0", c"per cent that service times grow by each second, of what they were at first"),
    Opt::real(c"slow_down", c"0", c"per cent by which all service times are longer"),
    Opt::choice(
        c"cause",
        c"burn",
        c"burn|sleep|lock|fsync|read",
        c"where the time goes: the CPU, a sleep, the CPU under a lock that all sessions share, a file's fsync, a read \
          past the page cache; the last two take what they take, and at least the service time",
    ),
    Opt::real(
        c"read_amplification",
        c"0",
        c"bytes read from a file, past the page cache, for each byte of the records that gets ask for",
    ),
    Opt::real(c"write_amplification", c"0", c"bytes written to that file for each byte that puts write"),
    Opt::real(
        c"space_amplification",
        c"0",
        c"bytes that the database takes once it is loaded, for each byte that was put",
    ),
    Opt::real(c"background_share", c"0", c"per cent of the time that a thread of the engine's own is busy"),
    Opt::real(c"child_share", c"0", c"per cent of the time that a process which it forks is busy"),
];

/// Where the time goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The processor works.
    Burn,
    /// The thread sleeps.
    Sleep,
    /// The processor works while the session has the lock.
    Lock,
    /// A file is written and synced.
    Fsync,
    /// A file is read from the storage.
    Read,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spread {
    Fixed,
    Exponential,
    TwoPoint,
}

/// The options, understood.
#[derive(Clone, Copy, Debug)]
pub struct ServicePlan {
    pub get_ns: f64,
    pub put_ns: f64,
    shape: Spread,
    stall_every: u64,
    stall_every_ns: f64,
    stall_ns: f64,
    /// The part that service times grow by in a second.
    drift: f64,
    pub cause: Cause,
}

impl ServicePlan {
    /// The plan that `config` has.
    pub fn of(config: &Config<'_>) -> Result<ServicePlan, Error> {
        let number = |name| config.integer(name) as f64;
        let percent = |name| match config.real(name) {
            percent if (0.0..=1000.0).contains(&percent) => Ok(percent / 100.0),
            percent => Err(Error::unsupported(format_args!("{name} is {percent}; it is 0 to 1000 per cent"))),
        };
        let (slow_down, drift) = (percent("slow_down")?, percent("drift")?);
        Ok(ServicePlan {
            get_ns: number("get_ns") * (1.0 + slow_down),
            put_ns: number("put_ns") * (1.0 + slow_down),
            shape: match config.text("distribution") {
                "exponential" => Spread::Exponential,
                "two-point" => Spread::TwoPoint,
                _ => Spread::Fixed,
            },
            stall_every: config.integer("stall_every").unsigned_abs(),
            stall_every_ns: 1e6 * number("stall_every_ms"),
            stall_ns: number("stall_ns"),
            drift,
            cause: match config.text("cause") {
                "sleep" => Cause::Sleep,
                "lock" => Cause::Lock,
                "fsync" => Cause::Fsync,
                "read" => Cause::Read,
                _ => Cause::Burn,
            },
        })
    }
}

/// The service times of one session, one after the other.
#[derive(Debug)]
pub struct ServiceTimes {
    plan: ServicePlan,
    ticks_per_ns: f64,
    state: u64,
    /// Operations until the next stall by number; 0: none comes.
    left: u64,
    /// When the session began, and when it stalls next, ticks.
    begin: u64,
    next_stall: f64,
}

impl ServiceTimes {
    /// The service times of session `number`, which begins at `now`.
    pub fn new(plan: ServicePlan, ticks_per_ns: f64, number: u64, now: u64) -> ServiceTimes {
        let next_stall = match plan.stall_every_ns {
            0.0 => f64::INFINITY,
            every => now as f64 + every * ticks_per_ns,
        };
        ServiceTimes { plan, ticks_per_ns, state: number, left: plan.stall_every, begin: now, next_stall }
    }

    /// Ticks that the operation is served which begins `now` and takes `mean_ns` on average.
    #[inline(always)]
    pub fn next(&mut self, now: u64, mean_ns: f64) -> u64 {
        let mut ns = match self.plan.shape {
            Spread::Fixed => mean_ns,
            Spread::Exponential => -mean_ns * self.uniform().ln(),
            Spread::TwoPoint => mean_ns * if self.uniform() < 0.1 { 5.5 } else { 0.5 },
        };
        if self.plan.drift > 0.0 {
            ns *= 1.0 + self.plan.drift * (now - self.begin) as f64 / self.ticks_per_ns / 1e9;
        }
        if self.left > 0 || self.next_stall < f64::INFINITY {
            ns += self.stall(now);
        }
        (ns * self.ticks_per_ns) as u64
    }

    /// Nanoseconds that this operation stalls.
    fn stall(&mut self, now: u64) -> f64 {
        let mut stalls = false;
        if self.left > 0 {
            self.left -= 1;
            if self.left == 0 {
                (self.left, stalls) = (self.plan.stall_every, true);
            }
        }
        if now as f64 >= self.next_stall {
            self.next_stall = now as f64 + self.plan.stall_every_ns * self.ticks_per_ns;
            stalls = true;
        }
        if stalls { self.plan.stall_ns } else { 0.0 }
    }

    /// Above 0, at most 1 (SplitMix64).
    #[inline(always)]
    fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((word ^ (word >> 31)) >> 11) + 1) as f64 / (1u64 << 53) as f64
    }
}
