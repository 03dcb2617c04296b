//! Subjects of the template languages: the text of one use becomes a template with a loop.

use std::hint::black_box;

use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use serde_json::Value;

use super::data::inputs;
use super::{Row, Task};
use crate::engines::{Engine, Templates};
use crate::subject::Subject;
use crate::tasks::{Convert, Render};

/// The line between what stands before the loop and one use.
const HEAD: &str = "\n---\n";

/// How an engine's language writes a loop over `items`, and the files that the rows include and import.
pub trait Looping: Engine {
    /// The tag that begins a loop, and the tag that ends it.
    const LOOP: (&'static str, &'static str);
    /// Files: name and text.
    const FILES: &'static [(&'static str, &'static str)] = &[];
}

/// Builds the subject of an engine.
pub fn subject<E: Looping>(text: &str, task: Task, row: &Row) -> Box<dyn Subject> {
    let templates = templates::<E>(text, row);
    let mut texts = vec![row.text, row.plain];
    texts.extend(row.peers.iter().flatten());
    texts.extend(E::FILES.iter().filter(|(name, _)| row.text.contains(name)).map(|(_, text)| text));
    let inputs = inputs(&texts);
    match task {
        Task::Use | Task::Plain => Box::new(Render::<E>::new(templates, &inputs, 1, "")),
        Task::Converted => Box::new(Convert::<E>::new(templates, vec![inputs])),
    }
}

/// Returns the template of one use, and the files.
pub fn templates<E: Looping>(text: &str, row: &Row) -> Templates {
    let (head, body) = text.split_once(HEAD).unwrap_or(("", text));
    let entry = if row.escaped { "main.html" } else { "main" };
    let files = E::FILES.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let (begin, end) = E::LOOP;
    let main = if row.whole { body.to_owned() } else { format!("{head}{begin}{body}\n{end}") };
    let main = (entry.to_owned(), main);
    Templates { files: files.chain([main]).collect(), entries: vec![entry.to_owned()], shell: false }
}

/// Inputs of ours: ready, or converted each time.
pub struct Given {
    json: Option<Value>,
    shapes: &'static Shapes<'static>,
    own: Arena,
    ready: Inputs<'static>,
}

impl Given {
    /// Prepares inputs for a task.
    pub fn new(json: Value, task: Task) -> Self {
        let shapes: &'static Shapes<'static> = Box::leak(Box::new(Shapes::new(Box::leak(Box::default()))));
        let kept: &'static Value = Box::leak(Box::new(json));
        let ready = InputBuilder::new(Box::leak(Box::default()), shapes).deserialize(kept).expect("inputs");
        let json = (task == Task::Converted).then(|| kept.clone());
        Self { json, shapes, own: Arena::new(), ready: Inputs::new(ready) }
    }

    /// Returns the inputs, valid until the next call.
    pub fn inputs(&mut self) -> Inputs<'_> {
        self.own.reset();
        black_box(match &self.json {
            Some(json) => Inputs::new(InputBuilder::new(&self.own, self.shapes).deserialize(json).expect("inputs")),
            None => self.ready,
        })
    }
}
