//! Values that carry their own proof.
//!
//! A value belongs to an id and a version, and every byte of it follows from those two and the seed. A value of 24
//! bytes or more is
//!
//! ```text
//! id (8) | version (8) | check (8) | filler
//! ```
//!
//! all little-endian. `check` and a word `w` come from id, version and seed. The filler is a template, the same for all
//! values of a size, with `w` XORed over each word of it: the first part of the template is random, so the filler there
//! is incompressible, the rest is zero, so the filler there is `w` again and again. Checking a value is so one XOR with
//! the template and one with `w` for each word, and any bit that differs shows; a value put together from two versions
//! differs because their words `w` do.
//!
//! Shorter values carry what fits: from 16 bytes `version (8) | check (8)`, from 8 `version (4) | check (4)`, from 4
//! `version (2) | check (2)`; below that bytes of `w` for version 0, which tell other keys' values with the strength of
//! their bits, but not versions. An empty value has only its length.
//!
//! Sizes may be drawn, too, for each id and version its own (see [`ValueSizes`]). Such values have 24 bytes or more.

use crate::blocks::{
    BLOCK, THREE_WIDE, WIDE, has_wide, is_masked, is_masked_wide, mask, mask_short, mask_wide, read_word,
};
use crate::random::{Stream, mix, subseed};
use crate::sizes::ValueSizes;
use crate::varied::Varied;

/// Makes and checks the values of an experiment.
#[derive(Clone, Debug)]
pub struct Values {
    /// 0 where sizes are drawn, so that no value has it and the loops made for one size leave them alone.
    size: usize,
    layout: Layout,
    /// The filler before `w` is XORed over it, with room for a last whole block.
    template: Vec<u8>,
    id_key: u64,
    version_key: u64,
    /// Bits by which `w` is rotated for the last block, which overlaps the one before it.
    last_rotation: u32,
    /// Present where sizes are drawn.
    varied: Option<Box<Varied>>,
}

/// The bytes before the filler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// id, version, check: 8 bytes each.
    Whole,
    /// version and check, of this many bytes each.
    Short(usize),
    /// Bytes of `w`.
    Bare,
}

/// Why a value is not the right one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueFault {
    /// The value of another key, of another size, or bytes that were never written.
    Wrong(String),
    /// Parts of several values.
    Torn(String),
    /// Older than a version acknowledged before the read began.
    Stale(String),
}

pub(crate) const HEADER: usize = 24;

/// Random bytes of the filler of a value of `size` bytes.
pub(crate) fn random_part(size: usize, filler: usize, compressibility: f64) -> usize {
    // Compressed size of the rest: the header, the first `w`, and the positions of repetitions.
    const LEFT_OF_THE_REST: usize = 32;
    if compressibility == 0.0 {
        return filler;
    }
    ((size as f64 * (1.0 - compressibility)) as usize).saturating_sub(LEFT_OF_THE_REST).min(filler)
}

impl Values {
    /// Values of `size` bytes of which a compressor can take away the part `compressibility`, between 0 and 1.
    pub fn new(size: u64, compressibility: f64, seed: u64) -> Self {
        let size = size as usize;
        let layout = match size {
            HEADER.. => Layout::Whole,
            16.. => Layout::Short(8),
            8.. => Layout::Short(4),
            4.. => Layout::Short(2),
            _ => Layout::Bare,
        };
        let filler = size.saturating_sub(layout.header());
        let mut template = vec![0; filler.next_multiple_of(BLOCK) + BLOCK];
        let random = random_part(size, filler, compressibility);
        let mut stream = Stream::new(subseed(seed, &[0x7465_6d70]));
        for byte in &mut template[..random] {
            *byte = (stream.bits() >> 56) as u8;
        }
        Values {
            size,
            layout,
            template,
            id_key: subseed(seed, &[0x6964]),
            version_key: subseed(seed, &[0x7665_7273]),
            last_rotation: 8 * (filler % 8) as u32,
            varied: None,
        }
    }

    /// Values whose sizes are drawn.
    pub fn varied(sizes: ValueSizes, compressibility: f64, seed: u64) -> Self {
        let varied = Some(Box::new(Varied::new(sizes, compressibility, seed)));
        Values { layout: Layout::Whole, varied, ..Values::new(0, compressibility, seed) }
    }

    /// Bytes of each value; 0 where sizes are drawn.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether sizes are drawn.
    pub fn is_varied(&self) -> bool {
        self.varied.is_some()
    }

    /// Bytes of the largest value.
    pub fn largest(&self) -> usize {
        self.varied.as_ref().map_or(self.size, |varied| varied.largest())
    }

    /// A buffer for `count` values, one after the other, for [`Values::write`] to write into. It lies where it can be
    /// read even if they are empty: engines are given its address.
    pub fn blank(&self, count: usize) -> Vec<u8> {
        let size = self.largest() * count;
        let mut buffer = vec![0; size.max(1)];
        buffer.truncate(size);
        buffer
    }

    /// Bytes of the value of `id` at `version`.
    pub fn size_of(&self, id: u64, version: u64) -> usize {
        self.varied.as_ref().map_or(self.size, |varied| varied.size_of(self.word(id, version)))
    }

    /// The word that belongs to an id and a version: the two halves of their keyed product, folded. Every bit of it
    /// depends on every bit of both.
    #[inline(always)]
    fn word(&self, id: u64, version: u64) -> u64 {
        let product = u128::from(id ^ self.id_key) * u128::from(version ^ self.version_key);
        (product as u64) ^ ((product >> 64) as u64)
    }

    #[inline(always)]
    fn check_of(word: u64) -> u64 {
        word.rotate_left(32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Whether values have a whole header and at least a block of filler: the measured loop is made for those.
    #[inline(always)]
    fn is_large(&self) -> bool {
        self.size >= HEADER + BLOCK
    }

    /// Makes the value of `id` at `version` in `value`, which has [`Values::largest`] bytes. Returns the value's size.
    #[inline(always)]
    pub fn write(&self, id: u64, version: u64, value: &mut [u8]) -> usize {
        match value.split_first_chunk_mut::<HEADER>() {
            Some((header, filler)) if self.is_large() => {
                let (word, last) = self.write_header(id, version, header);
                mask(filler, &self.template, word, last);
                self.size
            }
            _ => self.write_other(id, version, value),
        }
    }

    /// Makes a value of a size that is drawn, or of one that is too small for blocks.
    #[inline(never)]
    fn write_other(&self, id: u64, version: u64, value: &mut [u8]) -> usize {
        match (&self.varied, value.split_first_chunk_mut::<HEADER>()) {
            (Some(varied), Some((header, filler))) => {
                let (word, _) = self.write_header(id, version, header);
                let size = varied.size_of(word);
                varied.fill(word, &mut filler[..size - HEADER]);
                size
            }
            _ => {
                self.write_small(id, version, value);
                self.size
            }
        }
    }

    /// Makes a whole header; gives the words for the filler and for its last block.
    #[inline(always)]
    fn write_header(&self, id: u64, version: u64, header: &mut [u8; HEADER]) -> (u64, u64) {
        let word = self.word(id, version);
        header[..8].copy_from_slice(&id.to_le_bytes());
        header[8..16].copy_from_slice(&version.to_le_bytes());
        header[16..].copy_from_slice(&Self::check_of(word).to_le_bytes());
        (word, word.rotate_right(self.last_rotation))
    }

    /// Whether values have a wide block of filler and the processor has such blocks too.
    pub(crate) fn is_wide(&self) -> bool {
        self.size >= HEADER + WIDE && has_wide()
    }

    /// Whether [`Values::is_wide`], and three such blocks are the filler.
    pub(crate) fn is_three_wide(&self) -> bool {
        self.is_wide() && THREE_WIDE.contains(&(self.size - HEADER))
    }

    /// [`Values::write`] where [`Values::is_wide`]; `THREE`: where [`Values::is_three_wide`].
    ///
    /// # Safety
    /// They are; `value` has [`Values::size`] bytes.
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2"))]
    #[inline]
    pub(crate) unsafe fn write_wide<const THREE: bool>(&self, id: u64, version: u64, value: *mut u8) {
        // SAFETY: as the caller promises.
        unsafe {
            let (word, last) = self.write_header(id, version, &mut *value.cast());
            mask_wide::<THREE>(value.add(HEADER), self.template.as_ptr(), self.size - HEADER, word, last);
        }
    }

    /// [`Values::is_right`] at any version where [`Values::is_wide`]; `THREE`: where [`Values::is_three_wide`].
    ///
    /// # Safety
    /// They are; `value` has [`Values::size`] bytes.
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2"))]
    #[inline]
    pub(crate) unsafe fn is_right_wide<const THREE: bool>(&self, id: u64, value: *const u8) -> bool {
        // SAFETY: as the caller promises.
        unsafe {
            let (same, word, last) = self.is_header(id, &*value.cast());
            same && is_masked_wide::<THREE>(value.add(HEADER), self.template.as_ptr(), self.size - HEADER, word, last)
        }
    }

    /// The version that a value with a whole header claims.
    ///
    /// # Safety
    /// `value` has a whole header.
    #[inline(always)]
    pub(crate) unsafe fn version_at(value: *const u8) -> u64 {
        // SAFETY: as the caller promises.
        unsafe { u64::from_le(value.add(8).cast::<u64>().read_unaligned()) }
    }

    fn write_small(&self, id: u64, version: u64, value: &mut [u8]) {
        let version = self.carried(version);
        let word = self.word(id, version);
        let check = Self::check_of(word).to_le_bytes();
        let (header, filler) = value.split_at_mut(self.layout.header());
        match self.layout {
            Layout::Whole => {
                header[..8].copy_from_slice(&id.to_le_bytes());
                header[8..16].copy_from_slice(&version.to_le_bytes());
                header[16..].copy_from_slice(&check);
            }
            Layout::Short(width) => {
                header[..width].copy_from_slice(&version.to_le_bytes()[..width]);
                header[width..].copy_from_slice(&check[..width]);
            }
            Layout::Bare => {}
        }
        mask_short(filler, &self.template, word);
    }

    /// Whether `value` is, to the last bit, the value of `id` at a version of at least `min_version`.
    #[inline(always)]
    pub fn is_right(&self, id: u64, min_version: u64, value: &[u8]) -> bool {
        if self.is_large() {
            value.len() == self.size && self.is_whole(id, value) && read_word(value, 8) >= min_version
        } else {
            self.is_right_other(id, min_version, value)
        }
    }

    #[inline(never)]
    fn is_right_other(&self, id: u64, min_version: u64, value: &[u8]) -> bool {
        match &self.varied {
            Some(varied) => self.is_right_varied(varied, id, min_version, value),
            None => self.is_right_short(id, min_version, value),
        }
    }

    /// [`Values::is_right`] for a value with a whole header and at least a block of filler; min_version and size aside.
    #[inline(always)]
    fn is_whole(&self, id: u64, value: &[u8]) -> bool {
        let Some((header, filler)) = value.split_first_chunk::<HEADER>() else { return false };
        let (same, word, last) = self.is_header(id, header);
        same && is_masked(filler, &self.template, word, last)
    }

    /// Whether a whole header is that of `id` and the version in it; and the words for its filler and for the last
    /// block of that.
    #[inline(always)]
    fn is_header(&self, id: u64, header: &[u8; HEADER]) -> (bool, u64, u64) {
        let word = self.word(id, read_word(header, 8));
        let difference = (read_word(header, 0) ^ id) | (read_word(header, 16) ^ Self::check_of(word));
        (difference == 0, word, word.rotate_right(self.last_rotation))
    }

    /// [`Values::is_right`] where sizes are drawn.
    fn is_right_varied(&self, varied: &Varied, id: u64, min_version: u64, value: &[u8]) -> bool {
        let Some((header, filler)) = value.split_first_chunk::<HEADER>() else { return false };
        let (same, word, _) = self.is_header(id, header);
        same && value.len() == varied.size_of(word)
            && read_word(header, 8) >= min_version
            && varied.is_filler(word, filler)
    }

    /// [`Values::is_right`] by making the value again: for sizes too small for blocks.
    fn is_right_short(&self, id: u64, min_version: u64, value: &[u8]) -> bool {
        let Some(version) = self.version_of(value) else { return false };
        let mut expected = [0; HEADER + BLOCK];
        let expected = &mut expected[..self.size];
        self.write(id, version, expected);
        expected == value && !self.is_older(version, min_version)
    }

    /// The version that a value of the right size claims, or of a size that can be.
    pub fn version_of(&self, value: &[u8]) -> Option<u64> {
        let fits = if self.is_varied() { value.len() >= HEADER } else { value.len() == self.size };
        let at = match self.layout {
            _ if !fits => return None,
            Layout::Whole => 8..16,
            Layout::Short(width) => 0..width,
            Layout::Bare => 0..0,
        };
        let mut bytes = [0; 8];
        bytes[..at.len()].copy_from_slice(&value[at]);
        Some(u64::from_le_bytes(bytes))
    }

    /// The part of a version that a value has room for.
    #[inline(always)]
    fn carried(&self, version: u64) -> u64 {
        match self.layout {
            Layout::Whole | Layout::Short(8) => version,
            Layout::Short(width) => version & ((1 << (8 * width)) - 1),
            Layout::Bare => 0,
        }
    }

    /// Whether a claimed version, of which only the low bytes may be there, is before `min_version`.
    fn is_older(&self, version: u64, min_version: u64) -> bool {
        match self.layout {
            Layout::Whole | Layout::Short(8) => version < min_version,
            Layout::Short(width) => {
                let unused = 64 - 8 * width as u32;
                ((version.wrapping_sub(min_version) << unused) as i64) < 0
            }
            Layout::Bare => false,
        }
    }

    /// The fault of a value that [`Values::is_right`] refused.
    #[cold]
    pub fn fault(&self, id: u64, min_version: u64, value: &[u8]) -> ValueFault {
        let Some(version) = self.version_of(value) else {
            let expected = if self.is_varied() { format!("{HEADER} or more") } else { self.size.to_string() };
            return ValueFault::Wrong(format!("record {id}: a value of {} bytes instead of {expected}", value.len()));
        };
        if self.is_value_of(id, version, value) {
            return ValueFault::Stale(format!(
                "record {id}: version {version}, though {min_version} had been acknowledged"
            ));
        }
        if self.layout == Layout::Whole {
            let claimed = read_word(value, 0);
            if claimed != id && self.is_value_of(claimed, version, value) {
                return ValueFault::Wrong(format!("record {id}: the value of record {claimed}"));
            }
            let word = self.word(claimed, version);
            if read_word(value, 16) == Self::check_of(word) {
                return ValueFault::Torn(format!(
                    "record {id}: the head is record {claimed}'s version {version}, the rest from byte {} on is not",
                    self.first_difference(claimed, version, value)
                ));
            }
        }
        ValueFault::Wrong(format!("record {id}: bytes that were never written for it"))
    }

    fn made_again(&self, id: u64, version: u64) -> Vec<u8> {
        let mut made = vec![0; self.largest()];
        let size = self.write(id, version, &mut made);
        made.truncate(size);
        made
    }

    fn is_value_of(&self, id: u64, version: u64, value: &[u8]) -> bool {
        self.made_again(id, version) == value
    }

    fn first_difference(&self, id: u64, version: u64, value: &[u8]) -> usize {
        let made = self.made_again(id, version);
        made.iter().zip(value).position(|(made, given)| made != given).unwrap_or(made.len().min(value.len()))
    }

    /// A number that differs between values made with different parameters: it shows that a database was loaded by
    /// another program.
    pub fn fingerprint(&self) -> u64 {
        let sizes = self.varied.as_ref().map_or(self.size as u64, |varied| varied.fingerprint());
        self.template.chunks_exact(8).fold(mix(self.id_key ^ sizes), |sum, word| mix(sum ^ read_word(word, 0)))
    }
}

impl Layout {
    /// Bytes before the filler.
    fn header(self) -> usize {
        match self {
            Layout::Whole => HEADER,
            Layout::Short(width) => 2 * width,
            Layout::Bare => 0,
        }
    }
}

#[cfg(test)]
mod tests;
