//! The documentation lists the columns as they are declared.

use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- columns: begin, written by `make mend` -->\n";
const END: &str = "<!-- columns: end -->\n";

#[test]
fn the_documentation_lists_the_columns_as_they_are_declared() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let expected = format!("{before}{BEGIN}\n{}\n{END}{after}", kvdyno_report::column_reference());
    if std::env::var_os("KVDYNO_REGENERATE").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    let now = fs::read_to_string(&path).unwrap();
    assert!(now == expected, "docs/results.md is not up to date: make mend");
}
