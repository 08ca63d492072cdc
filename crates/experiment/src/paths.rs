//! Paths in an experiment file are relative to the file.

use std::path::Path;

use kvdyno_model::{EngineName, FilePath, KeyPath};
use toml::{Table, Value};

use crate::experiment::Experiment;
use crate::file_error::FileError;
use crate::sections::{DataKey, EngineKey};
use crate::value_size::ValueSize;

impl Experiment {
    /// Makes paths of adapters, libraries and folders independent of the working folder.
    pub fn make_paths_absolute(&mut self, base: &Path) {
        let absolute = |path: &Path| FilePath(base.join(path));
        // An engine that is named by a path: where it lies is said by its section, so that its name may change.
        for name in self.engines.iter().filter(|name| has_path(name)) {
            let section = self.engine.entry(name.clone()).or_default();
            section.engine.get_or_insert_with(|| name.clone());
        }
        for section in self.engine.values_mut() {
            section.engine = section.engine.as_deref().map(|engine| below(engine, base));
            section.library = section.library.as_deref().map(absolute);
        }
        self.lab.dir = self.lab.dir.as_deref().map(absolute);
        self.environment.device = self.environment.device.as_deref().map(absolute);
        let engines = self.variant.iter_mut().filter_map(|variant| variant.get_mut("engine")?.as_table_mut());
        for section in engines.flat_map(|engines| engines.iter_mut()).filter_map(|(_, section)| section.as_table_mut())
        {
            make_absolute(section, EngineKey::Engine, below, base);
            make_absolute(
                section,
                EngineKey::Library,
                |path, base| base.join(path).to_string_lossy().into_owned(),
                base,
            );
        }
    }
}

impl Experiment {
    /// Takes histograms out of their files, which lie below `base`, so that the experiment needs them no more.
    ///
    /// # Errors
    /// If one cannot be read, or is none.
    pub fn read_histograms(&mut self, base: &Path) -> Result<(), FileError> {
        if let Some(size) = self.data.value_size.take() {
            let read = size.with_file(base).map_err(|error| FileError::at(DataKey::ValueSize, error))?;
            self.data.value_size = Some(read);
        }
        for (index, variant) in self.variant.iter_mut().enumerate() {
            let data = variant.get_mut("data").and_then(Value::as_table_mut);
            let Some(Value::String(text)) = data.and_then(|data| data.get_mut(DataKey::ValueSize.name())) else {
                continue;
            };
            // An invalid size is reported where variants are read.
            let Ok(size @ ValueSize::File(_)) = text.parse::<ValueSize>() else { continue };
            let key = KeyPath::from(DataKey::ValueSize).in_variant(index);
            *text = size.with_file(base).map_err(|error| FileError::at(key, error))?.to_string();
        }
        Ok(())
    }
}

/// The text of `key`, if there is one.
fn make_absolute(section: &mut Table, key: EngineKey, absolute: fn(&str, &Path) -> String, base: &Path) {
    if let Some(Value::String(text)) = section.get_mut(key.name()) {
        *text = absolute(text, base);
    }
}

/// An engine whose adapter or library is named by its path.
fn has_path(engine: &str) -> bool {
    let name = EngineName::parse(engine);
    name.is_path() || name.library().is_some()
}

fn below(engine: &str, base: &Path) -> String {
    EngineName::parse(engine).below(base).to_string()
}
