//! Source text of Rust, C, C++ and Go, taken apart as far as a vocabulary needs it: identifiers, comments and the types
//! that are defined. Strings and characters are neither.

#![allow(clippy::unwrap_used, reason = "what is taken apart is not empty")]

use crate::repository::File;

/// A piece of source.
#[derive(Debug, PartialEq)]
pub enum Token<'a> {
    /// A name.
    Identifier {
        /// Itself.
        text: &'a str,
        /// Its line, from 1.
        line: usize,
        /// Whether it is the name of a test, which is a sentence.
        is_sentence: bool,
    },
    /// A line of a comment, its marks included.
    Comment {
        /// Itself.
        text: &'a str,
        /// Its line, from 1.
        line: usize,
    },
}

/// The identifiers and comments of `file`, in order.
pub fn tokens(file: &File) -> Vec<Token<'_>> {
    let mut reader =
        SourceReader { text: &file.text, at: 0, line: 1, is_rust: file.is_any_of(&["rs"]), tokens: Vec::new() };
    while reader.at < reader.text.len() {
        reader.piece();
    }
    mark_sentences(&mut reader.tokens);
    reader.tokens
}

/// The name of a function that follows `#[test]` is a sentence.
fn mark_sentences(tokens: &mut [Token<'_>]) {
    let mut after_test = false;
    let mut after_fn = false;
    for token in tokens {
        let Token::Identifier { text, is_sentence, .. } = token else { continue };
        *is_sentence = after_test && after_fn;
        after_test = *text == "test" || (after_test && !*is_sentence);
        after_fn = *text == "fn";
    }
}

struct SourceReader<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    is_rust: bool,
    tokens: Vec<Token<'a>>,
}

impl<'a> SourceReader<'a> {
    fn piece(&mut self) {
        let rest = &self.text[self.at..];
        let first = rest.chars().next().unwrap();
        if rest.starts_with("//") {
            self.comment(rest.find('\n').unwrap_or(rest.len()));
        } else if rest.starts_with("/*") {
            self.comment(rest.find("*/").map_or(rest.len(), |end| end + 2));
        } else if let Some(length) = self.string(rest) {
            self.skip(length);
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            self.tokens.push(Token::Identifier { text: &rest[..length], line: self.line, is_sentence: false });
            self.skip(length);
        } else if first.is_ascii_digit() {
            self.skip(rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len()));
        } else {
            self.skip(first.len_utf8());
        }
    }

    fn comment(&mut self, length: usize) {
        let text = &self.text[self.at..self.at + length];
        let lines = text.lines().enumerate();
        self.tokens.extend(lines.map(|(index, text)| Token::Comment { text, line: self.line + index }));
        self.skip(length);
    }

    /// The length of the string or character that `rest` begins with.
    fn string(&self, rest: &str) -> Option<usize> {
        if self.is_rust {
            let raw = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r'));
            let hashes = raw.map_or(0, |raw| raw.len() - raw.trim_start_matches('#').len());
            if let Some(inside) = raw.and_then(|raw| raw[hashes..].strip_prefix('"')) {
                let end = format!("\"{}", "#".repeat(hashes));
                return Some(rest.len() - inside.len() + inside.find(&end).map_or(inside.len(), |at| at + end.len()));
            }
        }
        match rest.as_bytes()[0] {
            b'"' => Some(escaped(rest, b'"')),
            b'`' if !self.is_rust => Some(rest[1..].find('`').map_or(rest.len(), |end| end + 2)),
            b'\'' if !self.is_rust || is_character(rest) => Some(escaped(rest, b'\'')),
            _ => None,
        }
    }

    fn skip(&mut self, length: usize) {
        self.line += self.text[self.at..self.at + length].matches('\n').count();
        self.at += length;
    }
}

/// Whether a quote begins a character rather than a lifetime.
fn is_character(rest: &str) -> bool {
    let mut inside = rest.chars().skip(1);
    inside.next() == Some('\\') || inside.next() == Some('\'')
}

/// The length of what stands between two `quote`s, both included; a backslash takes the byte after it.
fn escaped(rest: &str, quote: u8) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// The words of an identifier or a path, in lower case: `WorkerProcess`, `worker_process` and `worker-process` have
/// two.
pub fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase()) {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().unwrap().extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The types that a file of Rust defines, with their lines: structs, enums, unions, traits and aliases. Types that
/// belong to a trait or an implementation, and those of `mod tests`, are not among them.
pub fn types(file: &File) -> Vec<(usize, &str)> {
    let mut types = Vec::new();
    for (line, text) in file.lines().take_while(|(_, text)| *text != "mod tests {") {
        let inside = text.trim_start();
        let public = inside.strip_prefix("pub").map_or(inside, |rest| match rest.strip_prefix('(') {
            Some(scope) => scope.split_once(") ").map_or(inside, |(_, rest)| rest),
            None => rest.trim_start(),
        });
        let (kind, rest) = public.trim_start_matches("unsafe ").split_once(' ').unwrap_or_default();
        let is_alias = kind == "type" && inside == text;
        if is_alias || ["struct", "enum", "union", "trait"].contains(&kind) {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            types.push((line, &rest[..end]));
        }
    }
    types
}
