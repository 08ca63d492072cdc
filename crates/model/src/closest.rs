//! The word that a misspelt one most likely meant.

/// The candidate that a misspelt word most likely meant: one that is near enough, or else one that is at least the
/// first half of the word, such as `zipf` for `zipfian`.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let near = candidates
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(word.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate);
    let begins = |candidate: &&str| word.starts_with(candidate) && 2 * candidate.len() >= word.len();
    near.or_else(|| candidates.into_iter().filter(begins).max_by_key(|candidate| candidate.len()))
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
        assert_eq!(closest("zipfian", ["uniform", "zipf", "zipf-ordered"]), Some("zipf"));
        assert_eq!(closest("get_everything", ["get"]), None);
        assert_eq!(closest("postgres", ["lmdb", "rocksdb"]), None);
        assert_eq!(either(&["a", "b", "c"]), "a, b or c");
    }
}
