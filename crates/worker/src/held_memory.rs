//! The memory that a value holds, for tests.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, and a count of what each thread holds of it.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    // A thread that ends may free what it has without a count.
    let _ = HELD.try_with(|held| held.set(held.get() + bytes));
}

// SAFETY: the system's allocator does all of it; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller's own promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// The bytes of a value that is made: its own, and those that it holds on the heap.
pub(crate) fn bytes_of<T>(make: impl FnOnce() -> T) -> usize {
    let before = HELD.get();
    let made = make();
    let held = HELD.get() - before;
    size_of_val(&made) + usize::try_from(held).unwrap()
}

#[test]
fn a_value_is_counted_with_what_it_holds() {
    assert_eq!(bytes_of(|| 7u64), 8);
    assert_eq!(bytes_of(|| Box::new([0u8; 1000])), 1008);
    assert_eq!(bytes_of(|| drop(vec![0u8; 1000])), 0);
}
