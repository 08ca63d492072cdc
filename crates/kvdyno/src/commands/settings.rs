//! `kvdyno engines settings`: the settings of engines that the lab's settings map to, in the engines' own words.

use kvdyno_engine::catalog;
use kvdyno_engine::inspect::{Declared, Inspection, Request};
use kvdyno_engine::installed;
use kvdyno_engine::{AbiCode, Compression, Durability, EngineSettings, Hints};
use kvdyno_experiment::SettingsSection;
use kvdyno_model::text::{capital, escaped};
use kvdyno_plan::inspection;
use kvdyno_report::Format;

use super::engines::{EngineSearch, UsableEngine, find, left_out, table};
use crate::cli::SettingsArguments;
use crate::error::Error;
use crate::output::print;

/// Runs the command.
pub fn run(arguments: SettingsArguments) -> Result<(), Error> {
    let settings = arguments.keys.section();
    let skip_missing = arguments.skip_missing || arguments.engines.is_empty();
    let names = if arguments.engines.is_empty() { all_here() } else { arguments.engines.clone() };
    let mut page = SettingsPage { sections: sections(&settings), ..SettingsPage::default() };
    for name in names {
        match find(&name, None)? {
            EngineSearch::Usable(here) => page.add(&settings, &name, *here)?,
            EngineSearch::Missing(_) if skip_missing => page.missing.push(name),
            EngineSearch::Missing(reason) => return Err(Error::Input(format!("{name} cannot be inspected: {reason}"))),
        }
    }
    let text = if arguments.format == Format::Markdown { page.markdown() } else { page.text() };
    print(&text)
}

/// Every adapter, and every version that was installed.
fn all_here() -> Vec<String> {
    let installed = installed::all(&catalog::folders()).into_iter().map(|one| format!("{}@{}", one.name, one.version));
    let mut names: Vec<String> = catalog::list().into_keys().chain(installed).collect();
    names.sort();
    names
}

/// One of the lab's settings, and what every engine says to it.
#[derive(Debug)]
struct SettingSection {
    title: String,
    topic: &'static str,
    level: Level,
    rows: Vec<(String, SettingAnswer)>,
}

/// The setting that a section describes, beside the usual ones.
#[derive(Clone, Copy, Debug)]
enum Level {
    Usual,
    Durability(Durability),
    Compression(Compression),
}

/// Names and values in the engine's words, or why it refuses.
type SettingAnswer = Result<Vec<(String, String)>, String>;

fn sections(settings: &SettingsSection) -> Vec<SettingSection> {
    let section = |title: String, topic, level| SettingSection { title, topic, level, rows: Vec::new() };
    let usual = |title, topic| section(title, topic, Level::Usual);
    let durability = |&level: &Durability| {
        let every = if level == Durability::Periodic { format!(", {}", settings.sync_period) } else { String::new() };
        section(format!("durability {level}{every}"), "durability", Level::Durability(level))
    };
    let compression =
        |&kind: &Compression| section(format!("compression {kind}"), "compression", Level::Compression(kind));
    let mut all: Vec<SettingSection> = Durability::ALL.iter().map(durability).collect();
    all.push(usual(format!("cache {}", settings.cache), "cache"));
    all.push(usual(format!("write buffer {}", settings.write_buffer), "write_buffer"));
    all.extend(Compression::ALL.iter().map(compression));
    all.push(usual("checksums on reads".to_owned(), "checksums"));
    all
}

/// The settings that `level` stands for; in all else what the lab asks for by default, if the engine declares it.
fn lab(settings: &SettingsSection, engine: &Declared, level: Level) -> EngineSettings {
    let meets = |level: &&Durability| engine.durabilities >> level.code() & 1 == 1;
    let has = |kind: &&Compression| engine.compressions >> kind.code() & 1 == 1;
    let levels = [Durability::Process, Durability::Periodic, Durability::Commit, Durability::None];
    let durability = levels.iter().find(meets).copied().unwrap_or(Durability::Process);
    let compression = Compression::ALL.iter().find(has).copied().unwrap_or(Compression::None);
    EngineSettings {
        durability: if let Level::Durability(requested) = level { requested } else { durability },
        compression: if let Level::Compression(requested) = level { requested } else { compression },
        sync_period_ms: settings.sync_period.0.as_millis().try_into().unwrap_or(u32::MAX),
        cache_bytes: settings.cache.0,
        write_buffer_bytes: settings.write_buffer.0,
    }
}

/// The hints of a comparison without options.
const HINTS: Hints = Hints {
    records: 1_000_000,
    key_size: 16,
    value_size: 100,
    largest_value: 100,
    prefix_size: 0,
    sessions: 5,
    processes: 1,
    session_durabilities: 0,
};

/// Everything that is printed.
#[derive(Debug, Default)]
struct SettingsPage {
    /// With their versions.
    engines: Vec<String>,
    sections: Vec<SettingSection>,
    missing: Vec<String>,
}

impl SettingsPage {
    fn add(&mut self, settings: &SettingsSection, name: &str, here: UsableEngine) -> Result<(), Error> {
        let Inspection { declared, library, .. } = here.inspection;
        let requested = self.sections.iter().map(|section| (lab(settings, &declared, section.level), HINTS)).collect();
        let request = Request { settings: requested, library, ..here.request };
        let answers = inspection::inspect_in_child(&request).map_err(|obstacle| Error::Input(obstacle.message))?;
        for (section, answer) in self.sections.iter_mut().zip(answers.settings) {
            let prefix = format!("{} cannot be measured so: ", declared.name);
            let of_topic = |(topic, name, value): (String, String, String)| match topic.as_str() {
                // A level that is met by a stronger one.
                "stronger" if section.topic == "durability" => Some((format!("met as {name}"), value)),
                topic => (topic == section.topic).then_some((name, value)),
            };
            let answer = match answer {
                Ok(entries) => Ok(entries.into_iter().filter_map(of_topic).collect()),
                Err(reason) => Err(reason.strip_prefix(&prefix).unwrap_or(&reason).to_owned()),
            };
            section.rows.push((name.to_owned(), answer));
        }
        let told = name.ends_with(&format!("@{}", here.version));
        self.engines.push(if told { name.to_owned() } else { format!("{name} {}", here.version) });
        Ok(())
    }

    fn markdown(&self) -> String {
        let mut text = format!("{}.\n", self.heading());
        for section in &self.sections {
            text.push_str(&format!("\n## {}\n\n| engine | what is set |\n| --- | --- |\n", capital(&section.title)));
            for (engine, answer) in &section.rows {
                text.push_str(&format!("| {engine} | {} |\n", escaped(&lines(answer, "`").join("<br>"), &['|'])));
            }
        }
        text + &self.left_out()
    }

    fn text(&self) -> String {
        let mut rows = table(&["setting", "engine", "what is set"]);
        for section in &self.sections {
            for (index, (engine, answer)) in section.rows.iter().enumerate() {
                let title = if index == 0 { section.title.as_str() } else { "" };
                rows.add_row([title, engine, &lines(answer, "").join("\n")]);
            }
        }
        format!("{}\n{}", rows.trim_fmt(), self.left_out())
    }

    fn heading(&self) -> String {
        match self.engines.as_slice() {
            [] => "No engine is installed".to_owned(),
            engines => format!("Engines: {}", engines.join(", ")),
        }
    }

    fn left_out(&self) -> String {
        left_out(&self.missing.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// A line for each name and its value; `quote` goes round the name.
fn lines(answer: &SettingAnswer, quote: &str) -> Vec<String> {
    match answer {
        Err(reason) => vec![format!("refused: {reason}")],
        Ok(entries) if entries.is_empty() => vec!["not said".to_owned()],
        Ok(entries) => entries.iter().map(|(name, value)| format!("{quote}{name}{quote}: {value}")).collect(),
    }
}
