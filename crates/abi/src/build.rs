//! For the build script of an adapter whose engine is a crate.

use std::fs;

/// Gives the adapter `env!("ENGINE_VERSION")`: the version of the crate `engine` that its Cargo.lock pins.
///
/// ```no_run
/// fn main() -> Result<(), String> {
///     kvdyno_abi::build::engine_version("redb")
/// }
/// ```
///
/// # Errors
/// If there is no Cargo.lock beside the adapter's Cargo.toml, or it does not pin one version.
#[allow(clippy::print_stdout, reason = "this is how a build script talks to cargo")]
pub fn engine_version(engine: &str) -> Result<(), String> {
    let lock = fs::read_to_string("Cargo.lock").map_err(|error| format!("Cargo.lock: {error}"))?;
    let mut versions = locked_versions(&lock, engine);
    match (versions.next(), versions.next()) {
        (Some(version), None) => {
            println!("cargo::rustc-env=ENGINE_VERSION={version}");
            println!("cargo::rerun-if-changed=Cargo.lock");
            Ok(())
        }
        (None, _) => Err(format!("Cargo.lock pins no {engine}")),
        (Some(one), Some(other)) => Err(format!("Cargo.lock pins {engine} {one} and {other}")),
    }
}

fn locked_versions<'a>(lock: &'a str, engine: &'a str) -> impl Iterator<Item = &'a str> {
    lock.split("[[package]]").filter_map(move |package| {
        let field = |name: &str| {
            let mut lines = package.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""));
            lines.next()?.strip_suffix('"')
        };
        (field("name")? == engine).then(|| field("version")).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"redb\"\nversion = \"4.5.0\"\nsource = \"registry\"\n\n\
                        [[package]]\nname = \"redb-derive\"\nversion = \"0.2.0\"\n\n\
                        [[package]]\nname = \"twice\"\nversion = \"1.0.0\"\n\n\
                        [[package]]\nname = \"twice\"\nversion = \"2.0.0\"\n";

    #[test]
    fn the_version_is_that_of_the_crate_and_of_no_other() {
        let versions = |engine| locked_versions(LOCK, engine).collect::<Vec<_>>();
        assert_eq!(versions("redb"), ["4.5.0"]);
        assert_eq!(versions("twice"), ["1.0.0", "2.0.0"]);
        assert!(versions("db").is_empty());
    }
}
