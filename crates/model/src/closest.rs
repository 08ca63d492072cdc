//! The word that a misspelt one most likely meant.

/// The candidate that a misspelt word most likely meant, if one is near enough.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(word.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `; did you mean `rocksdb`?`, or nothing.
pub fn did_you_mean<'a, T: AsRef<str> + ?Sized + 'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a T>,
) -> String {
    closest(word, candidates.into_iter().map(AsRef::as_ref))
        .map(|meant| format!("; did you mean `{meant}`?"))
        .unwrap_or_default()
}

/// `a, b or c`.
pub fn either(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_finds_its_neighbour_and_a_stranger_none() {
        assert_eq!(closest("rocksbd", ["lmdb", "rocksdb"]), Some("rocksdb"));
        assert_eq!(closest("lmbd", ["lmdb", "rocksdb"]), Some("lmdb"));
        assert_eq!(closest("postgres", ["lmdb", "rocksdb"]), None);
        assert_eq!(either(&["a", "b", "c"]), "a, b or c");
    }
}
