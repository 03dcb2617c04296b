//! The construct table: what one use of each filter, test, function, statement and operator costs.
//!
//! A row is a micro-template for one use. It runs once for each of 100 different items, so that nothing is constant. The
//! same loop with a plain emission ([`Row::plain`]) is measured beside it and subtracted, for every engine alike.

pub mod cel;
pub mod data;
pub mod documents;
pub mod hcl;
pub mod measure;
pub mod report;
pub mod shared;
pub mod subjects;
pub mod tera;

use dropforge::bytecode::ImportKind;
use dropforge::engine::{Dialect, Engine as Forge, Template};
use dropforge::function::Registry;
use serde_json::Value;

use crate::subject::Subject;

/// The kind of a construct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A filter.
    Filter,
    /// A test of `is`.
    Test,
    /// A function or a method.
    Function,
    /// A statement or a directive.
    Statement,
    /// An operator, or another form of expression.
    Operator,
}

impl Kind {
    /// Returns the name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Filter => "filter",
            Kind::Test => "test",
            Kind::Function => "function",
            Kind::Statement => "statement",
            Kind::Operator => "operator",
        }
    }
}

/// The most peers that a language has.
pub const PEERS: usize = 3;

/// Bits of [`Row::same`], by place in [`Language::peers`].
pub const FIRST: u8 = 1;
/// The second peer.
pub const SECOND: u8 = 2;
/// The third peer.
pub const THIRD: u8 = 4;

/// One construct: how each engine writes one use of it for the item `x`.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The kind of the construct.
    pub kind: Kind,
    /// The construct's name. A note may follow the name in parentheses: `round (ceil)`.
    pub name: &'static str,
    /// One use in our language.
    pub text: &'static str,
    /// The plain emission that is subtracted.
    pub plain: &'static str,
    /// One use in the peers' languages, `None` if a peer has no such construct or another result.
    pub peers: [Option<&'static str>; PEERS],
    /// `true` if the output is escaped for HTML, or quoted for a shell.
    pub escaped: bool,
    /// `true` if the text is a whole template: the construct is used once in a render, not once for each item.
    pub whole: bool,
    /// The library call that our body and the peer's have in common.
    pub shared: Option<shared::Call>,
}

impl Row {
    /// A row without peers, beside the emission of a short string.
    pub const fn new(kind: Kind, name: &'static str, text: &'static str, plain: &'static str) -> Self {
        Self { kind, name, text, plain, peers: [None; PEERS], escaped: false, whole: false, shared: None }
    }

    /// Replaces the plain emission.
    pub const fn plain(self, plain: &'static str) -> Self {
        Self { plain, ..self }
    }

    /// Peers that take our text.
    pub const fn same(mut self, peers: u8) -> Self {
        let mut at = 0;
        while at < PEERS {
            if peers & 1 << at != 0 {
                self.peers[at] = Some(self.text);
            }
            at += 1;
        }
        self
    }

    /// The text of the second peer.
    pub const fn second(mut self, text: &'static str) -> Self {
        self.peers[1] = Some(text);
        self
    }

    /// The text of the third peer.
    pub const fn third(mut self, text: &'static str) -> Self {
        self.peers[2] = Some(text);
        self
    }

    /// Escapes the output for HTML.
    pub const fn escaped(self) -> Self {
        Self { escaped: true, ..self }
    }

    /// The texts are whole templates.
    pub const fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    /// Returns how often one render uses the construct.
    pub fn uses(&self) -> f64 {
        if self.whole { 1.0 } else { data::ITEMS as f64 }
    }

    /// Names the library call that the engines have in common.
    pub const fn shared(self, field: &'static str, run: fn(&Value) -> usize) -> Self {
        Self { shared: Some(shared::Call { field, run }), ..self }
    }

    /// Returns the name without its note.
    pub fn construct(&self) -> &'static str {
        self.name.split_once(" (").map_or(self.name, |(name, _)| name)
    }
}

/// A target for the ratios to a peer.
#[derive(Debug, Clone, Copy)]
pub struct Bars {
    /// The median ratio.
    pub median: f64,
    /// The smallest ratio.
    pub least: f64,
}

/// What a subject runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// The construct, inputs ready.
    Use,
    /// The plain emission, inputs ready.
    Plain,
    /// The construct, inputs converted each time.
    Converted,
}

/// Builds the subject of an engine: the text of one use, the task, the row.
pub type Make = fn(&str, Task, &Row) -> Box<dyn Subject>;

/// A language with its rows and peers.
pub struct Language {
    /// The name on the command line and in the table.
    pub name: &'static str,
    /// The rows.
    pub rows: &'static [Row],
    /// Constructs without a row, each with the reason.
    pub without: &'static [(&'static str, &'static str)],
    /// Returns the kind and the name of each builtin.
    pub builtins: fn() -> Vec<(ImportKind, String)>,
    /// Builds our subject.
    pub ours: Make,
    /// The peers, their targets and how their subjects are built.
    pub peers: &'static [(&'static str, Option<Bars>, Make)],
}

/// Every language.
pub const LANGUAGES: &[Language] =
    &[tera::LANGUAGE, hcl::LANGUAGE, cel::LANGUAGE, documents::CEL_YAML, documents::TOWER];

/// Returns the kind and the name of each function of a registry.
fn builtins(registry: &Registry) -> Vec<(ImportKind, String)> {
    registry.iter().map(|builtin| (builtin.kind, builtin.name.to_string())).collect()
}

/// Compiles the entry of some files.
fn compiled(dialect: Dialect, files: impl IntoIterator<Item = (String, String)>, entry: &str, shell: bool) -> Template {
    let builder = Forge::builder().shell(shell);
    let forge = files.into_iter().fold(builder, |builder, (name, text)| builder.template(name, text)).build();
    forge.load(dialect, entry).unwrap_or_else(|errors| panic!("{errors}"))
}
