//! What the program's memory comes from, and how soon it goes back to the system.
//!
//! Owns the allocator. The only unsafe code of the server is the call that sets one of its options, for which there is no
//! safe one.

use std::ffi::{c_int, c_long};

use libmimalloc_sys::mi_option_set_default;

/// Instead of the system's (glibc): a call takes fewer instructions, and memory comes back after a burst. Without huge
/// pages, with which it holds three times as much.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of mimalloc's second version; the crate has no name for it.
const PURGE_DELAY: c_int = 15;

/// Milliseconds that a page may be free before the system has it back. With mimalloc's own, 10, a burst left 7 to 12 %
/// more memory than there was before.
const DELAY: c_long = 1;

/// Has free pages go back sooner, unless `MIMALLOC_PURGE_DELAY` says when. To be called before there is another thread.
pub(crate) fn give_back_soon() {
    // SAFETY: the option exists (it is below `_mi_option_last`), and there is no other thread that could read it, which
    // all do that free memory.
    unsafe { mi_option_set_default(PURGE_DELAY, DELAY) }
}

#[cfg(test)]
mod tests {
    use libmimalloc_sys::mi_option_get;

    use super::*;

    /// It has 10 until it is set, which its neighbours do not: another version may count options otherwise.
    #[test]
    fn what_is_set_is_the_delay() {
        let delay = || {
            // SAFETY: as above: the program has no other test, and the thread that awaits this one does nothing else.
            unsafe { mi_option_get(PURGE_DELAY) }
        };
        assert_eq!(delay(), 10, "that of mimalloc, unless MIMALLOC_PURGE_DELAY is set");
        give_back_soon();
        assert_eq!(delay(), DELAY);
    }
}
