//! W4: 30 shell commands with 92 interpolations, each value quoted as one word. Each command is a template.

use std::hint::black_box;

use serde_json::Value;

use crate::engines::{Engine, Hcl, Minijinja, Ours, Templates, Tera1, Tera2, push_quoted};
use crate::files::workload;
use crate::subject::{
    Bar::{AtMost, Faster},
    Subject, Workload,
};
use crate::tasks::Render;

/// The commands with values filled in.
pub fn commands() -> Workload {
    let inputs = inputs();
    Workload {
        id: "w4",
        title: "W4: 30 shell commands, values quoted",
        expected: workload("w4/expected.txt"),
        subjects: vec![
            subject::<Ours>("txt", &inputs),
            subject::<Minijinja>("j2", &inputs),
            subject::<Tera2>("j2", &inputs),
            subject::<Tera1>("j2", &inputs),
            subject::<Hcl>("hcltpl", &inputs),
            Box::new(Resolved::new(&inputs)),
        ],
        bars: vec![(Resolved::NAME, AtMost(2.0)), ("minijinja 3", Faster(7.0))],
    }
}

fn inputs() -> Value {
    serde_json::from_str(&workload("w4/values.json")).expect("JSON")
}

fn subject<E: Engine>(ending: &str, inputs: &Value) -> Box<dyn Subject> {
    let text = workload(&format!("w4/commands.{ending}"));
    let files: Vec<_> = text.lines().enumerate().map(|(nth, line)| (format!("{nth}.sh"), line.to_owned())).collect();
    let entries: Vec<String> = files.iter().map(|(name, _)| name.clone()).collect();
    let count = entries.len();
    Box::new(Render::<E>::new(Templates { files, entries, shell: true }, inputs, count, "\n"))
}

/// The upper limit: every name is resolved in advance, which leaves text, numbers and quoting.
struct Resolved {
    commands: Vec<Vec<Piece>>,
    out: String,
}

enum Piece {
    Text(String),
    Word(String),
    Number(i64),
}

impl Resolved {
    const NAME: &'static str = "resolved, by hand";

    fn new(inputs: &Value) -> Self {
        let commands = workload("w4/commands.txt").lines().map(|line| pieces(line, inputs)).collect();
        Self { commands, out: String::new() }
    }
}

fn pieces(command: &str, inputs: &Value) -> Vec<Piece> {
    let mut parts = command.split("${");
    let mut pieces = vec![Piece::Text(parts.next().unwrap_or_default().to_owned())];
    for part in parts {
        let (path, text) = part.split_once('}').expect("an expression ends");
        pieces.push(match path.split('.').fold(inputs, |value, key| &value[key]) {
            Value::String(word) => Piece::Word(word.clone()),
            number => Piece::Number(number.as_i64().expect("a number")),
        });
        pieces.push(Piece::Text(text.to_owned()));
    }
    pieces
}

impl Subject for Resolved {
    fn engine(&self) -> &'static str {
        Self::NAME
    }

    fn run(&mut self) {
        self.out.clear();
        for (nth, command) in black_box(&self.commands).iter().enumerate() {
            if nth > 0 {
                self.out.push('\n');
            }
            for piece in command {
                match piece {
                    Piece::Text(text) => self.out.push_str(text),
                    Piece::Word(word) => push_quoted(&mut self.out, word),
                    Piece::Number(number) => push_quoted(&mut self.out, itoa::Buffer::new().format(*number)),
                }
            }
        }
        black_box(&self.out);
    }

    fn output(&mut self) -> String {
        self.run();
        self.out.clone()
    }
}
