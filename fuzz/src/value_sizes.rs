//! A histogram of sizes of values: see `kvdyno_torment::inputs`.

#![cfg_attr(feature = "libfuzzer", no_main)]

kvdyno_fuzz::target!(value_sizes);
