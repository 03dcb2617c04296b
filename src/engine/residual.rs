//! Specialised programs, and the choice between a program and the one that an artifact has for known inputs.

use std::sync::Arc;

use super::builder::Engine;
use super::template::{Findings, FoundReads, Shared, Template, linked};
use dropforge_base::diagnostics::Result;
use dropforge_machine::bytecode::Program;
use dropforge_machine::function::Linked;
use dropforge_machine::specialise::{Guard, Known};
use dropforge_machine::vm::Run;
use dropforge_value::{Data, DataMap, Inputs, Value};

/// The inputs that the residuals of an artifact know.
pub(super) struct KnownInputs {
    values: Arc<DataMap>,
    /// The inputs that leave the known ones as they are, if they lie over a layer that gives these.
    guard: Guard,
}

impl KnownInputs {
    /// # Errors
    /// `limit.depth`.
    pub fn new(values: Arc<DataMap>) -> Result<Self> {
        let guard = guard(&values)?;
        Ok(Self { values, guard })
    }
}

fn guard(values: &DataMap) -> Result<Guard> {
    use dropforge_value::{Arena, InputBuilder, Shapes};
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let known = InputBuilder::new(&arena, &shapes).data_map(values)?;
    Ok(Guard::new(&known.as_map().map_or(Known::Open, Known::of_map)))
}

/// A program specialised to known inputs.
pub(super) struct Residual {
    pub program: Program,
    linked: Linked,
    known: Arc<KnownInputs>,
}

/// The inputs for which a template runs its residual.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Choice {
    /// Those that give all known values.
    #[default]
    Compared,
    /// Those that lie over a layer that gives all known values, and leave these as they are. Other inputs are compared.
    Guarded,
}

impl Residual {
    fn admits(&self, choice: Choice, inputs: Inputs<'_>) -> bool {
        match choice {
            Choice::Compared => difference(&self.known.values, inputs).is_none(),
            Choice::Guarded => match inputs.layers() {
                [Some(own), Some(_)] => self.known.guard.admission().admits(Value::Map(own)),
                _ => difference(&self.known.values, inputs).is_none(),
            },
        }
    }
}

impl Template {
    /// Adds a program specialised to `known`.
    ///
    /// # Errors
    /// `function.unknown`.
    pub(super) fn with_residual(self, program: Program, known: &Arc<KnownInputs>, engine: &Engine) -> Result<Self> {
        let linked = linked(&program, engine, &self.shared.callees)?;
        Ok(Self { residual: Some(Arc::new(Residual { program, linked, known: known.clone() })), ..self })
    }

    /// Returns the run with these inputs, by the residual if they agree with what it knows.
    pub(super) fn chosen<'r>(&'r self, inputs: Inputs<'r>) -> Run<'r> {
        let run = self.run(inputs);
        match &self.residual {
            Some(residual) if residual.admits(self.choice, inputs) => {
                Run { program: &residual.program, linked: &residual.linked, ..run }
            }
            _ => run,
        }
    }

    /// Returns the program that an artifact has beside the template's own, specialised to its [known](Template::known)
    /// inputs. It runs if the inputs of a render give the known values. Text and errors are the same.
    #[doc(hidden)]
    pub fn residual(&self) -> Option<&Program> {
        self.residual.as_ref().map(|residual| &residual.program)
    }

    /// Returns the inputs that the [residual](Template::residual) knows.
    #[doc(hidden)]
    pub fn known(&self) -> Option<&DataMap> {
        self.residual.as_ref().map(|residual| &*residual.known.values)
    }

    /// Returns the dotted path of the first [known](Template::known) input to which these inputs do not give the same
    /// value. `None` if all agree, so that the residual runs, or if there is none.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// use dropforge::value::{Arena, Data, Inputs, Value};
    ///
    /// let build = Engine::builder().template("t.tera", "{{ name }}{% if image.debug %} debug{% endif %}").build();
    /// let known: Data = serde_json::from_str(r#"{"image": {"debug": true}}"#)?;
    /// let bundling = build.bundle([(Dialect::Tera, "t.tera")])?.specialise(known.into_map().unwrap_or_default())?;
    ///
    /// let template = Engine::new().open(bundling.encode()?)?.template("t.tera")?;
    /// assert!(template.residual().is_some());
    /// let arena = Arena::new();
    /// for (debug, expected) in [(true, None), (false, Some("image.debug".to_owned()))] {
    ///     let image = arena.map(&[("debug", Value::Bool(debug))]);
    ///     let inputs = Inputs::new(arena.map(&[("name", arena.text("api")), ("image", image)]));
    ///     assert_eq!(template.difference(inputs), expected);
    /// }
    /// assert_eq!(template.render(&serde_json::json!({"name": "a", "image": {"debug": true}}))?, "a debug");
    /// assert_eq!(template.render(&serde_json::json!({"name": "b", "image": {"debug": false}}))?, "b");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(hidden)]
    pub fn difference(&self, inputs: Inputs<'_>) -> Option<String> {
        difference(self.known()?, inputs)
    }

    /// Returns the template without its [residual](Template::residual).
    #[must_use]
    #[doc(hidden)]
    pub fn general(&self) -> Self {
        Self { residual: None, ..self.clone() }
    }

    /// Returns the template for inputs over a layer that gives all known values, which is not compared again.
    #[doc(hidden)]
    pub fn over_known(&self) -> Self {
        Self { choice: Choice::Guarded, ..self.clone() }
    }

    /// Returns the template specialised to inputs that are known before a render, or `None` if it cannot be, or not within
    /// the budgets of [`specialise`](dropforge_machine::specialise). With inputs that agree with `known`, it gives the same text, or
    /// fails with the same error. It may use less fuel, memory and depth.
    ///
    /// ```
    /// use dropforge::{Dialect, Engine};
    /// use dropforge::specialise::Known;
    /// use dropforge::{Arena, Value};
    /// let template = Engine::new().compile(Dialect::Tera, "t", "{% if env == 'prod' %}{{ name }}{% endif %}.")?;
    /// let arena = Arena::new();
    /// let known = Known::Fields(vec![("env", Known::Value(arena.text("prod")))]);
    /// let specialised = template.specialise(&known).expect("a small program");
    /// let inputs = serde_json::json!({"env": "prod", "name": "api"});
    /// assert_eq!(specialised.render(&inputs)?, template.render(&inputs)?);
    /// assert!(specialised.program().words().len() < template.program().words().len());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(hidden)]
    pub fn specialise(&self, known: &Known<'_>) -> Option<Self> {
        let machine = self.shared.language.machine();
        let program = machine.specialise(self.run(Inputs::new(Value::Null)), known)?;
        let Shared { linked, limits, capabilities, files, found, callees, .. } = &*self.shared;
        let found = Findings { lints: found.lints.clone(), reaches: found.reaches.clone(), tree: None, ..*found };
        let (linked, limits, files) = (linked.clone(), limits.clone(), files.clone());
        let (capabilities, callees) = (*capabilities, callees.clone());
        let language = self.shared.language;
        let reads = FoundReads::default();
        let shared = Shared { language, program, linked, limits, capabilities, files, found, callees, reads };
        Some(Self::new(shared, self.format))
    }
}

/// Returns the dotted path of the first known input that `inputs` do not give.
fn difference(known: &DataMap, inputs: Inputs<'_>) -> Option<String> {
    let differs = |(name, known): (&String, &Data)| {
        let mut path = inputs.get(name).map_or_else(|| Some(Vec::new()), |value| unlike(known, value))?;
        path.push(name);
        path.reverse();
        Some(path.join("."))
    };
    known.iter().find_map(differs)
}

/// Returns the keys that lead to the first difference of a value, the last one first. The order of keys counts, because
/// a program may show it.
fn unlike<'k>(known: &'k Data, value: Value<'_>) -> Option<Vec<&'k str>> {
    let is_alike = match (known, value) {
        (Data::Map(known), Value::Map(map)) => {
            if !known.keys().map(String::as_str).eq(map.iter().map(|(name, _)| name)) {
                return Some(Vec::new());
            }
            return known.iter().zip(map.values()).find_map(|((name, known), value)| {
                let mut path = unlike(known, *value)?;
                path.push(name);
                Some(path)
            });
        }
        (Data::List(known), Value::List(list)) => {
            let mut pairs = known.iter().zip(list.items());
            known.len() == list.items().len() && pairs.all(|(known, value)| unlike(known, *value).is_none())
        }
        (Data::Null, Value::Null) => true,
        (Data::Bool(a), Value::Bool(b)) => *a == b,
        (Data::Int(a), Value::Int(b)) => *a == b,
        (Data::Uint(a), Value::Uint(b)) => *a == b,
        // Zero has a sign, which a program may write.
        (Data::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
        (Data::Str(a), Value::Str(b)) => a == b.as_str(),
        _ => false,
    };
    if is_alike { None } else { Some(Vec::new()) }
}
