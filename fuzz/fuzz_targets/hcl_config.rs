//! HCL configurations in the native syntax: read, expanded, decoded, checked, edited.

#![no_main]

use dropforge::dialect::hcl::edit::Document;
use dropforge::text::Source;
use dropforge_fuzz::{configuration, limits};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    configuration("c.hcl", text);
    if let Ok(document) = Document::parse(&Source::new("c.hcl", text), &limits()) {
        assert_eq!(document.to_string(), text, "an unchanged document");
    }
});
