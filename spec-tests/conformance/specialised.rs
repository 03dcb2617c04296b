//! Every row of a language that writes text or documents, specialised to parts of its inputs: a residual gives the same text, or the same
//! error at the same place. An original that exceeds a limit may succeed once specialised.

use std::sync::atomic::{AtomicUsize, Ordering};

use dropforge::engine::Template;
use dropforge::specialise::Known;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes, Value};
use dropforge::vm::Session;

use crate::report::Outcome;

/// The number of divisions of each row's inputs. In the first, all are known.
const DIVISIONS: u64 = 6;

/// Residuals that were compared with their originals.
static COMPARED: AtomicUsize = AtomicUsize::new(0);

/// Returns the number of residuals that were compared.
pub fn compared() -> usize {
    COMPARED.load(Ordering::Relaxed)
}

/// Numbers that depend on a seed only.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
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

fn division_of<'v>(template: &'v Template, inputs: Inputs<'v>, division: u64) -> Known<'v> {
    let mut numbers = Numbers(division + 1);
    let field = |(name, value)| (name, divided(value, &mut numbers, division == 0));
    let mut known: Vec<(&str, Known<'_>)> = inputs.iter().map(field).collect();
    let absent = template.inputs().into_iter().filter(|name| inputs.get(name).is_none());
    known.extend(absent.filter(|_| numbers.below(2) == 0).map(|name| (name, Known::Absent)));
    Known::Fields(known)
}

/// A fleet shares plain data: no values that are unknown or marked.
fn divided<'v>(value: Value<'v>, numbers: &mut Numbers, whole: bool) -> Known<'v> {
    match (numbers.below(4), value) {
        _ if value.is_qualified() => Known::Open,
        _ if whole => Known::Value(value),
        (0 | 1, _) => Known::Value(value),
        (2, Value::Map(map)) => {
            Known::Fields(map.iter().map(|(name, value)| (name, divided(value, numbers, false))).collect())
        }
        _ => Known::Open,
    }
}

/// The text of a render, or its error as printed and `true` for a limit.
fn rendered(template: &Template, inputs: Inputs<'_>) -> Result<String, (String, bool)> {
    let mut out = String::new();
    let outcome = template.render_inputs(&mut Session::new(), inputs, &mut out);
    outcome.map(|()| out).map_err(|error| (error.render(false), error.code.is_limit()))
}
