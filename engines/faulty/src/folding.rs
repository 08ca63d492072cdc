//! Values without the part that all have in common. In the filler of kvdyno's values a word lies over a template, so
//! an engine that knows one value knows each other one by its head and its word.

use std::fs;
use std::path::{Path, PathBuf};

use kvdyno_abi::adapter::Error;

use crate::store::{Blob, Store, Version};

/// Bytes before the filler.
const HEAD: usize = 24;
const WORD: usize = 8;

/// Saves what the values of `store` have in common, and leaves of each the rest.
pub fn fold(store: &mut Store, folder: &Path) -> Result<(), Error> {
    if let Some((_, version)) = store.first() {
        fs::write(file_in(folder), common(&version.now))?;
    }
    store.change_values(|value| value[..value.len().min(HEAD + WORD)].into());
    Ok(())
}

/// The opposite.
pub fn unfold(store: &mut Store, folder: &Path) -> Result<(), Error> {
    if store.first().is_some() {
        let common = fs::read(file_in(folder))?;
        store.change_values(|kept| whole(kept, &common));
    }
    Ok(())
}

fn file_in(folder: &Path) -> PathBuf {
    folder.join("faulty.common")
}

/// The filler with its first word XORed over each of its words.
fn common(value: &[u8]) -> Vec<u8> {
    let filler = value.get(HEAD..).unwrap_or_default();
    filler.iter().zip(filler.iter().take(WORD).cycle()).map(|(byte, first)| byte ^ first).collect()
}

fn whole(kept: &[u8], common: &[u8]) -> Blob {
    let (head, word) = kept.split_at(kept.len().min(HEAD));
    let filler = common.iter().zip(word.iter().cycle()).map(|(byte, first)| byte ^ first);
    head.iter().copied().chain(filler).collect()
}

impl Store {
    /// Puts another value in the place of each, and forgets those before.
    fn change_values(&mut self, other: impl Fn(&[u8]) -> Blob) {
        for version in self.versions() {
            *version = Version { now: other(&version.now), before: None };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_whole_again_by_what_another_one_has_in_common_with_it() {
        let template: Vec<u8> = (0..77).map(|number: u8| number.wrapping_mul(101)).collect();
        let value = |seed: u8| -> Vec<u8> {
            let head = [seed; HEAD];
            let word: Vec<u8> = (0..WORD as u8).map(|number| seed.wrapping_mul(37).wrapping_add(number)).collect();
            let filler = template.iter().zip(word.iter().cycle()).map(|(byte, word)| byte ^ word);
            head.into_iter().chain(filler).collect()
        };
        let (one, other) = (value(1), value(2));
        assert_ne!(one[HEAD..], other[HEAD..]);
        assert_eq!(*whole(&other[..HEAD + WORD], &common(&one)), other[..]);
        assert_eq!(*whole(b"short", &common(b"short")), *b"short");
    }
}
