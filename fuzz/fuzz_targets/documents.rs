//! Files of values and fleets. The first byte selects the format.

#![no_main]

use std::sync::Arc;

use dropforge::bulk::{CsvTypes, Fleet, FleetOptions, Format, Layers, Merge, input};
use dropforge::text::Source;
use dropforge::value::Data;
use dropforge_fuzz::report;
use libfuzzer_sys::fuzz_target;

const FORMATS: [Format; 8] =
    [Format::Csv, Format::Tsv, Format::Ndjson, Format::Json, Format::Hcl, Format::Toml, Format::Env, Format::Yaml];
const OPTIONS: FleetOptions<'_> = FleetOptions { name_key: Some("a.b"), csv_types: CsvTypes::Set };

fuzz_target!(|text: &str| {
    let Some(first) = text.chars().next() else { return };
    let format = FORMATS[first as usize % FORMATS.len()];
    let source = Source::new("f", &text[first.len_utf8()..]);
    let _ = Format::of("-", source.text());
    match input::map(&source, format) {
        Ok(shared) => clusters(&source, format, &Layers::new([shared], Vec::new(), Merge::Deep)),
        Err(error) => report([&*error]),
    }
    clusters(&source, format, &Layers::default());
    if format == Format::Ndjson {
        same_as_a_list(&source);
    }
});

/// Reads a fleet and the inputs of each cluster.
fn clusters(source: &Arc<Source>, format: Format, layers: &Layers) {
    match Fleet::read(source, format, &OPTIONS) {
        Err(error) => report([&*error]),
        Ok(fleet) => {
            let read = fleet.each(&mut |_, cluster| {
                match layers.overlay(cluster) {
                    Ok(overlay) => drop(overlay.to_map().map(|map| map.len())),
                    Err(error) => report([&*error]),
                }
                Ok(())
            });
            read.unwrap_or_else(|error| report([&*error]));
        }
    }
}

/// A fleet of lines has the names of the same fleet as a list.
fn same_as_a_list(source: &Arc<Source>) {
    let Ok(documents) = input::documents(source, Format::Ndjson) else { return };
    let list = serde_json::to_string(&Data::List(documents)).expect("data is JSON");
    let names = |source: &Arc<Source>, format| {
        let fleet = Fleet::read(source, format, &OPTIONS).map_err(|error| error.code)?;
        let mut reader = fleet.reader();
        Ok::<_, dropforge::diagnostics::Code>((0..fleet.len()).map(|at| reader.name(at)).collect::<Vec<_>>())
    };
    assert_eq!(names(source, Format::Ndjson), names(&Source::new("list", list), Format::Json));
}
