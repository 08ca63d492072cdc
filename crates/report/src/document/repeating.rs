//! The command of a shell that repeats an experiment and needs no file.

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
    fn the_word_that_ends_the_text_is_none_of_its_lines() {
        assert_eq!(command("", &[]), "");
        assert_eq!(command("a = 1\n", &["--out", "b"]), "kvdyno run /dev/stdin --out b <<'END'\na = 1\nEND");
        assert_eq!(
            command("a = \"\"\"\nEND\nEND_\n\"\"\"", &[]),
            "kvdyno run /dev/stdin <<'END__'\na = \"\"\"\nEND\nEND_\n\"\"\"\nEND__"
        );
    }
}
