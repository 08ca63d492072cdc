//! Whoever takes everything from the crate's root beside the prelude gets no warning for what he does not use.

#![deny(warnings)]

use kvdyno_abi::prelude::*;
use kvdyno_abi::*;

/// Of the one alone, of the other alone, and of both: what is the same in both has one name.
#[test]
fn the_root_and_the_prelude_can_both_be_taken_whole() {
    let description = Description::new(c"mine", c"an engine");
    assert_eq!(description.capabilities & (CAN_SCAN | CAN_DELETE), 0);
    assert_eq!(bits(&[DURABILITY_NONE]), 1);
    assert_eq!((OK, Error::unsupported("x").to_string().is_empty()), (0, false));
}
