//! The options of a database.

use kvdyno_abi::adapter::Opt;

use crate::fault::Fault;
use crate::{hidden, hostile};

/// All of them, in the order in which the host gives their values. Numbers are within what a frame keeps in 32 bits.
pub const OPTIONS: &[Opt] = &[
    Opt::choice(c"fault", c"none", Fault::CHOICES, c"what goes wrong"),
    Opt::integer(c"every", c"1000", 1, i64::MAX, c"each so-manieth operation that the fault can hit is hit"),
    Opt::integer(c"after", c"0", 0, i64::MAX, c"operations that are left alone before the count begins"),
    Opt::size(c"fill_limit", c"1GiB", 0, i64::MAX, c"fill-disk gives up when it has written this much"),
    Opt::choice(c"hook", c"none", hostile::HOOKS, c"the call in which the engine does something to its process"),
    Opt::choice(c"does", c"crash", hostile::DEEDS, c"what it does there, once, after so many calls as `after`"),
    Opt::bool(c"outside", false, c"keep something in shared memory, which only its destroy gives back"),
    Opt::choice(c"hides", c"nowhere", hidden::LOCATIONS, c"where it keeps fill_limit bytes outside its folder"),
    Opt::integer(
        c"writes_first",
        c"0",
        0,
        i64::MAX,
        c"reads beside other sessions of the process wait until so many writes have begun",
    ),
    Opt::bool(c"linger", false, c"transactions wait a moment at each step, so that others meet them"),
    Opt::integer(c"delay", c"5000", 1, i64::MAX, c"puts, or keys, after which late writes are done"),
    Opt::text(c"words", c"", c"settings in its own words, of which it knows `quietly` alone, such as quietly=1"),
    // The last three: see `single::effective_capabilities`.
    Opt::bool(c"transactions", false, c"declare transactions and snapshots"),
    Opt::bool(
        c"concurrent",
        false,
        c"declare read-modify-write, and that writers work side by side, though they share a lock",
    ),
    Opt::bool(c"single", false, c"know no threads: one session a process, called from the thread that opened it"),
];
