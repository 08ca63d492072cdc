//! Working a plan off without processes: a script says how trials and audits come out.

mod audits;
mod databases;
mod failures;
mod order;
mod resuming;
mod script;
mod testbed;

use script::Act;
use testbed::TestRun;
