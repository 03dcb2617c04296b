//! Rows of CEL in YAML and of tower. No other engine has these languages.

use dropforge::engine::{Dialect, Template};
use dropforge::vm::Session;
use serde_json::{Value, json};

use super::Kind::{Function, Operator, Statement};
use super::subjects::Given;
use super::{Kind, Language, Row, Task, data};
use crate::engines::{Engine, Ours};
use crate::subject::Subject;

/// CEL in YAML. One use is what a `$for` gives for an item.
pub const CEL_YAML: Language = Language {
    name: "cel-yaml",
    rows: DIRECTIVES,
    without: &[],
    builtins: || vec![(dropforge::bytecode::ImportKind::Function, "omit".to_owned())],
    ours: |text, task, row| {
        let template = template(Dialect::CelYaml, row, around(text, row));
        Box::new(Document::new(template, data::inputs(&[row.text, row.plain]), task))
    },
    peers: &[],
};

/// Tower. One use stands in the text once for each item, with the item's number for `@`.
pub const TOWER: Language = Language {
    name: "tower",
    rows: NAMES,
    without: &[],
    builtins: Vec::new,
    ours: |text, task, row| Box::new(Document::new(template(Dialect::Tower, row, repeated(text)), names(), task)),
    peers: &[],
};

/// An included file.
const PART: (&str, &str) = ("part.cel.yaml", "name: '${s}'\n");

fn around(text: &str, row: &Row) -> String {
    if row.whole { text.to_owned() } else { format!("all:\n  - $for: x in items\n    $do: {text}\n") }
}

fn repeated(text: &str) -> String {
    (0..data::ITEMS).map(|n| text.replace('@', &n.to_string()) + "\n").collect()
}

fn template(dialect: Dialect, row: &Row, text: String) -> Template {
    let entry = if dialect == Dialect::CelYaml { "main.cel.yaml" } else { "main.sh" };
    let files = [(PART.0.to_owned(), PART.1.to_owned()), (entry.to_owned(), text)];
    super::compiled(dialect, files, entry, row.escaped)
}

/// A template that is rendered.
struct Document {
    template: Template,
    session: Session,
    given: Given,
    out: String,
}

impl Document {
    fn new(template: Template, inputs: Value, task: Task) -> Self {
        Self { template, session: Session::new(), given: Given::new(inputs, task), out: String::new() }
    }
}

impl Subject for Document {
    fn engine(&self) -> &'static str {
        Ours::NAME
    }

    fn run(&mut self) {
        self.out.clear();
        let rendered = self.template.render_inputs(&mut self.session, self.given.inputs(), &mut self.out);
        rendered.unwrap_or_else(|error| panic!("{error}"));
    }

    fn output(&mut self) -> String {
        self.run();
        self.out.clone()
    }
}

const fn row(kind: Kind, name: &'static str, text: &'static str) -> Row {
    Row::new(kind, name, text, "'${x.s}'")
}

const DIRECTIVES: &[Row] = &[
    row(Operator, "${CEL}", "'${x.s}'").plain("a"),
    row(Operator, "${CEL} (in text)", "'${x.s}-${x.n}'"),
    row(Operator, "${CEL} (a number)", "'${x.n + 1}'"),
    row(Operator, "${CEL} (a list)", "'${x.nums}'"),
    row(Operator, "map", "{ name: '${x.s}', port: '${x.n}' }"),
    row(Operator, "list", "['${x.s}', '${x.n}']"),
    row(Operator, "key", "{ '${x.s}': 1 }").plain("{ a: 1 }"),
    row(Function, "omit", "{ name: '${x.s}', maybe: \"${has(x.maybe) ? x.maybe : omit()}\" }")
        .plain("{ name: '${x.s}' }"),
    row(Statement, "$let", "{ $let: { y: '${x.s}' }, name: '${y}' }").plain("{ name: '${x.s}' }"),
    row(Statement, "$assert", "{ $assert: x.n < 1000, $msg: too many, name: '${x.s}' }").plain("{ name: '${x.s}' }"),
    row(Statement, "$if", "{ $if: x.flag, name: '${x.s}' }").plain("{ name: '${x.s}' }"),
    row(Statement, "$then, $else", "{ $if: x.flag, $then: on, $else: off }").plain("a"),
    row(Statement, "$for", "{ all: [{ $for: y in x.list, $do: '${y}' }] }").plain("{ all: '${x.s}' }"),
    row(Statement, "$for (a map)", "{ $for: 'k, v in x.map', $do: { '${k}': '${v}' } }").plain("{ a: '${x.s}' }"),
    row(Statement, "$include", "{ $include: part.cel.yaml, $with: { s: '${x.s}' } }").plain("{ name: '${x.s}' }"),
    row(Statement, "$schema", "$schema: { limit: integer }\na: '${limit}'\n").plain("a: '${limit}'\n").whole(),
];

const NAMES: &[Row] = &[
    Row::new(Operator, "a text", "${params.s@}", "a"),
    Row::new(Operator, "a number", "${params.n@}", "a"),
    Row::new(Operator, "of the context", "${context.s@}", "a"),
    Row::new(Operator, "of a step", "${steps.s@.outputs.tag}", "a"),
    Row::new(Operator, "a text (quoted)", "${params.s@}", "a").escaped(),
    Row::new(Operator, "a number (quoted)", "${params.n@}", "a").escaped(),
];

fn names() -> Value {
    let mut all = json!({"params": {}, "context": {}, "steps": {}});
    for n in 0..data::ITEMS {
        let item = data::all(n);
        all["params"][format!("s{n}")] = item["s"].clone();
        all["params"][format!("n{n}")] = item["n"].clone();
        all["context"][format!("s{n}")] = item["s"].clone();
        all["steps"][format!("s{n}")] = json!({"status": "completed", "outputs": {"tag": item["s"]}});
    }
    all
}
