//! An experiment file: see `kvdyno_torment::inputs`.

#![cfg_attr(feature = "libfuzzer", no_main)]

kvdyno_fuzz::target!(experiment);
