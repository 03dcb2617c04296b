//! Every row of a language that writes text or documents, specialised to parts of its inputs: a residual gives the same
//! text, or the same error at the same place. An original that exceeds a limit may succeed once specialised.

use std::sync::atomic::{AtomicUsize, Ordering};

use dropforge::engine::Template;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;

use crate::divisions::division_of;
use crate::report::Outcome;

/// The number of divisions of each row's inputs. In the first, all are known.
const DIVISIONS: u64 = 6;

/// Residuals that were compared with their originals.
static COMPARED: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of residuals that were compared.
pub fn compared() -> usize {
    COMPARED.load(Ordering::Relaxed)
}

/// Fails a row that passes, but not once its template is specialised.
pub fn also(outcome: Outcome, check: impl FnOnce() -> Result<(), String>) -> Outcome {
    match outcome {
        Outcome::Pass => check().map_or_else(Outcome::Fail, |()| Outcome::Pass),
        other => other,
    }
}

/// Compares a template with its residuals for these inputs.
///
/// # Errors
/// The first difference.
pub fn agrees(template: &Template, inputs: &impl serde::Serialize) -> Result<(), String> {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let Ok(value) = InputBuilder::new(&arena, &shapes).serialize(inputs) else { return Ok(()) };
    agrees_for(template, Inputs::new(value))
}

/// Works like [`agrees`].
pub fn agrees_for(template: &Template, inputs: Inputs<'_>) -> Result<(), String> {
    let original = rendered(template, inputs);
    for division in 0..DIVISIONS {
        let known = division_of(template, inputs, division);
        let Some(residual) = template.specialise(&known) else { continue };
        COMPARED.fetch_add(1, Ordering::Relaxed);
        let specialised = rendered(&residual, inputs);
        let is_limit = matches!(&original, Err((_, true)));
        if !is_limit && original != specialised {
            return Err(format!("{original:?}, but specialised to {known:?}: {specialised:?}"));
        }
    }
    Ok(())
}

/// The text of a render, or its error as printed and `true` for a limit.
fn rendered(template: &Template, inputs: Inputs<'_>) -> Result<String, (String, bool)> {
    let mut out = String::new();
    let outcome = template.render_inputs(&mut Session::new(), inputs, &mut out);
    outcome.map(|()| out).map_err(|error| (error.render(false), error.code.is_limit()))
}
