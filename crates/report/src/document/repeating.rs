//! The commands of a shell that a report prints: files of this machine in them, and the one that needs none.

use std::path::Path;

use shlex::Quoter;

/// A file or folder as a word of a command, which holds in any folder of this machine.
pub(crate) fn command_word(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = whole.to_string_lossy();
    // No path has a zero byte in it, which is all that could not be quoted.
    Quoter::new().allow_nul(true).quote(&name).map_or_else(|_| name.to_string(), String::from)
}

/// The command that gives `kvdyno run`, with some flags, the text of an experiment; empty if there is none. Nothing in
/// the text means anything to the shell: the word that ends it is quoted, and no line of it.
pub(crate) fn command(experiment: &str, flags: &[&str]) -> String {
    if experiment.is_empty() {
        return String::new();
    }
    let mut end = "END".to_owned();
    while experiment.lines().any(|line| line == end) {
        end.push('_');
    }
    let newline = if experiment.ends_with('\n') { "" } else { "\n" };
    let run = [&["kvdyno run /dev/stdin"], flags].concat().join(" ");
    format!("{run} <<'{end}'\n{experiment}{newline}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_path_as_one_word() {
        assert_eq!(command_word(Path::new("/nowhere/demo-1/experiment.toml")), "/nowhere/demo-1/experiment.toml");
        for name in ["/no where/$a", "/it's;here"] {
            assert_eq!(shlex::split(&format!("kvdyno diff {}", command_word(Path::new(name)))).unwrap()[2], name);
        }
    }

    #[test]
    fn the_word_that_ends_the_text_is_none_of_its_lines() {
        assert_eq!(command("", &[]), "");
        assert_eq!(command("a = 1\n", &["--out", "b"]), "kvdyno run /dev/stdin --out b <<'END'\na = 1\nEND");
        assert_eq!(
            command("a = \"\"\"\nEND\nEND_\n\"\"\"", &[]),
            "kvdyno run /dev/stdin <<'END__'\na = \"\"\"\nEND\nEND_\n\"\"\"\nEND__"
        );
    }
}
