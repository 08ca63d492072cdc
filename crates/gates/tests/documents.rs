//! The documents: every file and folder that they name is there, every link leads to a heading, and together they are
//! short enough to be read.

#![allow(clippy::unwrap_used)]

use std::path::{Component, Path, PathBuf};

use kvdyno_gates::repository::{File, files, top};

/// Folders that begin a path in backticks.
const FOLDERS: [&str; 7] = ["crates/", "docs/", "engines/", "experiments/", "published/", "scripts/", "tests/"];

fn documents() -> impl Iterator<Item = File> {
    files().into_iter().filter(|file| file.is_any_of(&["md"]))
}

#[test]
fn every_path_in_backticks_is_there() {
    let mut lost = Vec::new();
    for file in documents() {
        for (line, text) in file.lines() {
            let named = text.split('`').skip(1).step_by(2).filter(|span| is_path(span));
            let absent = named.filter(|path| !top().join(path).exists());
            lost.extend(absent.map(|path| format!("{}:{line}: there is no {path}", file.path)));
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

/// Whether it is a whole path of this repository: `engines/NAME/NAME.c` and `engines/*` are not.
fn is_path(span: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/._-".contains(c);
    let begins = FOLDERS.iter().any(|folder| span.starts_with(folder));
    begins && (span.chars().all(is_plain) || span.ends_with(".md"))
}

#[test]
fn every_link_leads_somewhere() {
    let all: Vec<File> = documents().collect();
    let mut lost = Vec::new();
    for file in &documents().collect::<Vec<_>>() {
        for (line, text) in file.lines() {
            for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
                if !link.contains("://") && !leads_somewhere(&all, file, link) {
                    lost.push(format!("{}:{line}: {link} leads nowhere", file.path));
                }
            }
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
}

fn leads_somewhere(all: &[File], from: &File, link: &str) -> bool {
    let (path, heading) = link.split_once('#').map_or((link, None), |(path, heading)| (path, Some(heading)));
    let to = if path.is_empty() { PathBuf::from(&from.path) } else { beside(&from.path, path) };
    let target = all.iter().find(|file| Path::new(&file.path) == to);
    match (heading, target) {
        (None, _) => top().join(&to).exists(),
        (Some(heading), Some(target)) => headings(target).any(|one| one == heading),
        (Some(_), None) => false,
    }
}

/// `path` as it is from the folder of the file `from`, without `..`.
fn beside(from: &str, path: &str) -> PathBuf {
    let mut whole = PathBuf::from(from);
    whole.pop();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    whole
}

/// The headings of a document as links name them: in lower case, without punctuation, with `-` for blanks.
fn headings(file: &File) -> impl Iterator<Item = String> {
    let headings =
        file.lines().filter(|(_, line)| line.starts_with('#')).map(|(_, line)| line.trim_start_matches('#').trim());
    headings.map(|heading| {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[test]
fn the_page_for_authors_shows_the_example_that_is_compiled() {
    let page = std::fs::read_to_string(top().join("docs/engine-abi.md")).unwrap();
    let shown = page.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let compiled = std::fs::read_to_string(top().join("crates/abi/examples/table.rs")).unwrap();
    assert_eq!(shown, compiled, "docs/engine-abi.md and crates/abi/examples/table.rs must be the same");
}

/// Words of the README, and of all documents together, at the most; generated text does not count.
const MOST_WORDS_OF_README: usize = 900;
const MOST_WORDS: usize = 35_000;

/// Documents that a program writes as a whole.
const GENERATED: [&str; 4] =
    ["docs/engines/checks.md", "docs/engines/settings.md", "docs/experiment-keys.md", "docs/gallery/README.md"];

/// The words of a document that people wrote: whatever stands between blanks, as `wc -w` counts.
fn words(file: &File) -> usize {
    let mut is_generated = GENERATED.contains(&file.path.as_str());
    let mut count = 0;
    for (_, line) in file.lines() {
        let is_mark = line.starts_with("<!-- ");
        is_generated |= is_mark && line.contains(": begin");
        if !is_generated {
            count += line.split_whitespace().count();
        }
        is_generated &= !(is_mark && line.contains(": end"));
    }
    count
}

#[test]
fn documents_are_short_enough_to_be_read() {
    let mut counts: Vec<(usize, String)> = documents().map(|file| (words(&file), file.path)).collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    let of_readme = counts.iter().find(|(_, path)| path == "README.md").map_or(0, |(count, _)| *count);
    let all: usize = counts.iter().map(|(count, _)| count).sum();
    let longest: Vec<String> = counts.iter().take(9).map(|(count, path)| format!("{path} {count}")).collect();
    assert!(of_readme <= MOST_WORDS_OF_README, "README.md has {of_readme} words, at most {MOST_WORDS_OF_README}");
    assert!(all <= MOST_WORDS, "{all} words, at most {MOST_WORDS}; the longest: {}", longest.join(", "));
}

/// Large drawings make the page slow where it is looked at.
const MOST_BYTES_OF_A_DRAWING: u64 = 150_000;

#[test]
fn each_published_table_has_its_chart_in_the_gallery_or_a_reason() {
    let gallery = top().join("docs/gallery");
    let list = std::fs::read_to_string(gallery.join("README.md")).unwrap();
    let sections: Vec<&str> = list.split("\n## ").skip(1).collect();
    for file in std::fs::read_dir(top().join("published")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let Some(table) = name.strip_suffix(".csv") else { continue };
        let section = sections.iter().find(|section| section.lines().next() == Some(table));
        let section =
            section.unwrap_or_else(|| panic!("docs/gallery/README.md has no `## {table}`: scripts/gallery.sh"));
        let has_chart = section.contains(&format!("]({table}-")) && section.contains(".svg)");
        assert!(
            has_chart || section.contains("\nNo chart: "),
            "docs/gallery/README.md: {table} has no chart and no reason"
        );
        assert!(section.contains("](../experiments/"), "docs/gallery/README.md: {table} names no experiment");
    }
    for file in std::fs::read_dir(gallery).unwrap().map(|file| file.unwrap()) {
        let (name, bytes) = (file.file_name().into_string().unwrap(), file.metadata().unwrap().len());
        assert!(bytes <= MOST_BYTES_OF_A_DRAWING, "docs/gallery/{name} has {bytes} bytes");
        assert!(
            !name.ends_with(".svg") || list.contains(&format!("]({name})")),
            "docs/gallery/{name} is in no section"
        );
    }
}
