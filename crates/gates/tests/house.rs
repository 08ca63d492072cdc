//! The house of `docs/design.md`, read from there: a crate depends on those below it alone.

#![allow(clippy::unwrap_used)]

use kvdyno_gates::repository::{files, top};

/// A crate of the workspace, and those of the workspace that it depends on, without the prefix of all.
struct Member {
    name: String,
    depends_on: Vec<String>,
    path: String,
}

fn short(name: impl AsRef<str>) -> String {
    let name = name.as_ref();
    name.strip_prefix("kvdyno-").unwrap_or(name).to_owned()
}

fn member(path: &str, manifest: &str) -> Option<Member> {
    let manifest: toml::Table = manifest.parse().unwrap();
    let name = short(manifest.get("package")?.get("name")?.as_str()?);
    let tables = ["dependencies", "build-dependencies", "dev-dependencies"];
    let names = tables.iter().filter_map(|table| manifest.get(*table)?.as_table()).flat_map(toml::Table::keys);
    let depends_on = names.filter(|name| name.starts_with("kvdyno-")).map(short).collect();
    Some(Member { name, depends_on, path: path.to_owned() })
}

fn members() -> Vec<Member> {
    let files = files();
    let manifests = files.iter().filter(|file| file.path.ends_with("Cargo.toml"));
    manifests.filter_map(|file| member(&file.path, &file.text)).collect()
}

/// The crates of the house from the roof to the ground. A line begins with one or several; folders are not crates.
fn house() -> Vec<String> {
    let design = std::fs::read_to_string(top().join("docs/design.md")).unwrap();
    let chapter = design.split("## The house").nth(1).unwrap();
    let drawn = chapter.split("```").nth(1).unwrap();
    let names = |line: &str| -> Vec<String> {
        // A comma announces another name; words after the last one are the description.
        let words: Vec<&str> = line.split_whitespace().collect();
        let last = words.iter().position(|word| !word.ends_with(','));
        words.iter().take(last.map_or(words.len(), |last| last + 1)).map(|word| word.replace(',', "")).collect()
    };
    drawn.lines().skip(1).flat_map(names).filter(|name| !name.ends_with('/')).collect()
}

#[test]
fn no_crate_depends_on_one_above_it() {
    let house = house();
    // Counted from the roof.
    let depth = |name: &str| house.iter().position(|one| one == name);
    let mut dependencies = 0;
    for member in members().iter().filter(|member| member.path.starts_with("crates/") || member.name == "fuzz") {
        let at = depth(&member.name).unwrap_or_else(|| panic!("`{}` is not in the house of design.md", member.name));
        for other in &member.depends_on {
            let below = depth(other).unwrap_or_else(|| panic!("`{other}` is not in the house of design.md"));
            assert!(below > at, "{}: {} depends on {other}, which stands above it", member.path, member.name);
            dependencies += 1;
        }
    }
    assert!(dependencies > 0, "no crate depends on another");
}

#[test]
fn every_crate_of_the_house_is_there_once() {
    let members = members();
    let house = house();
    for name in &house {
        assert!(members.iter().any(|member| member.name == *name), "there is no crate `{name}`");
        assert_eq!(house.iter().filter(|other| *other == name).count(), 1, "`{name}` is in the house twice");
    }
}

#[test]
fn an_adapter_knows_the_abi_alone() {
    for member in members().iter().filter(|member| member.path.starts_with("engines/")) {
        assert!(member.depends_on.iter().all(|other| other == "abi"), "{}: {:?}", member.path, member.depends_on);
    }
}
