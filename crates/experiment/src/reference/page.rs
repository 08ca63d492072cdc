//! The reference of keys, as a page.

use std::fmt::Write;

use kvdyno_model::text::escaped;
use kvdyno_model::{Definition, Otherwise};

use crate::experiment::{SectionInfo, sections};

const HEAD: &str = "# Keys of the experiment file

Every key, as the program defines it. This page is generated: `make mend` writes it anew.
[experiment-file.md](experiment-file.md) explains them. Flags are those of `kvdyno compare`; they take the same values.
";

/// The page, as Markdown.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for section in sections() {
        // A `String` takes everything that is written.
        let _ = write_section(&mut page, section);
    }
    page
}

fn write_section(page: &mut String, section: &SectionInfo) -> std::fmt::Result {
    match section.name {
        "" => write!(page, "\n## Top level\n\n")?,
        "run" | "run.role" => write!(page, "\n## `[[{}]]`\n\n{}\n\n", section.name, section.doc)?,
        name => write!(page, "\n## `[{name}]`\n\n{}\n\n", section.doc)?,
    }
    writeln!(page, "| key | value | default | flag | meaning |")?;
    writeln!(page, "| --- | --- | --- | --- | --- |")?;
    for key in &section.keys {
        let flag = key.flag.map(|flag| format!("`--{flag}`")).unwrap_or_default();
        let written = escaped(&key.value.description, &['|']);
        let (default, doc) = (default(key), escaped(key.doc, &['|']));
        writeln!(page, "| `{}` | {written} | {default} | {flag} | {doc} |", key.name)?;
    }
    for key in section.keys.iter().filter(|key| !key.value.words.is_empty()) {
        write!(page, "\n`{}`:\n\n", key.name)?;
        for (word, meaning) in &key.value.words {
            writeln!(page, "- `{word}`: {meaning}")?;
        }
    }
    Ok(())
}

fn default(key: &Definition) -> String {
    match &key.otherwise {
        Otherwise::Absent(meaning) => format!("absent: {meaning}"),
        Otherwise::Default { text, .. } if text.is_empty() => String::new(),
        Otherwise::Default { value, .. } => format!("`{value}`"),
    }
}
