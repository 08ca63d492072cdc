//! The beginnings of an engine's author: `kvdyno engines new`, the skeleton, the adapter's name, first mistakes.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Lab, Ran};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn says(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// The new adapter builds with the command that is printed, without the network, passes every check and can be
/// compared.
fn works(language: &str, compiler: &str) {
    if Command::new(compiler).arg("--version").output().is_err()
        && Command::new(compiler).arg("version").output().is_err()
    {
        eprintln!("skipped: there is no {compiler} here");
        return;
    }
    let lab = Lab::new();
    let ran = lab.run(["engines", "new", "mine", "--lang", language]);
    ran.exits(0);
    let command = ran.stdout.lines().find(|line| line.starts_with("  cd ")).unwrap().trim();
    let (build, check) = command.rsplit_once(" && ").unwrap();
    let output = Command::new("sh").args(["-c", build]).current_dir(lab.path("")).output().unwrap();
    assert!(output.status.success(), "{build}: {}", says(&output));
    assert!(!says(&output).contains("warning"), "{build}: {}", says(&output));
    let adapter = lab.path("mine").join(check.strip_prefix("kvdyno engines check ").unwrap());
    let ran = lab.run_with(&["engines", "check", adapter.to_str().unwrap(), "--timeout", "3m"]);
    ran.exits(0);
    assert!(ran.stdout.contains(" 0 failed"), "{}", ran.stdout);
    assert!(ran.stdout.contains("kill-process             passed"), "{}", ran.stdout);
    // At the settings of a comparison that asks for none.
    let ran = compare(&lab, &[adapter.to_str().unwrap(), "lmdb"]);
    ran.exits(0);
    ran.trial("mine", "readrandom").finished();
}

#[test]
fn a_new_adapter_in_c_builds_and_passes_every_check() {
    works("c", "cc");
}

#[test]
fn a_new_adapter_in_cpp_builds_and_passes_every_check() {
    works("c++", "g++");
}

/// It is also the example of the documentation, on the page and in the crate.
#[test]
fn a_new_adapter_in_rust_builds_and_passes_every_check() {
    works("rust", "cargo");
}

#[test]
fn a_new_adapter_in_go_builds_and_passes_every_check() {
    works("go", "go");
}

#[test]
fn a_new_adapter_takes_no_bad_name_and_no_folder_that_is_there() {
    let lab = Lab::new();
    lab.write("mine", "a file of the user's");
    let new = |name: &str| lab.run(["engines", "new", name, "--lang", "c"]);
    new("mine").exits(2).says("./mine is there already");
    for name in ["Mine", "my-engine", "1st", "../x", ""] {
        new(name).exits(2).says("cannot be the name of an engine");
    }
    lab.run(["engines", "new", "other", "--lang", "cobol"]).exits(2).says("c, c++, rust, go");
    lab.run(["engines", "new", "other", "--lang", "c", "--dir", "nowhere"]).exits(2).says("nowhere");
    assert_eq!(std::fs::read_to_string(lab.path("mine")).unwrap(), "a file of the user's");
}

/// Builds the skeleton, changed, into `libmine.so` of the lab.
fn build_skeleton(lab: &Lab, change: impl FnOnce(String) -> String, compile: &str) {
    let skeleton = std::fs::read_to_string(project("engines/skeleton/skeleton.c")).unwrap();
    lab.write("mine.c", &change(skeleton));
    let include = format!("-I{} -I{}", project("crates/abi/include").display(), project("engines/skeleton").display());
    let output =
        Command::new("sh").args(["-c", &format!("{compile} {include}")]).current_dir(lab.path("")).output().unwrap();
    assert!(output.status.success(), "{}", says(&output));
}

const IN_C: &str = "cc -shared -fPIC -O1 -o libmine.so mine.c -pthread";
const IN_CPP: &str = "g++ -x c++ -shared -fPIC -O1 -o libmine.so mine.c -pthread";

#[test]
fn the_skeleton_compiles_as_cpp_and_works() {
    let lab = Lab::new();
    build_skeleton(&lab, |text| text, IN_CPP);
    lab.run(["engines", "check", "./libmine.so", "--only", "get-after-put,scan-forward,kill-commit"]).exits(0);
}

/// A skeleton whose `put` throws.
fn throwing(text: String) -> String {
    let put = "    kvdyno_batch_entry step = {KVDYNO_PUT";
    assert!(text.contains(put));
    "#include <stdexcept>\n".to_owned()
        + &text.replace(put, &format!("    throw std::runtime_error(\"boom within\");\n{put}"))
}

#[cfg(target_arch = "x86_64")]
#[test]
fn an_exception_that_leaves_an_adapter_is_told_with_its_text_and_its_call() {
    let lab = Lab::new();
    build_skeleton(&lab, throwing, IN_CPP);
    let ran = lab.run(["engines", "check", "./libmine.so", "--only", "miss", "--logs", "logs"]);
    ran.exits(1);
    assert!(ran.stdout.contains("what():  boom within"), "{}", ran.stdout);
    let log = std::fs::read_to_string(lab.path("logs/libmine.so/create.log")).unwrap();
    for words in ["an exception of C++ left the adapter", "skeleton_put", "std::runtime_error"] {
        assert!(log.contains(words), "the log should say `{words}`:\n{log}");
    }
    let ran = lab.compare(["./libmine.so"]).workload("overwrite").operations(100).run();
    ran.exits(1);
    ran.trial("skeleton", "overwrite").failed("crashed", "boom within");
}

fn named(text: String) -> String {
    text.replace(".name = \"skeleton\"", ".name = \"mine\"")
}

fn compare(lab: &Lab, more: &[&str]) -> Ran {
    let common = ["--records", "1000", "--readers", "1", "--workload", "readrandom", "--operations", "100"];
    lab.run_with(&[&["compare"], more, &common, &["--repeat", "1", "--out", "results"]].concat())
}

#[test]
fn an_adapter_given_by_its_path_is_called_as_it_calls_itself_and_so_are_its_options() {
    let lab = Lab::new();
    build_skeleton(&lab, named, IN_C);
    let ran = compare(&lab, &["./libmine.so", "lmdb", "--option", "mine.memory_limit=1GiB"]);
    ran.exits(0);
    assert!(!ran.stdout.contains("libmine.so"), "{}", ran.stdout);
    ran.trial("mine", "readrandom").finished();
    let dry = compare(&lab, &["./libmine.so", "--option", "./libmine.so.memory_limit=1GiB", "--dry-run"]);
    dry.exits(0);
    assert!(dry.stdout.contains("[engine.mine"), "{}", dry.stdout);
}

#[test]
fn an_adapter_given_by_its_path_has_its_own_name_in_a_file_too() {
    let lab = Lab::new();
    build_skeleton(&lab, named, IN_C);
    lab.write("mine.toml", "engines = [\"./libmine.so\", \"./libmine.so:small\"]\n");
    let ran = lab.run(["run", "mine.toml", "--dry-run"]);
    ran.exits(0);
    assert!(ran.stdout.contains("engines = [\"mine\", \"mine:small\"]"), "{}", ran.stdout);
}

#[test]
fn an_engine_can_be_given_another_name() {
    let lab = Lab::new();
    build_skeleton(&lab, named, IN_C);
    compare(&lab, &["old=./libmine.so", "new=./libmine.so:small", "lmdb"])
        .exits(0)
        .trial("new", "readrandom")
        .finished();
    std::fs::copy(lab.path("libmine.so"), lab.path("libother.so")).unwrap();
    compare(&lab, &["./libmine.so", "./libother.so"]).exits(2).says("both called `mine`").says("NAME=./libother.so");
    compare(&lab, &["my engine=./libmine.so"]).exits(2).says("NAME=ENGINE");
}

/// A skeleton that reads the first byte of every key and value that it is to write, as engines do, empty ones too.
fn reading(text: String) -> String {
    let write = "    int failed = count ? toy_write";
    assert!(text.contains(write));
    let read = "    for (size_t at = 0; at < count; at++)
        if (entries[at].kind == KVDYNO_PUT)
            (void)(*(const volatile char *)entries[at].key.data + *(const volatile char *)entries[at].value.data);
";
    text.replace(write, &format!("{read}{write}"))
}

#[test]
fn an_engine_may_read_where_an_empty_value_lies() {
    let lab = Lab::new();
    build_skeleton(&lab, reading, IN_C);
    lab.run(["engines", "check", "./libmine.so", "--only", "empty-value,value-sizes"]).exits(0);
    let one_by_one = ["--workload", "overwrite,mix", "--mix", "get 40, put 40, insert 20", "--batch", "1"];
    for (folder, more) in [("single", &one_by_one[..]), ("batch", &["--workload", "overwrite", "--batch", "10"])] {
        let common = ["compare", "./libmine.so", "--records", "1000", "--value-size", "0", "--operations", "100"];
        lab.run_with(&[&common, more, &["--out", folder]].concat()).exits(0);
    }
}

#[test]
fn an_option_count_that_is_one_too_high_is_named() {
    let lab = Lab::new();
    let one_more = |text: String| text.replace(".option_count = OPTION_COUNT", ".option_count = OPTION_COUNT + 1");
    build_skeleton(&lab, one_more, IN_C);
    lab.run(["engines", "check", "./libmine.so"]).exits(2).says("option 3 of 3; is option_count right?");
}
