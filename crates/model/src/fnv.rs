//! A hash that tells texts apart: against mistakes, not against forgery.

/// FNV-1a of 64 bits (Fowler, Noll, Vo).
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, fold)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the draft of the IETF on it.
    #[test]
    fn it_is_the_published_hash() {
        assert_eq!(fnv1a(*b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(*b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(*b"foobar"), 0x8594_4171_f739_67e8);
    }
}
