//! The embedded sources are read again when a file of theirs comes or goes.

fn main() {
    println!("cargo::rerun-if-changed=../../engines");
    println!("cargo::rerun-if-changed=../abi");
}
