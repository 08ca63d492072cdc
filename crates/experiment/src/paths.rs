//! Paths in an experiment file: they lie beside the file.

use std::path::Path;

use kvdyno_model::FilePath;
use toml::{Table, Value};

use crate::experiment::Experiment;
use crate::sections::EngineKey;

impl Experiment {
    /// Makes paths of adapters, libraries and folders independent of the working folder.
    pub fn make_paths_absolute(&mut self, base: &Path) {
        let absolute = |path: &Path| FilePath(base.join(path));
        // An engine that is named by its path: where it lies is said by its section, so that its name may change.
        for name in self.engines.iter().filter(|name| is_path(name)) {
            let section = self.engine.entry(name.clone()).or_default();
            section.engine.get_or_insert_with(|| name.clone());
        }
        for section in self.engine.values_mut() {
            if let Some(engine) = section.engine.as_mut().filter(|engine| is_path(engine)) {
                *engine = base.join(&*engine).to_string_lossy().into_owned();
            }
            section.library = section.library.as_deref().map(absolute);
        }
        self.lab.dir = self.lab.dir.as_deref().map(absolute);
        self.environment.device = self.environment.device.as_deref().map(absolute);
        let engines = self.variant.iter_mut().filter_map(|variant| variant.get_mut("engine")?.as_table_mut());
        for section in engines.flat_map(|engines| engines.iter_mut()).filter_map(|(_, section)| section.as_table_mut())
        {
            make_absolute(section, EngineKey::Engine, is_path, base);
            make_absolute(section, EngineKey::Library, |_| true, base);
        }
    }
}

/// The text of `key`, if it is a path.
fn make_absolute(section: &mut Table, key: EngineKey, is_path: fn(&str) -> bool, base: &Path) {
    if let Some(Value::String(path)) = section.get_mut(key.name())
        && is_path(path)
    {
        *path = base.join(&*path).to_string_lossy().into_owned();
    }
}

fn is_path(engine: &str) -> bool {
    engine.contains('/') || engine.ends_with(".so")
}
