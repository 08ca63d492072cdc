//! Importing everything from the crate's root and from the prelude gives no warning for unused names.

#![deny(warnings)]

use kvdyno_abi::prelude::*;
use kvdyno_abi::*;

/// Names of the root alone, of the prelude alone, and of both: a name in both is the same item.
#[test]
fn the_root_and_the_prelude_can_both_be_taken_whole() {
    let description = Description::new(c"mine", c"an engine");
    assert_eq!(description.capabilities & (CAN_SCAN | CAN_DELETE), 0);
    assert_eq!(bits(&[DURABILITY_NONE]), 1);
    assert_eq!((OK, Error::unsupported("x").to_string().is_empty()), (0, false));
}
