//! The analysis of what templates read agrees with what they do, for all cases that render.

use std::path::PathBuf;

use dropforge::bulk::values::Step;
use dropforge::bulk::{MissingNames, leaves};
use dropforge::diagnostics::Severity;
use dropforge::engine::{Dialect, Template};
use dropforge::value::{Arena, Data, DataMap, InputBuilder, Inputs, ReadPaths, Shapes};
use dropforge::vm::Session;

use crate::cases::{self, Case, read_folder};

const FOLDERS: [(Dialect, &str); 5] = [
    (Dialect::Tera, "tera"),
    (Dialect::Hcl, "hcl"),
    (Dialect::CelYaml, "cel-yaml"),
    (Dialect::Cel, "cel"),
    (Dialect::Helm, "helm"),
];

/// Calls `each` with the cases that render, their inputs and outputs. Returns all that it returns.
fn of_rendered(each: impl Fn(&Template, &DataMap, &str) -> Vec<String>) -> (usize, Vec<String>) {
    let (mut count, mut found) = (0, Vec::new());
    for (dialect, folder) in FOLDERS {
        let cases = read_folder(folder)
            .into_iter()
            .flat_map(|(path, cases)| cases.into_iter().map(move |case| (path.clone(), case)));
        for (path, case) in cases {
            let Some((template, inputs, output)) = rendered(dialect, &case) else { continue };
            count += 1;
            let id = |path: &PathBuf| format!("{}: {}", path.display(), case.name);
            found.extend(each(&template, &inputs, &output).into_iter().map(|text| format!("{}: {text}", id(&path))));
        }
    }
    (count, found)
}

fn rendered(dialect: Dialect, case: &Case) -> Option<(Template, DataMap, String)> {
    let template = cases::compile(dialect, case).ok()?;
    let inputs: Data = serde_json::from_value(cases::context(case)).ok()?;
    let inputs = inputs.into_map()?;
    let output = template.render(&inputs).ok()?;
    Some((template, inputs, output))
}

#[test]
fn nothing_is_missing_if_a_template_renders() {
    let (count, found) = of_rendered(|template, inputs, _| {
        let mut missing = MissingNames::of([template]);
        missing.look_at(0, inputs);
        let failures = missing.into_failures(None);
        // A field that an input of its name replaces is a warning.
        let errors = failures.iter().filter(|failure| failure.diagnostic.severity == Severity::Error);
        errors.map(|failure| failure.diagnostic.to_string()).collect()
    });
    assert!(count > 500 && found.is_empty(), "{} of {count}:\n{}", found.len(), found.join("\n"));
}

#[test]
fn what_is_not_read_does_not_change_the_output() {
    let (count, found) = of_rendered(|template, inputs, output| {
        let (mut tree, mut wrong) = (ReadPaths::default(), Vec::new());
        template.program().add_reads(&mut tree);
        leaves(inputs, &mut |path, _| {
            if !tree.everything && !tree.reads(path.iter().map(Step::key)) {
                let changed = template.render(&with_another(inputs, path)).unwrap_or_default();
                if changed != output {
                    wrong.push(format!("{path:?} changes {output:?} to {changed:?}"));
                }
            }
        });
        wrong
    });
    assert!(count > 500 && found.is_empty(), "{} of {count}:\n{}", found.len(), found.join("\n"));
}

/// Renders with inputs read from `text`.
fn outcome(template: &Template, shapes: &Shapes<'_>, text: &str) -> Result<String, String> {
    let arena = Arena::new();
    let builder = InputBuilder::new(&arena, shapes);
    let inputs = builder.json(text).map_err(|error| error.to_string())?;
    let mut out = String::new();
    let rendered = template.render_inputs(&mut Session::new(), Inputs::new(inputs), &mut out);
    rendered.map(|()| out).map_err(|error| format!("{error:?}"))
}

#[test]
fn inputs_of_which_only_what_is_read_is_converted_give_the_same_output_or_error() {
    let (mut count, mut skipping, mut wrong) = (0, 0, Vec::new());
    for (dialect, folder) in FOLDERS {
        for case in read_folder(folder).into_iter().flat_map(|(_, cases)| cases) {
            let Ok(template) = cases::compile(dialect, &case) else { continue };
            let text = cases::context(&case).to_string();
            let mut paths = ReadPaths::default();
            template.program().add_reads(&mut paths);
            let names = Arena::new();
            let all = outcome(&template, &Shapes::new(&names), &text);
            let read = outcome(&template, &Shapes::reading(&names, &paths), &text);
            (count, skipping) = (count + 1, skipping + usize::from(!paths.everything));
            if read != all {
                wrong.push(format!("{folder}: {}: {all:?}, but {read:?}", case.name));
            }
        }
    }
    assert!(count > 700 && skipping > 700 && wrong.is_empty(), "{count}, {skipping}:\n{}", wrong.join("\n"));
}

/// Returns the inputs with another value at `path`.
fn with_another(inputs: &DataMap, path: &[Step]) -> DataMap {
    let mut all = Data::Map(inputs.clone());
    let mut here = &mut all;
    for step in path {
        here = match (step, here) {
            (Step::Key(key), Data::Map(map)) => &mut map[key.as_str()],
            (Step::Index(at), Data::List(items)) => &mut items[*at],
            _ => unreachable!("a leaf has a path"),
        };
    }
    *here = Data::Str("another value".to_owned());
    all.into_map().expect("inputs are a map")
}
