//! The engines whose inputs are made at run time, behind one trait; the workloads know no more of them than this.

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

/// What an engine is to compile.
#[derive(Clone)]
pub struct Templates {
    /// Every file: its name and its text.
    pub files: Vec<(String, String)>,
    /// The files that are rendered, in the order of their numbers; the others are included or imported.
    pub entries: Vec<String>,
    /// Whether this is text with commands of a shell, whose values are quoted.
    pub shell: bool,
}

/// A template engine with compiled templates and, perhaps, inputs. Texts are appended to what is there.
pub trait Engine: Sized + 'static {
    /// What tables call it.
    const NAME: &'static str;
    /// Its folder of W1 and the ending of the files there.
    const W1: (&'static str, &'static str);

    /// An engine with these templates compiled.
    fn new(templates: Templates) -> Self;

    /// Parses and compiles all templates once more, as the first time.
    fn compile(&mut self);

    /// Makes inputs ready and keeps them.
    fn hold(&mut self, inputs: &Value);

    /// Renders an entry with the inputs that are ready.
    fn render(&mut self, entry: usize, out: &mut String);

    /// Makes the inputs ready over which those of each [`Engine::stamp`] lie.
    fn share(&mut self, shared: &Value);

    /// Converts inputs and renders the first `entries` with them, one after the other.
    fn stamp(&mut self, own: &Value, entries: usize, out: &mut String, see: &mut dyn FnMut(usize, &str));

    /// Reads inputs from JSON text.
    fn read(&mut self, json: &str);

    /// Reads inputs from JSON text and renders an entry with them.
    fn read_and_render(&mut self, json: &str, entry: usize, out: &mut String);
}

/// One word of a shell: the filter that the peers are given for W4.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_quoted(&mut out, text);
    out
}

/// Appends `text` as one word of a shell.
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

/// Appends a text that an engine made, without a copy where nothing is there yet.
fn append(out: &mut String, text: String) {
    if out.is_empty() {
        *out = text;
    } else {
        out.push_str(&text);
    }
}

/// The top-level keys of `own` over those of `shared`.
fn overlaid(shared: &Value, own: &Value) -> Value {
    let mut all = shared.as_object().cloned().unwrap_or_default();
    all.extend(own.as_object().cloned().unwrap_or_default());
    Value::Object(all)
}
