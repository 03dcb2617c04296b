//! Go templates with the functions of Helm: compiled, rendered, written as an artifact.

#![no_main]

use dropforge::Dialect;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| dropforge_fuzz::render(Dialect::Helm, text));
