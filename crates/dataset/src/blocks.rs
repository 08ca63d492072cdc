//! Sixteen bytes at a time: the few operations of the measured loop.
//!
//! On x86-64 by AVX2 where the processor has it, else by SSE2, which every such processor has; elsewhere by pairs of
//! words. All give the same bytes.

/// Bytes of a block.
pub(crate) const BLOCK: usize = 16;
/// Bytes of a wide block.
pub(crate) const WIDE: usize = 32;

/// Sizes of three wide blocks of which the last may overlap the second: those of the usual values of 100 bytes. Without
/// a loop they take half of the instructions.
pub(crate) const THREE_WIDE: std::ops::RangeInclusive<usize> = 2 * WIDE..=3 * WIDE;

/// Whether the processor has wide blocks, so that [`is_masked_wide`] and [`mask_wide`] can be called.
pub(crate) fn has_wide() -> bool {
    imp::has_wide()
}

/// [`is_masked`] of `size` bytes, without asking for the processor and the size each time; compiled into a caller that
/// has wide blocks too. `THREE`: the size is one of [`THREE_WIDE`].
///
/// # Safety
/// The processor has wide blocks ([`has_wide`]); filler and template have `size` bytes, at least a wide block.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2"))]
#[inline]
pub(crate) unsafe fn is_masked_wide<const THREE: bool>(
    filler: *const u8,
    template: *const u8,
    size: usize,
    word: u64,
    last: u64,
) -> bool {
    // SAFETY: as the caller promises.
    unsafe { imp::is_masked_avx2::<THREE>(filler, template, size, word, last) }
}

/// [`mask`] in the same way.
///
/// # Safety
/// As of [`is_masked_wide`].
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2"))]
#[inline]
pub(crate) unsafe fn mask_wide<const THREE: bool>(
    filler: *mut u8,
    template: *const u8,
    size: usize,
    word: u64,
    last: u64,
) {
    // SAFETY: as the caller promises.
    unsafe { imp::mask_avx2::<THREE>(filler, template, size, word, last) }
}

/// Whether `filler` is `template` with `word` XORed over each of its words. `last` is `word` as it lies over the last
/// block of `filler`, which overlaps the one before it where the size is no multiple of a block.
///
/// `filler` has at least a block, `template` at least as many bytes.
#[inline(always)]
pub(crate) fn is_masked(filler: &[u8], template: &[u8], word: u64, last: u64) -> bool {
    let size = filler.len();
    assert!(size >= BLOCK && template.len() >= size);
    imp::is_masked(filler, template, word, last)
}

/// Makes `filler` the template with `word` XORed over each of its words; `last` is as in [`is_masked`].
///
/// `filler` has at least a block, `template` at least as many bytes.
#[inline(always)]
pub(crate) fn mask(filler: &mut [u8], template: &[u8], word: u64, last: u64) {
    assert!(filler.len() >= BLOCK && template.len() >= filler.len());
    imp::mask(filler, template, word, last);
}

/// [`mask`] for any size: word by word, the last one cut.
pub(crate) fn mask_short(filler: &mut [u8], template: &[u8], word: u64) {
    let masked = template.chunks_exact(8).flat_map(|chunk| (read_word(chunk, 0) ^ word).to_le_bytes());
    filler.iter_mut().zip(masked).for_each(|(to, from)| *to = from);
}

/// The word at a byte.
#[inline(always)]
pub(crate) fn read_word(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Eight hexadecimal digits, lower case, most significant first.
#[inline(always)]
pub(crate) fn hex8(number: u32) -> [u8; 8] {
    imp::hex8(number)
}

#[cfg(target_arch = "x86_64")]
mod imp {
    use core::arch::x86_64::*;

    use super::{BLOCK, THREE_WIDE, WIDE};

    pub(crate) fn has_wide() -> bool {
        std::arch::is_x86_feature_detected!("avx2")
    }

    #[inline(always)]
    pub(super) fn is_masked(filler: &[u8], template: &[u8], word: u64, last: u64) -> bool {
        // The answer of the detection is kept by the standard library: asking is a load and a test.
        match filler.len() >= WIDE && std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, and the caller has checked the sizes.
            true => unsafe { is_masked_by_call(filler.as_ptr(), template.as_ptr(), filler.len(), word, last) },
            false => is_masked_sse2(filler, template, word, last),
        }
    }

    /// # Safety
    /// The processor has AVX2; `filler` and `template` have `size` bytes, at least a wide block; `THREE` is as above.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) unsafe fn is_masked_avx2<const THREE: bool>(
        filler: *const u8,
        template: *const u8,
        size: usize,
        word: u64,
        last: u64,
    ) -> bool {
        // SAFETY: every load ends within `size` bytes.
        unsafe {
            let load = |bytes: *const u8, at: usize| _mm256_loadu_si256(bytes.add(at).cast());
            let compare = |at: usize, mask: __m256i| {
                _mm256_xor_si256(_mm256_xor_si256(load(filler, at), load(template, at)), mask)
            };
            let tail = size - WIDE;
            let mut difference = compare(tail, _mm256_set1_epi64x(last as i64));
            let mask = _mm256_set1_epi64x(word as i64);
            if THREE {
                difference = _mm256_or_si256(difference, _mm256_or_si256(compare(0, mask), compare(WIDE, mask)));
                return _mm256_testz_si256(difference, difference) == 1;
            }
            let mut at = 0;
            while at < tail {
                difference = _mm256_or_si256(difference, compare(at, mask));
                at += WIDE;
            }
            _mm256_testz_si256(difference, difference) == 1
        }
    }

    /// [`is_masked_avx2`] for callers that are compiled for any processor.
    ///
    /// # Safety
    /// As of [`is_masked_avx2`].
    #[target_feature(enable = "avx2")]
    #[inline(never)]
    unsafe fn is_masked_by_call(filler: *const u8, template: *const u8, size: usize, word: u64, last: u64) -> bool {
        // SAFETY: as the caller promises.
        unsafe {
            match THREE_WIDE.contains(&size) {
                true => is_masked_avx2::<true>(filler, template, size, word, last),
                false => is_masked_avx2::<false>(filler, template, size, word, last),
            }
        }
    }

    /// [`mask_avx2`] in the same way.
    ///
    /// # Safety
    /// As of [`mask_avx2`].
    #[target_feature(enable = "avx2")]
    #[inline(never)]
    unsafe fn mask_by_call(filler: *mut u8, template: *const u8, size: usize, word: u64, last: u64) {
        // SAFETY: as the caller promises.
        unsafe {
            match THREE_WIDE.contains(&size) {
                true => mask_avx2::<true>(filler, template, size, word, last),
                false => mask_avx2::<false>(filler, template, size, word, last),
            }
        }
    }

    #[inline(always)]
    pub(super) fn is_masked_sse2(filler: &[u8], template: &[u8], word: u64, last: u64) -> bool {
        let size = filler.len();
        let (filler, template) = (filler.as_ptr(), template.as_ptr());
        // SAFETY: SSE2 is part of x86-64. The caller has checked that both have `size` bytes, at least a block, so
        // every load ends within them.
        unsafe {
            let load = |bytes: *const u8, at: usize| _mm_loadu_si128(bytes.add(at).cast());
            let compare =
                |at: usize, mask: __m128i| _mm_xor_si128(_mm_xor_si128(load(filler, at), load(template, at)), mask);
            let tail = size - BLOCK;
            let mut difference = compare(tail, _mm_set1_epi64x(last as i64));
            let mask = _mm_set1_epi64x(word as i64);
            let mut at = 0;
            while at < tail {
                difference = _mm_or_si128(difference, compare(at, mask));
                at += BLOCK;
            }
            _mm_movemask_epi8(_mm_cmpeq_epi8(difference, _mm_setzero_si128())) == 0xffff
        }
    }

    #[inline(always)]
    pub(super) fn mask(filler: &mut [u8], template: &[u8], word: u64, last: u64) {
        match filler.len() >= WIDE && std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: as in `is_masked`.
            true => unsafe { mask_by_call(filler.as_mut_ptr(), template.as_ptr(), filler.len(), word, last) },
            false => mask_sse2(filler, template, word, last),
        }
    }

    /// # Safety
    /// The processor has AVX2; `filler` and `template` have `size` bytes, at least a wide block; `THREE` is as above.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) unsafe fn mask_avx2<const THREE: bool>(
        filler: *mut u8,
        template: *const u8,
        size: usize,
        word: u64,
        last: u64,
    ) {
        // SAFETY: every load and every store ends within `size` bytes.
        unsafe {
            let write = |at: usize, mask: __m256i| {
                let masked = _mm256_xor_si256(_mm256_loadu_si256(template.add(at).cast()), mask);
                _mm256_storeu_si256(filler.add(at).cast(), masked);
            };
            let tail = size - WIDE;
            let mask = _mm256_set1_epi64x(word as i64);
            if THREE {
                write(0, mask);
                write(WIDE, mask);
            } else {
                let mut at = 0;
                while at < tail {
                    write(at, mask);
                    at += WIDE;
                }
            }
            write(tail, _mm256_set1_epi64x(last as i64));
        }
    }

    #[inline(always)]
    fn mask_sse2(filler: &mut [u8], template: &[u8], word: u64, last: u64) {
        let size = filler.len();
        let (filler, template) = (filler.as_mut_ptr(), template.as_ptr());
        // SAFETY: as above, for the loads and for the stores.
        unsafe {
            let write = |at: usize, mask: __m128i| {
                let masked = _mm_xor_si128(_mm_loadu_si128(template.add(at).cast()), mask);
                _mm_storeu_si128(filler.add(at).cast(), masked);
            };
            let tail = size - BLOCK;
            let mask = _mm_set1_epi64x(word as i64);
            let mut at = 0;
            while at < tail {
                write(at, mask);
                at += BLOCK;
            }
            write(tail, _mm_set1_epi64x(last as i64));
        }
    }

    #[inline(always)]
    pub(super) fn hex8(number: u32) -> [u8; 8] {
        // SAFETY: SSE2 is part of x86-64; no memory is touched.
        unsafe {
            let bytes = _mm_cvtsi32_si128(number.swap_bytes() as i32);
            let nibbles = _mm_unpacklo_epi8(_mm_srli_epi16::<4>(bytes), bytes);
            let nibbles = _mm_and_si128(nibbles, _mm_set1_epi8(0x0f));
            let is_letter = _mm_cmpgt_epi8(nibbles, _mm_set1_epi8(9));
            let letters = _mm_and_si128(is_letter, _mm_set1_epi8((b'a' - b'0' - 10) as i8));
            let digits = _mm_add_epi8(_mm_add_epi8(nibbles, _mm_set1_epi8(b'0' as i8)), letters);
            (_mm_cvtsi128_si64(digits) as u64).to_le_bytes()
        }
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
#[cfg_attr(target_arch = "x86_64", allow(dead_code))]
mod portable {
    use super::{BLOCK, read_word};

    pub(super) fn has_wide() -> bool {
        false
    }

    /// Never called without wide blocks.
    pub(super) unsafe fn is_masked_avx2<const THREE: bool>(
        _: *const u8,
        _: *const u8,
        _: usize,
        _: u64,
        _: u64,
    ) -> bool {
        false
    }

    /// As above.
    pub(super) unsafe fn mask_avx2<const THREE: bool>(_: *mut u8, _: *const u8, _: usize, _: u64, _: u64) {}

    pub(super) fn is_masked(filler: &[u8], template: &[u8], word: u64, last: u64) -> bool {
        let compare = |at: usize, word: u64| {
            let pair = |at: usize| read_word(filler, at) ^ read_word(template, at) ^ word;
            pair(at) | pair(at + 8)
        };
        let tail = filler.len() - BLOCK;
        (0..tail).step_by(BLOCK).fold(compare(tail, last), |difference, at| difference | compare(at, word)) == 0
    }

    pub(super) fn mask(filler: &mut [u8], template: &[u8], word: u64, last: u64) {
        let tail = filler.len() - BLOCK;
        let mut write = |at: usize, word: u64| {
            for at in [at, at + 8] {
                filler[at..at + 8].copy_from_slice(&(read_word(template, at) ^ word).to_le_bytes());
            }
        };
        (0..tail).step_by(BLOCK).for_each(|at| write(at, word));
        write(tail, last);
    }

    /// All eight at once: one nibble is spread to each byte, then '0' is added to each, and 39 more where the nibble is
    /// above 9.
    pub(super) fn hex8(number: u32) -> [u8; 8] {
        const ONES: u64 = 0x0101_0101_0101_0101;
        let mut x = u64::from(number);
        x = (x | (x << 16)) & 0x0000_ffff_0000_ffff;
        x = (x | (x << 8)) & 0x00ff_00ff_00ff_00ff;
        x = (x | (x << 4)) & (0x0f * ONES);
        let letters = ((x + 6 * ONES) >> 4) & ONES;
        (x + u64::from(b'0') * ONES + letters * u64::from(b'a' - b'0' - 10)).to_be_bytes()
    }
}

#[cfg(not(target_arch = "x86_64"))]
use portable as imp;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ways_give_the_same(number: u32, size in 16usize..200, word: u64, bit: prop::sample::Index, hit: bool) {
            prop_assert_eq!(imp::hex8(number), portable::hex8(number));
            prop_assert_eq!(hex8(number).to_vec(), format!("{number:08x}").into_bytes());
            let template: Vec<u8> = (0..size + 2 * BLOCK).map(|byte| (byte * 37) as u8).collect();
            let last = word.rotate_right(8 * (size % 8) as u32);
            let (mut filler, mut slow, mut short) = (vec![0; size], vec![0; size], vec![0; size]);
            mask(&mut filler, &template, word, last);
            portable::mask(&mut slow, &template, word, last);
            mask_short(&mut short, &template, word);
            prop_assert!(filler == slow && filler == short);
            if hit {
                let bit = bit.index(8 * size);
                filler[bit / 8] ^= 1 << (bit % 8);
            }
            prop_assert_eq!(imp::is_masked(&filler, &template, word, last), !hit);
            prop_assert_eq!(portable::is_masked(&filler, &template, word, last), !hit);
            #[cfg(target_arch = "x86_64")]
            prop_assert_eq!(imp::is_masked_sse2(&filler, &template, word, last), !hit);
        }
    }
}
