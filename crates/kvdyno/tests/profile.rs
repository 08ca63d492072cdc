//! Flame graphs of runs, where `perf` can sample.

use std::fs;

use crate::support::Lab;
use kvdyno_environment::profiler;
use kvdyno_model::Design;
use kvdyno_results::{Phase, ProfileFacts};

/// Each of both designs: a run in one piece, and two in duets.
#[test]
fn runs_have_flame_graphs_of_their_engines() {
    let engines: [&[&str]; 2] = [&["lmdb"], &["lmdb", "faulty"]];
    for engines in engines {
        let comparison = match engines {
            [one] => Lab::new().compare([*one]),
            _ => Lab::new().compare(["lmdb", "faulty"]).with("design", "duet"),
        };
        let ran = comparison.workload("readrandom").milliseconds(2000).arguments(["--profile"]).run();
        if let Some(why) = profiler::obstacle() {
            ran.exits(2).says(&why);
            continue;
        }
        ran.is_clean();
        for result in ran.results() {
            let file = ran.lab.folder().trial_folder(&result.trial).join(ProfileFacts::FILE);
            let Some(profile) = result.profile else {
                assert_eq!((result.trial.phase, file.exists()), (Phase::Load, false), "{:?}", result.notes);
                continue;
            };
            let svg = fs::read_to_string(&file).unwrap();
            assert!(profile.samples > 0 && svg.contains("kvdyno"), "{profile:?}");
            let design = result.design.as_ref().unwrap().design;
            assert_eq!(design, if engines.len() > 1 { Design::Duet } else { Design::Turns });
        }
        assert!(ran.stdout.contains("flame graphs: ") || ran.stderr.contains("flame graphs: "), "{}", ran.stdout);
        let page = fs::read_to_string(ran.lab.folder().report_folder().join("index.html")).unwrap();
        assert!(page.contains("-flame.svg\">lmdb, 1 reader</a>"));
    }
}

#[test]
fn without_perf_a_profile_is_refused_before_anything_is_touched() {
    let lab = Lab::new();
    let before = lab.tree();
    let mut command = lab.compare(["faulty"]).workload("readrandom").arguments(["--profile"]).command();
    command.env("PATH", lab.path("nothing-is-here"));
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("perf cannot be run") && said.contains("lab.profile"), "{said}");
    assert_eq!(lab.tree(), before);
}
