//! The JSON Schema of a report lies in the documentation, for those who have no kvdyno at hand.

use std::fs;
use std::path::Path;

#[test]
fn the_documentation_has_the_schema_that_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/report.schema.json");
    let expected = format!("{:#}\n", kvdyno_report::schema());
    if std::env::var_os("KVDYNO_REGENERATE").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert!(
        fs::read_to_string(&path).is_ok_and(|now| now == expected),
        "docs/report.schema.json is not up to date: make mend"
    );
}
