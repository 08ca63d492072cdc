//! Paths in an experiment file: they lie beside the file.

use std::path::Path;

use toml::{Spanned, Table, Value};

use crate::experiment::Experiment;

impl Experiment {
    /// Makes paths of adapters, libraries and folders independent of the working folder.
    pub fn make_paths_absolute(&mut self, base: &Path) {
        let absolute = |path: &Path| base.join(path);
        // An engine that is named by its path keeps that name in reports; where it lies is said by its section.
        for name in &self.engines {
            if is_path(name.get_ref()) {
                let section = self.engine.entry(name.get_ref().clone()).or_default();
                section.is.get_or_insert_with(|| Spanned::new(name.span(), name.get_ref().clone()));
            }
        }
        for section in self.engine.values_mut() {
            if let Some(is) = section.is.as_mut().filter(|is| is_path(is.get_ref())) {
                *is.get_mut() = absolute(Path::new(is.get_ref())).to_string_lossy().into_owned();
            }
            section.library = section.library.as_deref().map(absolute);
        }
        self.lab.dir = self.lab.dir.as_deref().map(absolute);
        if let Some(device) = &mut self.environment.device {
            *device.get_mut() = absolute(device.get_ref());
        }
        let variants = self.variant.iter_mut().map(Spanned::get_mut);
        let engines = variants.filter_map(|variant| variant.get_mut("engine")?.as_table_mut());
        for section in engines.flat_map(|engines| engines.iter_mut()).filter_map(|(_, section)| section.as_table_mut())
        {
            make_absolute(section, "is", is_path, base);
            make_absolute(section, "library", |_| true, base);
        }
    }
}

/// The text of `key`, if it is a path.
fn make_absolute(section: &mut Table, key: &str, is_path: fn(&str) -> bool, base: &Path) {
    if let Some(Value::String(path)) = section.get_mut(key)
        && is_path(path)
    {
        *path = base.join(&*path).to_string_lossy().into_owned();
    }
}

fn is_path(engine: &str) -> bool {
    engine.contains('/') || engine.ends_with(".so")
}
