//! Input that is too much for anybody is refused with a number and its reason, in little memory, before anything is
//! touched.

use std::fmt::Write;
use std::process::Command;

use crate::support::{Lab, Ran, RunningKvdyno};

/// KiB of address space: whatever grows with the input beyond it ends the program, with another exit code.
const MEMORY_KIB: u32 = 512 << 10;

/// An experiment file, run in so little memory.
#[track_caller]
fn refused(text: &str) -> Ran {
    let lab = Lab::new();
    lab.write("experiment.toml", text);
    refused_file(lab, "experiment.toml")
}

#[track_caller]
fn refused_file(lab: Lab, file: &str) -> Ran {
    let kvdyno = lab.kvdyno();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -v {MEMORY_KIB} && exec \"$0\" \"$@\"")]).arg(kvdyno.get_program());
    command.args(["run", "--dry-run", file]).current_dir(lab.path(""));
    command.envs(kvdyno.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let before = lab.tree();
    let ran = RunningKvdyno::start(lab, command).ends();
    ran.exits(2);
    assert_eq!(ran.lab.tree(), before);
    assert!(ran.stderr.len() < 4096, "{} bytes are no message", ran.stderr.len());
    ran
}

/// `each` for 0, 1, 2, …
fn sections(count: usize, each: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::from("engines = [\"faulty\"]\n"), |mut text, number| {
        write!(text, "{}", each(number)).unwrap();
        text
    })
}

#[test]
fn trials_have_a_bound() {
    let readers = vec!["1"; 500_000].join(",");
    refused(&format!("engines = [\"faulty\"]\n[lab]\nrepeat = 10000\n[[run]]\nreaders = [{readers}]\n"))
        .says("the experiment has 5000010000 trials; the limit is 100000, more than a day");
}

#[test]
fn variants_have_a_bound() {
    refused(&sections(3000, |number| format!("[[variant]]\nname = \"{number}\"\ndata.value_size = {number}\n")))
        .says("3000 variants are too many; there can be 500");
}

#[test]
fn sections_have_a_bound() {
    refused(&sections(20_000, |number| format!("[engine.e{number}]\nengine = \"faulty\"\n")))
        .says("20000 sections [engine.NAME] are too many; there can be 1000");
    refused(&sections(100_000, |_| "[[run]]\n".to_owned())).says("100000 sections [[run]] are too many");
}

/// Engines times variants, for each is asked in a process of its own.
#[test]
fn engines_of_all_variants_have_a_bound() {
    let names: Vec<String> = (0..600).map(|number| format!("\"e{number}\"")).collect();
    let variants = sections(20, |number| format!("[[variant]]\nname = \"{number}\"\n"));
    let text = variants.replace("\"faulty\"", &names.join(","));
    refused(&text).says("the variants have 12000 setups in all; the limit is 500, because kvdyno inspects each");
}

/// The place is told, though the line itself would fill screens.
#[test]
fn a_long_line_is_not_shown() {
    let names: Vec<String> = (0..600).map(|number| format!("\"e{number}\"")).collect();
    refused(&format!("engines = [{}]\n", names.join(","))).says("experiment.toml:1:11: the variants have");
}

#[test]
fn files_have_a_bound() {
    let words = "is longer than 1048576 bytes";
    refused(&sections(2, |_| "# ".repeat(400_000))).says(words);
    refused(&"é".repeat(1 << 20)).says(words);
    refused_file(Lab::new(), "/dev/zero").says(words);
}
