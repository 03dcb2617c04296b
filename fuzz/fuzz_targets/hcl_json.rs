//! HCL configurations in the JSON syntax: read, expanded, decoded, checked.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| dropforge_fuzz::configuration("c.hcl.json", text));
