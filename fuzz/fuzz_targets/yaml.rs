//! YAML: read, written, read again.

#![no_main]

use dropforge::text::Source;
use dropforge::value::{Data, yaml};
use dropforge_fuzz::{limits, report};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match yaml::read(&Source::new("y.yaml", text), &limits()) {
        Err(errors) => report(errors.iter().map(|error| &**error)),
        Ok(documents) => documents.iter().for_each(|node| same_again(&node.to_data())),
    }
});

fn same_again(data: &Data) {
    let written = yaml::to_string(data);
    let limits = dropforge::Limits { source_bytes: usize::MAX, ..limits() };
    let again = yaml::read_data(&Source::new("again.yaml", written.as_str()), &limits);
    let again = again.unwrap_or_else(|errors| panic!("{written:?} is not read again: {errors:?}"));
    // As text, because NaN is not equal to itself.
    assert_eq!(format!("{again:?}"), format!("{data:?}"), "from {written:?}");
}
