//! Options, presets, and the lab's settings.

use kvdyno_engine::{AbiCode, Choice, Compression, Durability, EngineSettings, OptionInfo, OptionKind};
use kvdyno_model::OptionText;

use crate::bench::{Bench, session};
use crate::check::{Check, CheckBody, Needs};
use crate::finding::{During, Finding, ensure, wrong};
use crate::subject::Subject;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "settings-listed",
        what: "Settings says what durability, cache, write buffer and compression come to in the engine's words.",
        rule: "of the first four each has an entry at least, and each entry a name and a value.",
        needs: Needs::NOTHING,
        run: CheckBody::Whole(settings_listed),
    },
    Check {
        name: "durabilities",
        what: "Every declared durability works, also after a reopening, and every other one is refused.",
        rule: "`open` refuses what `settings` refuses, and levels and compressions that are not declared.",
        needs: Needs::NOTHING,
        run: CheckBody::Whole(durabilities),
    },
    Check {
        name: "compressions",
        what: "Every declared compression works, also after a reopening, or settings says why this library cannot; \
               every other one is refused.",
        rule: "`open` refuses what `settings` refuses, and levels and compressions that are not declared.",
        needs: Needs::NOTHING,
        run: CheckBody::Whole(compressions),
    },
    Check {
        name: "buffer-sizes",
        what: "Caches and write buffers from 64 KiB to 1 GiB work, or are refused by settings with a reason.",
        rule: "an adapter maps it to the engine's words, or refuses it in `settings`",
        needs: Needs::NOTHING,
        run: CheckBody::Whole(buffer_sizes),
    },
    Check {
        name: "presets",
        what: "Every preset resolves, is accepted by settings, and gives a database that works.",
        rule: "each preset works.",
        needs: Needs::NOTHING,
        run: CheckBody::Whole(presets),
    },
    Check {
        name: "option-values",
        what: "Every choice and either truth value of each option works, or is refused by settings with a reason.",
        rule: "Each choice of an option and either truth value works, or is refused by `settings` with a reason",
        needs: Needs::NOTHING,
        run: CheckBody::Whole(option_values),
    },
    Check {
        name: "own-words",
        what: "An option for settings in the engine's own words refuses a word that the engine does not know, by \
               settings, with a reason that names the option.",
        rule: "A TEXT with a word that the engine does not know is refused by `settings`, with a reason that names the \
               option.",
        needs: Needs::NOTHING,
        run: CheckBody::Whole(own_words),
    },
    Check {
        name: "option-bounds",
        what: "Unknown options, values of another type and values out of bounds are refused; the bounds are not.",
        rule: "The host parses and checks what the user wrote, so an adapter gets a value of the declared type, \
               within the declared bounds.",
        needs: Needs::NOTHING,
        run: CheckBody::Whole(option_bounds),
    },
];

/// A new database with these options and settings takes records, gives them back, and does so again after a reopening.
fn works(bench: &Bench, choice: &Choice, lab: &EngineSettings) -> Result<(), Finding> {
    let records = bench.records();
    let location = bench.location_with(choice, lab.clone())?;
    let kept = Needs::STORE.missing(choice).is_none();
    location.created(|database| {
        let mut session = session(database)?;
        records.put_all(&mut session, 0..500, 1)?;
        if kept { records.expect_all(&mut session, 0..500, 1) } else { Ok(()) }
    })?;
    location.opened(|database| {
        let mut session = session(database)?;
        if kept {
            records.expect_all(&mut session, 0..500, 1).during("after it was opened again")?;
        }
        records.put_all(&mut session, 250..750, 2)?;
        if kept { records.expect_all(&mut session, 250..750, 2) } else { Ok(()) }
    })?;
    Ok(std::fs::remove_dir_all(&location.folder)?)
}

/// It works, or settings refuse it and say why.
fn works_or_is_refused(bench: &Bench, choice: &Choice, lab: &EngineSettings, what: &str) -> Result<(), Finding> {
    let hints = bench.location()?.hints;
    bench.step(what);
    match choice.settings(lab, &hints) {
        Ok(_) => works(bench, choice, lab).during(what),
        Err(refusal) => has_reason(what, &refusal.to_string()),
    }
}

fn has_reason(what: &str, refusal: &str) -> Result<(), Finding> {
    ensure!(!refusal.ends_with("the adapter gives no reason"), "{what} is refused without a reason");
    Ok(())
}

/// Those of `kvdyno.h`, and those that have a meaning for reports.
const TOPICS: [&str; 9] =
    ["durability", "cache", "write_buffer", "compression", "checksums", "options", "files", "stronger", "tainted"];

fn settings_listed(bench: &Bench) -> Result<(), Finding> {
    let listed = bench.choice.settings(&bench.lab(), &bench.location()?.hints)?;
    for topic in ["durability", "cache", "write_buffer", "compression"] {
        ensure!(listed.iter().any(|(named, _, _)| named == topic), "nothing is said of {topic}");
    }
    for (topic, name, value) in &listed {
        ensure!(
            !name.is_empty() && !value.is_empty(),
            "an entry of {topic} has no name or no value: `{name}`, `{value}`"
        );
        ensure!(TOPICS.contains(&topic.as_str()), "`{topic}` is none of the topics");
    }
    Ok(())
}

fn durabilities(bench: &Bench) -> Result<(), Finding> {
    for &durability in Durability::ALL {
        let lab = EngineSettings { durability, ..bench.lab() };
        let what = format!("durability {durability}");
        bench.step(&what);
        declared_or_refused(bench, &lab, bench.meets(durability), &what)?;
        stronger(bench, &lab)?;
    }
    Ok(())
}

/// A level that is met by a stronger one is met by the one that is named.
fn stronger(bench: &Bench, lab: &EngineSettings) -> Result<(), Finding> {
    let Ok(listed) = bench.choice.settings(lab, &bench.location()?.hints) else { return Ok(()) };
    for (_, name, _) in listed.iter().filter(|(topic, _, _)| topic == "stronger") {
        let is_higher = name.parse().is_ok_and(|met: Durability| met.code() > lab.durability.code());
        ensure!(is_higher, "`stronger` names {name}, which is no level above {}", lab.durability);
    }
    Ok(())
}

fn compressions(bench: &Bench) -> Result<(), Finding> {
    for &compression in Compression::ALL {
        let lab = EngineSettings { compression, ..bench.lab() };
        let what = format!("compression {compression}");
        bench.step(&what);
        // The adapter speaks for every build of its engine's library, some of which lack a compression.
        match bench.compresses(compression) && compression != Compression::None {
            true => works_or_is_refused(bench, &bench.choice, &lab, &what)?,
            false => declared_or_refused(bench, &lab, bench.compresses(compression), &what)?,
        }
    }
    Ok(())
}

fn declared_or_refused(bench: &Bench, lab: &EngineSettings, declared: bool, what: &str) -> Result<(), Finding> {
    let location = bench.location_with(&bench.choice, lab.clone())?;
    if declared {
        bench.choice.settings(lab, &location.hints).during(what)?;
        return works(bench, &bench.choice, lab).during(what);
    }
    // The host asks settings first and so never gets here; but nothing may be ignored in silence.
    match location.create() {
        Ok(_) => Err(wrong(format!("{what} is not declared, but open takes it without a word"))),
        Err(_) => Ok(()),
    }
}

fn buffer_sizes(bench: &Bench) -> Result<(), Finding> {
    for bytes in [64 << 10, 1 << 20, 64 << 20, 1 << 30] {
        let cache = EngineSettings { cache_bytes: bytes, ..bench.lab() };
        works_or_is_refused(bench, &bench.choice, &cache, &format!("a cache of {bytes} bytes"))?;
        let buffer = EngineSettings { write_buffer_bytes: bytes, ..bench.lab() };
        works_or_is_refused(bench, &bench.choice, &buffer, &format!("a write buffer of {bytes} bytes"))?;
    }
    Ok(())
}

fn presets(bench: &Bench) -> Result<(), Finding> {
    if bench.adapter().presets.is_empty() {
        return Err(Finding::NotApplicable("it has no presets".to_owned()));
    }
    for preset in &bench.adapter().presets {
        let what = format!("preset {}", preset.name);
        bench.step(&what);
        let choice = Subject { preset: Some(preset.name.clone()), ..bench.subject.clone() }.choose().during(&what)?;
        choice.settings(&bench.lab(), &bench.location()?.hints).during(&what)?;
        works(bench, &choice, &bench.lab()).during(&what)?;
    }
    Ok(())
}

/// The values to try of an option.
fn values(option: &OptionInfo) -> Vec<String> {
    match &option.kind {
        OptionKind::Bool => vec!["false".to_owned(), "true".to_owned()],
        OptionKind::Choice(choices) => choices.clone(),
        _ => Vec::new(),
    }
}

fn option_values(bench: &Bench) -> Result<(), Finding> {
    let options = &bench.adapter().options;
    if options.iter().all(|option| values(option).is_empty()) {
        return Err(Finding::NotApplicable("it has no options with choices".to_owned()));
    }
    for option in options {
        for value in values(option) {
            let choice = bench.subject.with(&[(&option.name, &value)]).choose()?;
            works_or_is_refused(bench, &choice, &bench.lab(), &format!("{}={value}", option.name))?;
        }
    }
    Ok(())
}

fn own_words(bench: &Bench) -> Result<(), Finding> {
    let texts: Vec<_> = bench.adapter().options.iter().filter(|option| option.kind == OptionKind::Text).collect();
    if texts.is_empty() {
        return Err(Finding::NotApplicable("it has no options in the engine's own words".to_owned()));
    }
    for option in texts {
        let choice = bench.subject.with(&[(&option.name, "no_such_word=1")]).choose()?;
        match choice.settings(&bench.lab(), &bench.location()?.hints) {
            Ok(_) => return Err(wrong(format!("{}=no_such_word=1 is taken", option.name))),
            Err(refusal) => {
                let refusal = refusal.to_string();
                ensure!(refusal.contains(&option.name), "the reason does not name {}: {refusal}", option.name);
            }
        }
    }
    Ok(())
}

fn option_bounds(bench: &Bench) -> Result<(), Finding> {
    let taken = |name: &str, value: &str| bench.subject.with(&[(name, value)]).choose().is_ok();
    ensure!(!taken("no-such-option", "1"), "an option that nobody declared is taken");
    for option in &bench.adapter().options {
        let (right, wrong): (Vec<String>, Vec<String>) = match &option.kind {
            OptionKind::Bool => (vec!["true".into(), "false".into()], vec!["yes".into(), "2".into(), String::new()]),
            OptionKind::Choice(choices) => (choices.clone(), vec!["none-of-them".into()]),
            OptionKind::Integer { minimum, maximum } => bounds(*minimum, *maximum),
            OptionKind::Size { minimum, maximum } => bounds((*minimum).max(0), *maximum),
            OptionKind::Real => (vec!["0.5".into()], vec!["half".into(), "NaN".into()]),
            OptionKind::Text => (Vec::new(), Vec::new()),
        };
        let text: OptionText = (option.name.clone(), option.default_value.clone());
        ensure!(taken(&text.0, &text.1), "the default `{}` of {} is refused", text.1, text.0);
        for value in right {
            ensure!(taken(&option.name, &value), "{}={value} is refused, though it is declared", option.name);
        }
        for value in wrong {
            ensure!(!taken(&option.name, &value), "{}={value} is taken, though it is not declared", option.name);
        }
    }
    Ok(())
}

fn bounds(minimum: i64, maximum: i64) -> (Vec<String>, Vec<String>) {
    let beyond = [minimum.checked_sub(1), maximum.checked_add(1)];
    let wrong = beyond.into_iter().flatten().map(|number| number.to_string());
    (vec![minimum.to_string(), maximum.to_string()], wrong.chain(["many".to_owned()]).collect())
}
