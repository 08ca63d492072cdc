//! A `resources.csv`: see `kvdyno_torment::inputs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    kvdyno_torment::inputs::resources(bytes);
});
