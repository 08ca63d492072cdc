use super::*;
use proptest::prelude::*;

fn value(values: &Values, id: u64, version: u64) -> Vec<u8> {
    values.made_again(id, version)
}

/// Rust's own address of nothing cannot be read, and would end the test.
#[test]
fn the_buffer_for_values_can_be_read_even_if_they_are_empty() {
    for (size, count) in [(0, 1), (0, 7), (5, 0), (5, 3)] {
        let buffer = Values::new(size, 0.5, 1).blank(count);
        assert_eq!(buffer.len(), size as usize * count);
        // SAFETY: that is what is tested.
        assert_eq!(unsafe { buffer.as_ptr().read_volatile() }, 0);
    }
}

proptest! {
    #[test]
    fn a_value_is_right_for_its_id_and_for_no_older_version(
        size in 0u64..300, c in 0.0f64..=1.0, seed: u64, id: u64, version in 0u64..1 << 40,
    ) {
        let values = Values::new(size, c, seed);
        let made = value(&values, id, version);
        prop_assert!(values.is_right(id, version, &made));
        prop_assert!(values.is_right(id, version.saturating_sub(1000), &made));
        prop_assert_eq!(values.is_right(id, version + 1, &made), size < 4, "a later min_version must be missed");
    }

    #[test]
    fn any_flipped_bit_shows(size in 1u64..300, seed: u64, id: u64, version: u64, bit: prop::sample::Index) {
        let values = Values::new(size, 0.5, seed);
        let mut made = value(&values, id, version);
        let bit = bit.index(8 * size as usize);
        made[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(!values.is_right(id, 0, &made));
    }

    #[test]
    fn other_keys_other_sizes_and_torn_values_show(
        size in 24u64..300, seed: u64, id in 0u64..1 << 40, version in 0u64..1 << 40, cut: prop::sample::Index,
    ) {
        let values = Values::new(size, 0.5, seed);
        let made = value(&values, id, version + 1);
        prop_assert!(matches!(values.fault(id + 1, 0, &made), ValueFault::Wrong(_)));
        prop_assert!(matches!(values.fault(id, 0, &made[1..]), ValueFault::Wrong(_)));
        prop_assert!(matches!(values.fault(id, version + 2, &made), ValueFault::Stale(_)));
        let cut = 24 + cut.index(size as usize - 23);
        let mut torn = made.clone();
        torn[cut.min(size as usize)..].copy_from_slice(&value(&values, id, version)[cut.min(size as usize)..]);
        if torn != made {
            prop_assert!(!values.is_right(id, 0, &torn));
            prop_assert!(matches!(values.fault(id, 0, &torn), ValueFault::Torn(_)));
        }
    }
}

#[test]
fn values_compress_as_asked() {
    for size in [100, 400, 1000, 4000] {
        for requested in [0.0, 0.25, 0.5, 0.75] {
            let values = Values::new(size, requested, 1);
            // An engine compresses a block of several records.
            let block: Vec<u8> = (0..64 * 1024 / size).flat_map(|id| value(&values, 7919 * id, id)).collect();
            let packed = lz4_flex::compress(&block);
            let saved = 1.0 - packed.len() as f64 / block.len() as f64;
            assert!((saved - requested).abs() < 0.07, "{size} bytes at {requested}: LZ4 saved {saved:.3}");
        }
    }
}

#[test]
fn another_seed_makes_other_values() {
    let (one, two) = (Values::new(100, 0.5, 1), Values::new(100, 0.5, 2));
    assert!(!two.is_right(5, 0, &value(&one, 5, 0)));
    assert_ne!(one.fingerprint(), two.fingerprint());
    assert_eq!(one.fingerprint(), Values::new(100, 0.5, 1).fingerprint());
}
