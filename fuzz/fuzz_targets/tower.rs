//! Fields of intents: compiled, rendered with both ways of quoting, written as an artifact.

#![no_main]

use dropforge::Dialect;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    dropforge_fuzz::render(Dialect::Tower, text);
    dropforge_fuzz::render_shell(Dialect::Tower, text);
});
