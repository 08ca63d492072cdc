//! One word for each thing: `docs/glossary.md` has the words, this file those that were retired in favour of them. It
//! also holds that no two types share a name, and that no comment of documentation begins with "What".

#![allow(clippy::unwrap_used)]

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use kvdyno_gates::repository::{File, files};
use kvdyno_gates::source::{Token, tokens, types, words};

/// Words that are in no identifier, name of a file, key or column, nor in backticks; and the word for the thing. The
/// parts of a phrase are tied by `_`.
const RETIRED: &[(&str, &str)] = &[
    ("place places placed unplaced", "what it is: span, index, path, location, slot"),
    ("stage stages staged", "environment, or phase"),
    ("ground grounds", "backing store"),
    ("asked", "requested, or what it is"),
    ("found", "observed, or what it is"),
    ("crew crews", "processes"),
    ("seat seats", "client"),
    ("party parties", "client, or process"),
    ("conduct conducts", "run"),
    ("play plays played player players", "what it does: run, act as"),
    ("call_off calls_off called_off", "abort"),
    ("board boards", "shared memory"),
    ("lane lanes", "statistics of a thread"),
    ("tally tallies", "counters"),
    ("floor floors", "minimum version"),
    ("room rooms", "what it is: capacity, buffer, width"),
    ("errand errands", "task"),
    ("destroyer destroyers", "cleanup"),
    ("apart", "labels, or separately"),
    ("contest contests contestant contestants", "comparison"),
    ("disturb disturbs disturbed disturbing disturbance disturbances", "interference"),
    ("narrow narrows narrowed narrowing", "what it does: reduce, select"),
    ("modify modifies modified", "read_modify_write"),
    ("nexts", "steps, or seek_nexts"),
    ("among", "what it is"),
    ("kb", "KiB"),
];

/// The first words of all retired words and phrases.
static FIRST_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let forms = RETIRED.iter().flat_map(|(forms, _)| forms.split_whitespace());
    forms.filter_map(|form| form.split('_').next()).collect()
});

/// Keys that files once had, refused as a whole key or column only.
const RETIRED_KEYS: &[(&str, &str)] = &[
    ("part", "records_fraction"),
    ("nexts", "seek_nexts"),
    ("among", "seek_within"),
    ("reads_per_batch", "keys_per_multiget"),
    ("longest", "longest_cycle"),
    ("missing", "missing_engines"),
    ("is", "a word that says what is compared"),
    ("turns", "a word that says what it counts"),
];

/// Retired words that have no ordinary meaning in a document or comment either.
const OWN_DIALECT: &str = "crew crews seat seats lane lanes tally tallies errand errands destroyer destroyers \
    contest contests contestant contestants disturbance disturbances";

/// Where a retired word is right: identifiers that contain the phrase, in files below the path, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("not_found", "", "ErrorKind::NotFound of the standard library, and codes of engines"),
    ("read_modify_write", "", "the field's word for it"),
    ("seek_nexts", "", "db_bench's option of this name, and what it counts"),
    ("found", "engines/", "whether a get found its key; iterators and APIs of engines say so too"),
    ("found", "crates/abi/", "whether a get found its key: a parameter of the ABI"),
    ("scripts_stages", "", "the stages of `make test` and of CI"),
    ("floor", "crates/plan/src/fit/", "f64::floor"),
    ("floor", "crates/report/", "f64::floor"),
];

/// The two sides of the ABI, where the header's struct, the adapter's trait and the host's handle are of one thing.
const BOTH_SIDES: &[&str] = &["crates/abi/src/", "crates/engine/src/"];

/// The same, and the words by which an experiment chooses among the ABI's levels and kinds.
const ALSO_IN_EXPERIMENTS: &[&str] = &["crates/abi/src/", "crates/engine/src/", "crates/model/src/words.rs"];

/// Types that mean the same below these paths, and so may share a name there.
const SAME_MEANING: &[(&str, &[&str])] = &[
    // Each crate may have one.
    ("Error", &["crates/", "engines/"]),
    ("BatchEntry", BOTH_SIDES),
    ("Compression", ALSO_IN_EXPERIMENTS),
    ("Config", BOTH_SIDES),
    ("Counters", BOTH_SIDES),
    ("Cursor", BOTH_SIDES),
    ("Database", BOTH_SIDES),
    ("Durability", ALSO_IN_EXPERIMENTS),
    ("Engine", BOTH_SIDES),
    ("Host", BOTH_SIDES),
    ("Preset", BOTH_SIDES),
    ("Record", BOTH_SIDES),
    ("Session", BOTH_SIDES),
    ("Status", BOTH_SIDES),
];

/// A retired word where it must not be: the file, the line, the word, and what to say instead.
struct Breach {
    path: String,
    line: usize,
    word: String,
    instead: String,
}

#[test]
fn no_identifier_has_a_retired_word() {
    let mut findings = Vec::new();
    for file in files().iter().filter(|file| file.is_any_of(&["rs", "c", "h", "cc", "go"])) {
        for token in tokens(file) {
            match token {
                Token::Identifier { text, line, is_sentence: false } => {
                    findings.extend(retired(&file.path, line, text))
                }
                Token::Identifier { text, line, .. } => {
                    findings.extend(own_dialect(&file.path, line, &text.replace('_', " ")));
                }
                Token::Comment { .. } => {}
            }
        }
    }
    none(findings);
}

#[test]
fn no_file_or_folder_has_a_retired_word() {
    none(files().iter().flat_map(|file| retired(&file.path, 0, &file.path)).collect());
}

#[test]
fn no_key_of_an_experiment_has_a_retired_word() {
    let mut findings = Vec::new();
    for file in files().iter().filter(|file| file.path.starts_with("experiments/") && file.is_any_of(&["toml"])) {
        findings.extend(file.lines().flat_map(|(line, text)| keys(file, line, text)));
    }
    none(findings);
}

/// The retired words in the key of a line `key = value`, also of one that is commented out, or in a `[section]`.
fn keys(file: &File, line: usize, text: &str) -> Vec<Breach> {
    let text = text.trim_start_matches(['#', ' ']);
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let key = match text.strip_prefix('[') {
        Some(section) => section.trim_start_matches('[').split(']').next(),
        None => text.split_once('=').map(|(key, _)| key.trim()),
    };
    let parts = key.filter(|key| is_name(key)).into_iter().flat_map(|key| key.split('.'));
    parts.flat_map(|key| column(&file.path, line, key)).collect()
}

#[test]
fn no_column_of_a_report_has_a_retired_word() {
    let mut findings = Vec::new();
    for file in files().iter().filter(|file| file.path.ends_with("csv.snap")) {
        for (line, names) in file.lines().filter(|(_, text)| text.starts_with("engine,")) {
            findings.extend(names.split(',').flat_map(|name| column(&file.path, line, name)));
        }
    }
    none(findings);
}

fn column(path: &str, line: usize, name: &str) -> Vec<Breach> {
    let whole = RETIRED_KEYS.iter().filter(|(key, _)| *key == name);
    let whole = whole.map(|(key, instead)| finding(path, line, key, instead));
    retired(path, line, name).into_iter().chain(whole).collect()
}

#[test]
fn no_document_or_comment_has_a_word_of_the_old_dialect() {
    let mut findings = Vec::new();
    for file in files().iter().filter(|file| speaks(file)) {
        for (line, text) in prose(file) {
            findings.extend(own_dialect(&file.path, line, &text));
            if file.is_any_of(&["md"]) {
                let spans = text.split('`').skip(1).step_by(2);
                findings.extend(spans.flat_map(|span| retired(&file.path, line, span)));
            }
        }
    }
    none(findings);
}

/// This test must name what it refuses.
fn speaks(file: &File) -> bool {
    file.is_any_of(&["md", "toml", "sh", "rs", "c", "h", "cc", "go"]) && !file.path.ends_with("tests/vocabulary.rs")
}

/// The text of a file that people read: all of a document, the comments of source.
fn prose(file: &File) -> Vec<(usize, String)> {
    if !file.is_any_of(&["rs", "c", "h", "cc", "go"]) {
        return file.lines().map(|(line, text)| (line, text.to_owned())).collect();
    }
    let comments = tokens(file).into_iter().filter_map(|token| match token {
        Token::Comment { text, line } => Some((line, text.to_owned())),
        Token::Identifier { .. } => None,
    });
    comments.collect()
}

fn own_dialect(path: &str, line: usize, text: &str) -> Vec<Breach> {
    let said = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let kilobytes = said.clone().filter(|word| *word == "KB").map(|word| finding(path, line, word, "KiB"));
    let refused = said.filter(|word| OWN_DIALECT.split_whitespace().any(|own| own.eq_ignore_ascii_case(word)));
    refused.flat_map(|word| retired(path, line, word)).chain(kilobytes).collect()
}

#[test]
fn no_comment_of_documentation_begins_with_what() {
    let mut findings = Vec::new();
    for file in files().iter().filter(|file| file.is_any_of(&["rs"])) {
        let mut before = "";
        for (line, text) in file.lines() {
            let text = text.trim_start();
            let mark = ["///", "//!"].into_iter().find(|mark| text.starts_with(mark));
            if let Some(mark) = mark.filter(|mark| !before.starts_with(mark)) {
                let first = text[mark.len()..].split_whitespace().next();
                findings.extend(first.filter(|word| *word == "What").map(|word| {
                    finding(&file.path, line, word, "the noun that says what the thing is, with its unit")
                }));
            }
            before = text;
        }
    }
    none(findings);
}

#[test]
fn no_two_types_share_a_name() {
    let mut named: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in files().iter().filter(|file| is_library_source(file)) {
        for (line, name) in types(file) {
            named.entry(name.to_owned()).or_default().push(format!("{}:{line}", file.path));
        }
    }
    named.retain(|name, at| meanings(name, at) > 1);
    let said: Vec<String> = named.iter().map(|(name, at)| format!("{name}: {}", at.join(", "))).collect();
    assert!(said.is_empty(), "types that share a name, and need one that says which they are:\n{}", said.join("\n"));
}

/// How many things the types `name` at these locations are.
fn meanings(name: &str, at: &[String]) -> usize {
    let below = SAME_MEANING.iter().find(|(same, _)| *same == name).map_or(&[] as &[&str], |(_, below)| below);
    let is_same = |location: &&String| below.iter().any(|folder| location.starts_with(folder));
    let same = at.iter().filter(is_same).count();
    at.len() - same + same.min(1)
}

fn is_library_source(file: &File) -> bool {
    let path = &file.path;
    let is_test = path.contains("/tests/") || path.contains("/examples/") || path.ends_with("/tests.rs");
    file.is_any_of(&["rs"]) && !is_test && !path.ends_with("/testing.rs")
}

#[test]
fn the_glossary_has_at_most_forty_words() {
    let glossary = files().into_iter().find(|file| file.path == "docs/glossary.md").unwrap();
    let cells = glossary.lines().filter_map(|(_, line)| line.strip_prefix('|')?.split('|').next());
    let words: Vec<&str> = cells.flat_map(|cell| cell.split('*').skip(1).step_by(2)).collect();
    assert!((20..=40).contains(&words.len()), "the glossary has {} words: {}", words.len(), words.join(", "));
    none(words.iter().flat_map(|word| retired("docs/glossary.md", 0, word)).collect());
}

/// The retired words in `text`, an identifier or a path.
fn retired(path: &str, line: usize, text: &str) -> Vec<Breach> {
    let words = words(text);
    if !words.iter().any(|word| FIRST_WORDS.contains(word.as_str())) {
        return Vec::new();
    }
    let mut said = format!("_{}_", words.join("_"));
    for (phrase, ..) in EXCEPTIONS.iter().filter(|(_, below, _)| path.starts_with(below)) {
        said = said.replace(&format!("_{phrase}_"), "_._");
    }
    let all = RETIRED.iter().flat_map(|(forms, instead)| forms.split_whitespace().map(move |form| (form, instead)));
    let here = all.filter(|(form, _)| said.contains(&format!("_{form}_")));
    here.map(|(form, instead)| finding(path, line, &format!("{form} in {text}"), instead)).collect()
}

fn finding(path: &str, line: usize, word: &str, instead: &str) -> Breach {
    Breach { path: path.to_owned(), line, word: word.to_owned(), instead: instead.to_owned() }
}

fn none(findings: Vec<Breach>) {
    let lines: Vec<String> = findings
        .iter()
        .map(|Breach { path, line, word, instead }| format!("{path}:{line}: {word}; say instead: {instead}"))
        .collect();
    assert!(lines.is_empty(), "{} retired words:\n{}", lines.len(), lines.join("\n"));
}

#[test]
fn identifiers_and_comments_are_told_from_strings_and_the_names_of_tests_are_sentences() {
    let text = r##"
        fn seat_of<'a>(text: &'a str) -> char { // a lane
            let raw = r#"tally"#; "errand \" board"; '"'
        }
        #[test]
        fn what_is_found_has_a_place() { let ground = 1; }
    "##;
    let file = File { path: "made/up.rs".to_owned(), text: text.to_owned() };
    let refused = tokens(&file).into_iter().filter_map(|token| match token {
        Token::Identifier { text, line, is_sentence: false } => {
            Some((line, !retired(&file.path, line, text).is_empty()))
        }
        Token::Identifier { .. } => None,
        Token::Comment { text, line } => Some((line, !own_dialect(&file.path, line, text).is_empty())),
    });
    let lines: Vec<usize> = refused.filter(|(_, is_retired)| *is_retired).map(|(line, _)| line).collect();
    assert_eq!(lines, [2, 2, 6], "seat_of, the comment, ground");
}

#[test]
fn forms_of_a_name_are_taken_apart_and_phrases_excepted() {
    for name in ["PlaceOf", "place_of", "PLACE", "is-placed", "a/places/b.rs", "call_off", "CalledOff"] {
        assert!(!retired("x.rs", 1, name).is_empty(), "{name}");
    }
    for name in ["replace", "placement", "NotFound", "read_modify_write", "background", "apartment", "stagedive"] {
        assert!(retired("x.rs", 1, name).is_empty(), "{name}");
    }
}
