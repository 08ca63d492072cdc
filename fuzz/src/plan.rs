//! A `plan.json`: see `kvdyno_torment::inputs`.

#![cfg_attr(feature = "libfuzzer", no_main)]

kvdyno_fuzz::target!(plan);
