//! Engines with dynamic inputs, behind one trait. The workloads use nothing else of them.

pub mod cel;
pub mod hcl;
mod minijinja;
mod ours;
mod tera1;
mod tera2;

pub use hcl::Hcl;
pub use minijinja::Minijinja;
pub use ours::{Checked, Ours, OursHcl};
use serde_json::Value;
pub use tera1::Tera1;
pub use tera2::Tera2;

/// Templates for an engine to compile.
#[derive(Clone)]
pub struct Templates {
    /// Every file: name and text.
    pub files: Vec<(String, String)>,
    /// The rendered files, in order of their numbers. The others are included or imported.
    pub entries: Vec<String>,
    /// `true` for shell commands, whose values are quoted.
    pub shell: bool,
}

/// A template engine with compiled templates and inputs. Output is appended to the buffer.
pub trait Engine: Sized + 'static {
    /// The engine's name in tables.
    const NAME: &'static str;
    /// Its folder of W1 templates, and their extension.
    const W1: (&'static str, &'static str);

    /// Converted inputs.
    type Ready;

    /// Compiles these templates.
    fn new(templates: Templates) -> Self;

    /// Parses and compiles all templates again from scratch.
    fn compile(&mut self);

    /// Converts inputs.
    fn ready(&self, inputs: &Value) -> Self::Ready;

    /// Renders an entry with converted inputs.
    fn render(&mut self, entry: usize, inputs: &Self::Ready, out: &mut String);

    /// Converts shared inputs, which those of each [`Engine::stamp`] override.
    fn share(&mut self, shared: &Value);

    /// Converts inputs and renders the first `entries` with them, one after the other.
    fn stamp(&mut self, own: &Value, entries: usize, out: &mut String, see: &mut dyn FnMut(usize, &str));

    /// Parses inputs from JSON text.
    fn read(&mut self, json: &str);

    /// Parses inputs from JSON text and renders an entry with them.
    fn read_and_render(&mut self, json: &str, entry: usize, out: &mut String);
}

/// Quotes a string as one shell word: the filter for the other engines in W4.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

/// Appends `text` as one shell word.
pub fn push_quoted(out: &mut String, text: &str) {
    out.push('\'');
    let mut pieces = text.split('\'');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        out.push_str("'\\''");
        out.push_str(piece);
    }
    out.push('\'');
}

/// Appends an engine's output, without a copy if the buffer is empty.
fn append(out: &mut String, text: String) {
    if out.is_empty() {
        *out = text;
    } else {
        out.push_str(&text);
    }
}

/// Merges the top-level keys of `own` over those of `shared`.
fn overlaid(shared: &Value, own: &Value) -> Value {
    let mut all = shared.as_object().cloned().unwrap_or_default();
    all.extend(own.as_object().cloned().unwrap_or_default());
    Value::Object(all)
}
