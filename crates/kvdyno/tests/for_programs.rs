//! For other programs: lists, events, metrics; completions for shells, and pages for `man`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use crate::support::{Lab, eventually};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn every_list_is_had_as_json() {
    let lab = Lab::new();
    let read = |arguments: &[&str]| json(&lab.run_with(&[arguments, &["--format", "json"]].concat()).exits(0).stdout);
    let names = |list: &Value, key: &str| -> BTreeSet<String> {
        list.as_array().unwrap().iter().map(|one| one[key].as_str().unwrap().to_owned()).collect()
    };
    let engines = read(&["engines"]);
    assert!(names(&engines, "engine").contains("faulty"));
    let lmdb = engines.as_array().unwrap().iter().find(|one| one["engine"] == "lmdb").unwrap();
    assert_eq!((&lmdb["usable"], &lmdb["declared"]["name"]), (&true.into(), &"lmdb".into()));
    let faulty = read(&["engines", "faulty"]);
    let every = faulty["options"].as_array().unwrap().iter().find(|option| option["name"] == "every").unwrap();
    assert_eq!(every["type"]["kind"], "integer");
    let workloads = read(&["workloads"]);
    assert!(names(&workloads, "name").contains("readwhilewriting") && workloads[0]["phase"].is_string());
    assert!(names(&read(&["experiments"]), "name").contains("inmem-numa"));
    assert!(read(&["experiments", "inmem-numa"])["file"].as_str().unwrap().contains("[[run]]"));
    let machine = read(&["machine"]);
    assert!(machine["cpu"]["threads"].as_u64().unwrap() > 0 && machine["setup"]["mitigations"].is_object());
    assert!(machine["build"]["rust"].as_str().unwrap().starts_with("rustc 1."), "{}", machine["build"]);
}

/// They are kept for later, and for the machine's file of a run.
#[test]
fn limits_of_the_machine_are_measured_once_and_kept() {
    let lab = Lab::new();
    let output = |mut command: Command| {
        let output = command.env("XDG_DATA_HOME", lab.path("data")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let limits = |arguments: &[&str]| {
        let mut command = lab.kvdyno();
        command.args(["machine", "--json"]).args(arguments);
        json(&output(command))["limits"].clone()
    };
    assert!(limits(&[]).is_null());
    let measured = limits(&["--limits"]);
    for limit in ["memory_latency_ns", "memory_bytes_per_s", "syncs_per_s"] {
        assert!(measured[limit].as_f64().unwrap() > 0.0, "{measured}");
    }
    assert_eq!(limits(&[]), measured);
    output(lab.compare(["faulty"]).workload("readrandom").operations(100).command());
    let machine = lab.folder().machine().unwrap().unwrap();
    assert_eq!(serde_json::to_value(machine.limits).unwrap(), measured);
    let left: Vec<_> = fs::read_dir(lab.path("")).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with(".kvdyno-limits")), "{left:?}");
}

#[test]
fn events_are_told_one_a_line() {
    let lab = Lab::new();
    let faulty = lab.compare(["faulty", "lmdb"]).workload("readrandom").operations(100).fault("other-key", 7);
    let ran = faulty.arguments(["--json"]).run();
    ran.exits(1);
    let events: Vec<Value> = ran.stdout.lines().map(json).collect();
    let of = |kind: &str| events.iter().filter(|event| event["event"] == kind).collect::<Vec<_>>();
    assert_eq!((of("trial-begun").len(), of("trial-finished").len(), of("trial-failed").len()), (4, 3, 1));
    assert_eq!(of("trial-begun")[0]["of"], 4);
    let failed = of("trial-failed")[0];
    assert_eq!((&failed["kind"], &failed["trial"]["engine"]), (&"wrong-answer".into(), &"faulty".into()));
    let read = of("trial-finished").into_iter().find(|event| event["trial"]["phase"] == "run").unwrap();
    assert!(read["reads_per_s"].as_f64().unwrap() > 0.0 && read["operations"][0]["latency"]["p99_ns"].is_u64());
    let last = events.last().unwrap();
    assert!(last["event"] == "run-ended" && fs::metadata(last["page"].as_str().unwrap()).unwrap().is_file());
    assert!(events.iter().all(|event| event["time"].is_string()));
    // Standard error has the error alone.
    assert!(ran.stderr.contains("1 of 4 trials failed") && !ran.stderr.contains("[1/4]"), "{}", ran.stderr);
}

/// A trial of four seconds says how far it is, apart from that how far the plan is, and its rate so far.
#[test]
fn a_trial_under_way_is_told_of() {
    let lab = Lab::new();
    let long = lab.compare(["faulty"]).workload("readwhilewriting").milliseconds(4000).arguments(["--json"]);
    let events: Vec<Value> = long.run().exits(0).stdout.lines().map(json).collect();
    let of_run = |event: &&Value| event["event"] == "trial-progress" && event["trial"]["phase"] == "run";
    let told: Vec<&Value> = events.iter().filter(of_run).collect();
    assert!(told.len() >= 3, "{told:?}");
    let times: Vec<f64> = told.iter().map(|event| event["elapsed_s"].as_f64().unwrap()).collect();
    // One a second; some come late where others want the processor, too.
    let mut pauses: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    pauses.sort_by(f64::total_cmp);
    assert!(pauses[pauses.len() / 2] < 2.0, "{times:?}");
    // What comes after is closing the database, on a busy machine for so long that it is told, too.
    let is_measuring = |event: &&&Value| event["state"] == "measuring" && event["elapsed_s"].as_f64() < Some(3.9);
    let last = told.iter().rfind(is_measuring).unwrap();
    for figure in ["reads_per_s", "writes_per_s", "read_p99_ns", "write_p99_ns", "trial_left_s"] {
        assert!(last[figure].as_f64().unwrap() > 0.0, "{figure}: {last}");
    }
    let left = |event: &Value, of: &str| event[of].as_f64();
    let is_short = |event: &&Value| left(event, "plan_left_s") < left(event, "trial_left_s");
    assert!(last["plan_left_s"].is_f64() && !told.iter().any(is_short), "{told:?}");
    assert!(last["trial_left_s"].as_f64() < told[0]["trial_left_s"].as_f64().or(Some(9.0)), "{told:?}");
    let ended = events.iter().find(|event| event["event"] == "trial-finished" && event["trial"]["phase"] == "run");
    let ratio = last["reads_per_s"].as_f64().unwrap() / ended.unwrap()["reads_per_s"].as_f64().unwrap();
    assert!((0.5..2.0).contains(&ratio), "{ratio}: {last} {ended:?}");
}

#[test]
fn a_quiet_run_prints_its_result_alone() {
    let lab = Lab::new();
    let ran = lab.compare(["faulty"]).workload("readrandom").operations(100).arguments(["--quiet"]).run();
    ran.exits(0);
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.contains("readrandom: reads/s"), "{}", ran.stdout);
}

#[test]
fn metrics_are_kept_in_a_file() {
    let lab = Lab::new();
    let file = lab.path("kvdyno.prom");
    let path = file.to_string_lossy().into_owned();
    let run = lab.compare(["faulty"]).workload("readrandom").operations(100);
    run.arguments(["--metrics", &path]).run().exits(0);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let value = |sample: &str| {
        let line = text.lines().find(|line| line.starts_with(sample)).unwrap_or_else(|| panic!("{sample}: {text}"));
        line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(value("kvdyno_trials_planned "), 2.0);
    assert_eq!(value("kvdyno_trials_total{outcome=\"finished\"}"), 2.0);
    assert!(value("kvdyno_cell_reads_per_second{engine=\"faulty\",variant=\"\",phase=\"run\"") > 0.0);
    // Each family is declared once, before its samples.
    let families: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    assert_eq!(families.iter().collect::<BTreeSet<_>>().len(), families.len());

    let nowhere = lab.path("nowhere/metrics");
    let command = ["compare", "faulty", "--out", "other", "--metrics", nowhere.to_str().unwrap()];
    lab.run(command).exits(2).says("--metrics: cannot write");
    assert!(!lab.path("other").exists());
}

/// Asks a collector's question of a run under way.
fn answer_to(port: u16, request: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    Some(answer)
}

#[test]
fn metrics_are_had_at_a_port_of_this_machine_while_a_run_goes_on() {
    let lab = Lab::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let run = lab.compare(["faulty"]).workload("readrandom").milliseconds(600_000);
    let running = run.arguments(["--metrics", &format!("127.0.0.1:{port}")]).start();
    let metrics = || answer_to(port, "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
    eventually("a rate at the port", || metrics().is_some_and(|it| it.contains("\nkvdyno_trial_reads_per_second{")));
    let answer = metrics().unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    assert!(body.contains("\nkvdyno_trials_planned 2\n") && body.ends_with("# EOF\n"), "{body}");
    // Others' questions, and who asks for more than there is, harm nothing.
    for (request, status) in [("GET /secret HTTP/1.1\r\n\r\n", "404"), ("POST /metrics HTTP/1.1\r\n\r\n", "405")] {
        assert!(answer_to(port, request).unwrap().starts_with(&format!("HTTP/1.1 {status} ")), "{request}");
    }
    let _ = answer_to(port, &format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(100_000)));
    assert!(metrics().is_some());
    running.interrupted().ends().exits(130);
}

#[test]
fn metrics_are_for_nobody_outside() {
    let lab = Lab::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (address, words) in [
        ("0.0.0.0:9100", "0.0.0.0:9100 can be reached from other machines; use a loopback address: 127.0.0.1:9100"),
        ("[::]:9100", "can be reached from other machines"),
        ("localhost:9100", "one is written as 127.0.0.1:9100"),
        (&taken, "--metrics: cannot listen at http://127.0.0.1:"),
    ] {
        lab.run(["compare", "faulty", "--out", "other", "--metrics", address]).exits(2).says(words);
        assert!(!lab.path("other").exists(), "{address}");
    }
}

#[test]
fn the_machine_says_by_which_build_it_was_measured() {
    let lab = Lab::new();
    lab.compare(["faulty"]).workload("readrandom").operations(100).run().exits(0);
    let machine = json(&fs::read_to_string(lab.path("results/machine.json")).unwrap());
    let build = &machine["build"];
    assert_eq!(machine["kvdyno"], env!("CARGO_PKG_VERSION"));
    assert!(build["rust"].as_str().unwrap().starts_with("rustc 1."), "{build}");
    assert!(["release", "debug"].contains(&build["profile"].as_str().unwrap()), "{build}");
    // Sources that came without their history have no commit to tell of.
    let inside = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    if inside.is_ok_and(|out| out.status.success()) {
        let commit = build["commit"].as_str().unwrap();
        let name = commit.strip_suffix("-changed").unwrap_or(commit);
        assert!(name.len() == 12 && name.bytes().all(|digit| digit.is_ascii_hexdigit()), "{commit}");
    }
}

#[test]
fn shells_complete_commands_and_flags() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = lab.run(["completions", shell]).exits(0).stdout.clone();
        for word in ["compare", "engines", "install", "value-size", "detect"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        assert!(!script.contains("__worker") && !script.contains("destroy"), "{shell}: what is hidden");
    }
    lab.write("kvdyno.bash", &lab.run(["completions", "bash"]).stdout);
    let complete = "source ./kvdyno.bash; COMP_WORDS=(kvdyno wor); COMP_CWORD=1; _kvdyno kvdyno wor kvdyno; \
                    echo ${COMPREPLY[@]}";
    let out = Command::new("bash").args(["-c", complete]).current_dir(lab.path(".")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&out.stdout).trim(), "workloads");
}

#[test]
fn each_command_has_a_manual_page() {
    let lab = Lab::new();
    lab.run(["man", "pages/man1"]).exits(0);
    let names: BTreeSet<String> = fs::read_dir(lab.path("pages/man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for page in ["kvdyno.1", "kvdyno-compare.1", "kvdyno-diff.1", "kvdyno-engines-install.1", "kvdyno-completions.1"] {
        assert!(names.contains(page), "{page}: {names:?}");
    }
    assert!(!names.contains("kvdyno-worker.1") && !names.contains("kvdyno-inspect.1"), "{names:?}");
    let page = fs::read_to_string(lab.path("pages/man1/kvdyno.1")).unwrap();
    assert!(page.contains("Exit codes") && page.contains("interrupted"), "{page}");
}

/// Default builds leave Parquet out.
#[test]
fn parquet_is_written_or_it_is_said_how_to_have_it() {
    let lab = Lab::new();
    lab.compare(["faulty"]).workload("readrandom").operations(100).run().exits(0);
    let ran = lab.run(["report", "results", "--parquet", "tables"]);
    if cfg!(feature = "parquet") {
        ran.exits(0);
        for name in ["cells.parquet", "series.parquet"] {
            let bytes = fs::read(lab.path("tables").join(name)).unwrap();
            assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"), "{name}");
        }
    } else {
        ran.exits(2).says("cargo build --release --locked --features parquet");
        assert!(!lab.path("tables").exists());
    }
}

/// The flags beneath each heading of a command's help.
fn headings(help: &str) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for line in help.lines() {
        match line.strip_suffix(':').filter(|heading| !heading.starts_with(' ')) {
            Some(heading) => all.push((heading.to_owned(), Vec::new())),
            None => {
                let flag = line.trim_start().trim_start_matches("-q, ").strip_prefix("--");
                let flag = flag.and_then(|rest| rest.split([' ', '\n']).next());
                all.last_mut().zip(flag).into_iter().for_each(|((_, flags), flag)| flags.push(flag.to_owned()));
            }
        }
    }
    all
}

#[test]
fn flags_stand_under_their_own_headings() {
    let lab = Lab::new();
    let output = ["dry-run", "format", "json", "metrics", "out", "quiet"];
    for (command, mut more) in [("compare", vec!["name", "tables"]), ("diff", vec!["name"]), ("run", vec!["tables"])] {
        let ran = lab.run([command, "--help"]);
        let headings = headings(&ran.exits(0).stdout);
        let of = |name: &str| -> Vec<&str> {
            let of_name = headings.iter().filter(|(heading, _)| heading == name);
            of_name.flat_map(|(_, flags)| flags.iter().map(String::as_str)).collect()
        };
        more.extend(output);
        let told: BTreeSet<&str> = of("Output").into_iter().collect();
        assert_eq!(told, more.into_iter().collect(), "{command}");
        let environment = of("[environment]");
        assert!(environment.contains(&"device") && !environment.contains(&"out"), "{command}: {environment:?}");
        let options: BTreeSet<&str> = of("Options").into_iter().collect();
        let own: &[&str] = match command {
            "diff" => &["across", "by", "resume"],
            "run" => &["budget", "deal", "fit", "part", "resume"],
            _ => &[],
        };
        assert_eq!(options, own.iter().copied().collect(), "{command}");
    }
    let help = lab.run(["--help"]).exits(0).stdout.clone();
    for code in ["0    all is well", "130  interrupted"] {
        assert!(help.contains(code), "{help}");
    }
}
