//! The formatter of HCL: a valid source stays valid and is formatted once and for all.

#![no_main]

use dropforge::dialect::hcl::{format::format, syntax::parse_config};
use dropforge::text::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let once = format(text);
    let is_valid = |text: &str| parse_config(&Source::new("f", text), &dropforge_fuzz::limits()).diagnostics.is_empty();
    if is_valid(text) {
        assert!(is_valid(&once), "{text:?} becomes {once:?}");
        assert_eq!(format(&once), once, "formatted from {text:?}");
    }
});
