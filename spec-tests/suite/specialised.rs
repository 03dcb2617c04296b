//! Every case of a text language, specialised to parts of its inputs: the same text, or the same error at the same place.

use dropforge::engine::{Dialect, Template};
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;

use crate::cases;
use crate::divisions::division_of;

/// The number of divisions of each case's inputs.
const DIVISIONS: u64 = 8;

fn rendered(template: &Template, inputs: Inputs<'_>) -> Result<String, (String, bool)> {
    let mut out = String::new();
    let outcome = template.render_checked(&mut Session::new(), inputs, &mut out);
    outcome.map(|()| out).map_err(|error| (error.render(false), error.code.is_limit()))
}

/// Compares a case with its residual for one division. Returns `false` if it cannot be specialised.
fn agree(template: &Template, context: &serde_json::Value, division: u64, name: &str) -> bool {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let value = InputBuilder::new(&arena, &shapes).serialize(context).expect("inputs");
    let inputs = Inputs::new(value);
    let known = division_of(template, inputs, division);
    let Some(residual) = template.specialise(&known) else { return false };
    let (original, specialised) = (rendered(template, inputs), rendered(&residual, inputs));
    let listings = || format!("{}\n{}", template.disassemble(), residual.disassemble());
    if !matches!(original, Err((_, true))) {
        assert_eq!(original, specialised, "{name}: {known:?}\n{}", listings());
    }
    true
}

#[test]
fn cases_do_the_same_once_specialised() {
    let (mut specialised, mut left) = (0, 0);
    for (dialect, folder) in [(Dialect::Tera, "tera"), (Dialect::Tower, "tower"), (Dialect::Hcl, "hcl")] {
        for (file, cases) in cases::read_folder(folder) {
            for case in &cases {
                let Ok(template) = cases::compile(dialect, case) else { continue };
                let (context, name) = (cases::context(case), format!("{}: {}", file.display(), case.name));
                for division in 0..DIVISIONS {
                    let agrees = agree(&template, &context, division, &name);
                    *(if agrees { &mut specialised } else { &mut left }) += 1;
                }
            }
        }
    }
    assert!(specialised > 9 * left, "{specialised} residuals, {left} without");
}
