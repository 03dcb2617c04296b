//! Charts: archives, and the files of a chart and values of a user in one text.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| dropforge_fuzz::chart(bytes));
