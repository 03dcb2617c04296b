//! Damaged artifacts, whose checksum is mostly wrong.

#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|bytes: &[u8]| dropforge_fuzz::open(bytes));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    dropforge_fuzz::mutate(data, size, max_size, seed, false)
});
