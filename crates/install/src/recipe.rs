//! Recipes: `engines/NAME/recipe.toml`.

use std::path::{Path, PathBuf};

use kvdyno_model::did_you_mean;
use serde::Deserialize;

use crate::sources;

/// Any version, that of the user's own build.
const OWN: &str = "own";

/// Instructions for installing an engine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The engine's name, which is its folder's.
    #[serde(skip)]
    pub name: String,
    /// The version that is brought if none is named.
    pub default: Option<String>,
    /// Versions with their checksums.
    #[serde(default, rename = "version")]
    pub versions: Vec<EngineVersion>,
    /// Instructions for any other version, without a checksum known beforehand.
    pub any: Option<Any>,
    /// An engine that no registry has.
    pub manual: Option<Manual>,
}

/// One version of an engine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineVersion {
    /// The engine's version; `system` for the distribution's.
    pub version: String,
    /// The client that fetches it.
    pub client: PackageClient,
    /// The package's name: for Maven `group:artifact`, for apt one or several.
    pub package: String,
    /// The package's version, where it is not the engine's.
    pub package_version: Option<String>,
    /// SHA-256 of the archive that the client fetches.
    pub sha256: Option<String>,
    /// Commands that the build calls.
    #[serde(default)]
    pub needs: Vec<String>,
    /// A script in the engine's folder that builds it.
    pub build: Option<String>,
    /// The file of the archive that is the library, where nothing is to be built.
    pub extract: Option<String>,
    /// The library that the build leaves.
    pub library: Option<String>,
    /// A folder of the user's with the engine's headers and library, where nothing is fetched.
    #[serde(skip)]
    pub prefix: Option<PathBuf>,
}

/// [`Recipe::any`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Any {
    /// The client that fetches it.
    pub client: PackageClient,
    /// The package.
    pub package: String,
    /// As in [`EngineVersion::extract`].
    pub extract: String,
}

/// Instructions for people, for an engine that no registry has.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manual {
    /// The page that tells it.
    pub page: String,
    /// It in a line.
    pub hint: String,
    /// A script that builds the adapter against the headers and the library that the user names (`--library PREFIX`).
    pub build: Option<String>,
    /// Commands that the script calls.
    #[serde(default)]
    pub needs: Vec<String>,
}

kvdyno_model::words! {
    /// A package client.
    #[allow(missing_docs)]
    pub enum PackageClient: "a package client", "CLIENT" {
        Apt = "apt",
        Cargo = "cargo",
        Go = "go",
        Maven = "maven",
        Npm = "npm",
        Pip = "pip",
        /// None: the user has it.
        None = "nobody",
    }
}

/// Why there is no such recipe.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum RecipeError {
    #[error(
        "there is no recipe for `{name}`{}; recipes are there for {}",
        did_you_mean(.name, .known), .known.join(", ")
    )]
    Unknown { name: String, known: Vec<String> },
    #[error("there is no recipe for {name} {version}; there is one for {}", .known.join(", "))]
    Version { name: String, version: String, known: Vec<String> },
    #[error("{name} is in no registry: {hint} (see {page})")]
    Manual { name: String, hint: String, page: String },
    #[error("engines/{name}/recipe.toml: {reason}")]
    Text { name: String, reason: String },
}

/// Every recipe, by name.
///
/// # Errors
/// [`RecipeError::Text`] if one cannot be read, which is a mistake in this program.
pub fn recipes() -> Result<Vec<Recipe>, RecipeError> {
    sources::recipes().into_iter().map(|(name, text)| parse(&name, &text)).collect()
}

/// The recipe of one engine.
///
/// # Errors
/// If there is none.
pub fn recipe(name: &str) -> Result<Recipe, RecipeError> {
    let all = recipes()?;
    let known: Vec<String> = all.iter().map(|recipe| recipe.name.clone()).collect();
    all.into_iter()
        .find(|recipe| recipe.name == name)
        .ok_or_else(|| RecipeError::Unknown { name: name.to_owned(), known })
}

fn parse(name: &str, text: &str) -> Result<Recipe, RecipeError> {
    let wrong = |reason: String| RecipeError::Text { name: name.to_owned(), reason };
    let mut recipe: Recipe = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
    recipe.name = name.to_owned();
    for version in &recipe.versions {
        let hex = |sum: &String| sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !version.sha256.as_ref().is_none_or(hex) {
            return Err(wrong(format!("version {}: sha256 is not of 64 hexadecimal digits", version.version)));
        }
        if version.client != PackageClient::Apt && version.build.is_none() && version.extract.is_none() {
            return Err(wrong(format!("version {}: neither build nor extract", version.version)));
        }
    }
    let has = |wanted: &String| recipe.versions.iter().any(|version| version.version == *wanted);
    match &recipe.default {
        Some(default) if !has(default) => Err(wrong(format!("the default {default} is none of the versions"))),
        None if recipe.manual.is_none() => Err(wrong("it has neither a default version nor [manual]".to_owned())),
        _ => Ok(recipe),
    }
}

impl Recipe {
    /// One of its versions, or the default one.
    ///
    /// # Errors
    /// If it has none such.
    pub fn version(&self, wanted: Option<&str>) -> Result<EngineVersion, RecipeError> {
        let Some(wanted) = wanted.or(self.default.as_deref()) else {
            let manual = self.manual.clone().unwrap_or(Manual {
                page: String::new(),
                hint: String::new(),
                build: None,
                needs: Vec::new(),
            });
            return Err(RecipeError::Manual { name: self.name.clone(), hint: manual.hint, page: manual.page });
        };
        if let Some(version) = self.versions.iter().find(|version| version.version == wanted) {
            return Ok(version.clone());
        }
        let looks_right = wanted.starts_with(|first: char| first.is_ascii_digit())
            && wanted.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+_".contains(&byte));
        match &self.any {
            Some(any) if looks_right => Ok(EngineVersion {
                version: wanted.to_owned(),
                client: any.client,
                package: any.package.clone(),
                package_version: None,
                sha256: None,
                needs: Vec::new(),
                build: None,
                extract: Some(any.extract.clone()),
                library: None,
                prefix: None,
            }),
            _ => Err(RecipeError::Version {
                name: self.name.clone(),
                version: wanted.to_owned(),
                known: self.versions.iter().map(|version| version.version.clone()).collect(),
            }),
        }
    }

    /// The version that is built against what the user has in `prefix`; `None` if this engine's adapter is not built
    /// so.
    pub fn own(&self, prefix: &Path) -> Option<EngineVersion> {
        let manual = self.manual.as_ref()?;
        Some(EngineVersion {
            version: OWN.to_owned(),
            client: PackageClient::None,
            package: prefix.display().to_string(),
            package_version: None,
            sha256: None,
            needs: manual.needs.clone(),
            build: Some(manual.build.clone()?),
            extract: None,
            library: None,
            prefix: Some(prefix.to_owned()),
        })
    }
}

impl EngineVersion {
    /// Whether it is the distribution's package, which has one version and is not kvdyno's.
    pub fn is_system(&self) -> bool {
        self.client == PackageClient::Apt
    }

    /// The package's version.
    pub fn package_version(&self) -> &str {
        self.package_version.as_deref().unwrap_or(&self.version)
    }

    /// Its source: `npm leveldown-hyper 2.0.0`.
    pub fn source(&self) -> String {
        match self.client {
            PackageClient::Apt => format!("{} {}", self.client, self.package),
            PackageClient::None => self.package.clone(),
            _ => format!("{} {} {}", self.client, self.package, self.package_version()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        default = "1.0.2"
        [[version]]
        version = "1.0.2"
        client = "npm"
        package = "leveldown-hyper"
        package_version = "2.0.0"
        build = "build.sh"
        [any]
        client = "maven"
        package = "a:b"
        extract = "x.so"
    "#;

    #[test]
    fn the_default_a_pinned_and_any_other_version_can_be_had() {
        let recipe = parse("x", TEXT).unwrap();
        assert_eq!(recipe.version(None).unwrap().source(), "npm leveldown-hyper 2.0.0");
        assert_eq!(recipe.version(Some("7.1")).unwrap().source(), "maven a:b 7.1");
        for odd in ["../etc", "", "a b", "latest", "-x"] {
            assert!(recipe.version(Some(odd)).is_err(), "{odd}");
        }
    }

    #[test]
    fn a_recipe_that_does_not_fit_together_is_refused() {
        for (text, reason) in [
            (TEXT.replacen("1.0.2", "1.0.3", 1), "none of the versions"),
            (TEXT.replace("build = \"build.sh\"", ""), "neither build nor extract"),
            (TEXT.replace("client = \"npm\"", "client = \"npm\"\nsha256 = \"12\""), "64 hexadecimal digits"),
            (TEXT.replace("package_version", "packageversion"), "unknown field"),
            (String::new(), "neither a default version"),
        ] {
            let error = parse("x", &text).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn every_recipe_of_ours_can_be_read_and_names_a_script_that_is_there() {
        for recipe in recipes().unwrap() {
            for version in &recipe.versions {
                if let Some(build) = &version.build {
                    assert!(sources::has(&recipe.name, build), "{} {build}", recipe.name);
                }
                let pinned = version.sha256.is_some() || sources::pins(&recipe.name) || version.is_system();
                assert!(pinned, "{} {} has no checksum", recipe.name, version.version);
            }
        }
    }

    #[test]
    fn an_unknown_engine_is_named_with_what_was_meant() {
        let error = recipe("lmbd").unwrap_err().to_string();
        assert!(error.contains("did you mean `lmdb`?"), "{error}");
    }
}
