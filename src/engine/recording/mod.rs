//! Recordings of runs: the places that wrote each part of an output, what they ran within, and the inputs that flowed in.
//!
//! ```
//! use dropforge::{Dialect, Engine};
//! use dropforge::bulk::values::Step;
//! use dropforge::{Arena, Inputs, Value};
//! use dropforge::Session;
//! let source = "{% for port in ports %}\n- {{ port }}{% endfor %}\n";
//! let template = Engine::new().compile(Dialect::Tera, "ports", source)?;
//! let arena = Arena::new();
//! let ports = arena.list(&[Value::Int(80), Value::Int(443)]);
//! let inputs = Inputs::new(arena.map(&[("ports", ports)]));
//! let (recording, text) = template.record(&mut Session::new(), inputs);
//! let text = text?;
//! let why = recording.why(&text, text.find("443").unwrap()).unwrap();
//! assert_eq!(why.written[0].place(), "ports:2:6");
//! assert_eq!(why.within.len(), 1);
//! assert_eq!(Step::joined(&why.inputs[0].path), "ports[1]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod changed;
mod event;
mod flow;
mod frames;
mod known;
mod recorder;
mod trace;
mod why;

use std::sync::Mutex;

use crate::{RenderError, Template};
use changed::Origin;
use dropforge_base::diagnostics::{Code, Result};
use dropforge_base::mask::Mask;
use dropforge_machine::bytecode::Program;
use dropforge_machine::vm::Session;
use dropforge_value::Inputs;
use event::{Edge, Event, Part};
use frames::Context;
use hashbrown::HashMap;

pub use flow::Flow;
pub use known::ShownValue;
pub use recorder::Recorder;
pub use trace::TraceRow;
pub use why::{Why, Within, Writer};

/// Maximum number of errors of one output for which the places that wrote them are found. Reports show no more.
const PLACED: usize = 20;

/// A recorded run.
#[derive(Debug, Default)]
pub struct Recording {
    /// The output, with the texts of missing values that a language removes.
    text: String,
    /// The captured text that was read last.
    read: Mutex<Option<why::ReadText>>,
    /// The parts of the output.
    parts: Vec<Part>,
    events: Vec<Event>,
    /// The events whose results variables were set to.
    assigned: Vec<u32>,
    /// The origins of what the events used, each with a range of them.
    edges: Vec<Edge>,
    contexts: Vec<Context>,
    /// The programs of the run by their numbers.
    programs: Vec<Option<Program>>,
    /// The names of inputs by their numbers.
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Other origins of what events read from maps that the run changed.
    changed: HashMap<u32, Vec<Origin>>,
    /// The origin of the result.
    answer: Edge,
    /// The length of the part of the output that is recorded, if the run had more events than are recorded.
    cut: Option<usize>,
    /// The secrets among the inputs.
    mask: Mask,
}

impl Recording {
    /// Returns `true` if the run was too long to be recorded to its end.
    pub fn is_cut(&self) -> bool {
        self.cut.is_some()
    }

    /// Returns the secrets among the inputs, for printers of what is recorded.
    pub fn mask(&self) -> &Mask {
        &self.mask
    }

    /// Takes note of a program of the run.
    fn know(&mut self, unit: u32, program: &Program) {
        let unit = unit as usize;
        if self.programs.len() <= unit {
            self.programs.resize(unit + 1, None);
        }
        if let Some(place @ None) = self.programs.get_mut(unit) {
            *place = Some(program.clone());
        }
    }

    fn program(&self, unit: u32) -> Option<&Program> {
        self.programs.get(unit as usize)?.as_ref()
    }

    /// Returns the number of the name of an input.
    fn name(&mut self, name: &str) -> u32 {
        if let Some(known) = self.numbers.get(name) {
            return *known;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn event(&self, number: u32) -> Option<&Event> {
        self.events.get(number as usize)
    }

    /// Returns where what an event used comes from.
    fn inputs(&self, event: &Event) -> &[Edge] {
        self.edges.get(event.inputs.start as usize..event.inputs.end as usize).unwrap_or(&[])
    }
}

impl Template {
    /// Renders again with the same inputs, to find out which place in the template wrote the invalid part of its output
    /// `text`, and adds it to the errors of an [`OutputCheck`](super::OutputCheck). They only get the template's name if
    /// the second output differs.
    #[doc(hidden)]
    pub fn show_writer(&self, session: &mut Session, inputs: Inputs<'_>, text: &str, errors: &mut [RenderError]) {
        let (recording, _) = self.record(session, inputs);
        for (nth, error) in errors.iter_mut().enumerate() {
            error.template.get_or_insert_with(|| self.name().to_owned());
            let at = error.primary().map(|label| label.span.start as usize).filter(|_| nth < PLACED);
            let Some((why, at)) = at.and_then(|at| Some((recording.why(text, at)?, at))) else { continue };
            let fix = why.fix(self.program().dialect(), text, at).filter(|_| error.code == Code::InvalidOutput);
            error.help = fix.or(error.help.take());
            error.labels.extend(why.into_labels());
        }
    }

    /// Renders with the general program and records what wrote each part of the output, which is returned, too. The
    /// recording ends where the render failed, if it did.
    ///
    /// # Errors
    /// Those of a render.
    #[doc(hidden)]
    pub fn record(&self, session: &mut Session, inputs: Inputs<'_>) -> (Recording, Result<String>) {
        self.record_with(Recorder::default(), session, inputs)
    }

    /// Renders and records as [`Template::record`] does, with a recorder of other limits.
    ///
    /// # Errors
    /// Those of a render.
    #[doc(hidden)]
    pub fn record_with(
        &self,
        mut recorder: Recorder,
        session: &mut Session,
        inputs: Inputs<'_>,
    ) -> (Recording, Result<String>) {
        let mut text = String::new();
        let rendered = self.rendering(self.run(inputs)).render_raw(session, &mut text, Some(&mut recorder));
        let recording = recorder.end(text.clone());
        self.shared.language.finish(self.program(), &mut text, 0);
        (recording, rendered.map(|()| text))
    }
}
