//! W6: single expressions, 30 about single values and 10 about 100 items. All are compiled in advance.

use std::hint::black_box;
use std::str::FromStr;

use dropforge::dialect::{cel as cel_of_ours, hcl as hcl_of_ours};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes, Value as Input};
use dropforge::vm::Space;
use hcl::eval::{Context, Evaluate};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engines::{Engine, Hcl, OursHcl, cel as peer, hcl::context};
use crate::files::workload;
use crate::subject::{
    Bar::{AtMost, Faster},
    Subject, Workload,
};
use crate::typed::w6::{Answers, Inputs as Typed, lists as by_hand};

/// Number of expressions about single values. They come first.
const SCALARS: usize = 30;

#[derive(Deserialize)]
struct Case {
    cel: String,
    hcl: String,
    expected: Value,
}

fn cases() -> Vec<Case> {
    serde_json::from_str(&workload("w6/expressions.json")).expect("JSON")
}

fn inputs<T: for<'de> Deserialize<'de>>() -> T {
    serde_json::from_str(&workload("w6/context.json")).expect("JSON")
}

/// The HCL expressions about single values.
pub fn scalars() -> Workload {
    let cases: Vec<_> = cases().drain(..SCALARS).collect();
    Workload {
        id: "w6-scalars",
        title: "W6: 30 expressions of HCL about single values",
        expected: expected(&cases),
        subjects: vec![ours_of_hcl(&cases), Box::new(PeerHcl::new(&cases))],
        bars: vec![(Hcl::NAME, Faster(50.0))],
    }
}

/// The HCL expressions about 100 items.
pub fn lists() -> Workload {
    let cases: Vec<_> = cases().drain(SCALARS..).collect();
    Workload {
        id: "w6-lists",
        title: "W6: 10 expressions of HCL about 100 items",
        expected: expected(&cases),
        subjects: vec![ours_of_hcl(&cases), Box::new(PeerHcl::new(&cases)), Box::new(Native(inputs()))],
        bars: vec![(Hcl::NAME, Faster(30.0)), (Native::NAME, AtMost(9.0))],
    }
}

/// The CEL expressions about single values.
pub fn cel_scalars() -> Workload {
    let cases: Vec<_> = cases().drain(..SCALARS).collect();
    Workload {
        id: "w6-cel-scalars",
        title: "W6: 30 expressions of CEL about single values",
        expected: expected(&cases),
        subjects: vec![ours_of_cel(&cases), Box::new(PeerCel::new(&cases))],
        bars: vec![(peer::NAME, Faster(3.0))],
    }
}

/// The CEL expressions about 100 items.
pub fn cel_lists() -> Workload {
    let cases: Vec<_> = cases().drain(SCALARS..).collect();
    Workload {
        id: "w6-cel-lists",
        title: "W6: 10 expressions of CEL about 100 items",
        expected: expected(&cases),
        subjects: vec![ours_of_cel(&cases), Box::new(PeerCel::new(&cases)), Box::new(Native(inputs()))],
        bars: vec![(peer::NAME, Faster(30.0)), (Native::NAME, AtMost(9.0))],
    }
}

fn ours_of_hcl(cases: &[Case]) -> Box<dyn Subject> {
    Box::new(Ours::<hcl_of_ours::Expression>::new(cases.iter().map(|case| &case.hcl)))
}

fn ours_of_cel(cases: &[Case]) -> Box<dyn Subject> {
    Box::new(Ours::<cel_of_ours::Expression>::new(cases.iter().map(|case| &case.cel)))
}

fn expected(cases: &[Case]) -> String {
    lines(cases.iter().map(|case| &case.expected))
}

/// Formats values as lines of JSON. Equal numbers have equal text.
pub(crate) fn lines(values: impl IntoIterator<Item = impl Serialize>) -> String {
    let value = |value| plain(serde_json::to_value(value).expect("a value of JSON"));
    values.into_iter().map(|each| value(each).to_string() + "\n").collect()
}

/// Sorts the keys of a value and writes integral numbers as integers.
fn plain(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(plain).collect(),
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.into_iter().map(|(key, value)| (key, plain(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 1e15 => (float as i64).into(),
            _ => number.into(),
        },
        other => other,
    }
}

/// A compiled expression of one of our languages.
trait Compiled: Sized {
    /// The engine's name in tables.
    const NAME: &'static str;

    fn compile(text: &str, limits: &Limits) -> Self;

    fn evaluate<'r>(&'r self, space: &'r Space, inputs: Inputs<'r>, limits: &'r Limits) -> Input<'r>;
}

impl Compiled for hcl_of_ours::Expression {
    const NAME: &'static str = OursHcl::NAME;

    fn compile(text: &str, limits: &Limits) -> Self {
        let compiled = Self::new(&Source::new("expression", text), &hcl_of_ours::registry(), limits);
        compiled.unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn evaluate<'r>(&'r self, space: &'r Space, inputs: Inputs<'r>, limits: &'r Limits) -> Input<'r> {
        let answer = self.evaluate(space, inputs, limits).expect("within the limits");
        debug_assert!(answer.errors.is_empty(), "{:?}", answer.errors);
        answer.value
    }
}

impl Compiled for cel_of_ours::Expression {
    const NAME: &'static str = OursHcl::NAME;

    fn compile(text: &str, limits: &Limits) -> Self {
        let compiled = Self::new(&Source::new("expression", text), &cel_of_ours::registry(), limits);
        compiled.unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn evaluate<'r>(&'r self, space: &'r Space, inputs: Inputs<'r>, limits: &'r Limits) -> Input<'r> {
        self.evaluate(space, inputs, limits).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// dropforge. The values of one round share a space.
struct Ours<E> {
    expressions: Vec<E>,
    inputs: Inputs<'static>,
    space: Space,
    limits: Limits,
}

impl<E: Compiled> Ours<E> {
    fn new<'t>(texts: impl Iterator<Item = &'t String>) -> Self {
        let limits = Limits::default();
        let expressions = texts.map(|text| E::compile(text, &limits)).collect();
        let shapes = Box::leak(Box::new(Shapes::new(Box::leak(Box::<Arena>::default()))));
        let json: &'static Value = Box::leak(Box::new(inputs()));
        let inputs = InputBuilder::new(Box::leak(Box::default()), shapes).deserialize(json).expect("inputs");
        Self { expressions, inputs: Inputs::new(inputs), space: Space::new(), limits }
    }
}

impl<E: Compiled> Subject for Ours<E> {
    fn engine(&self) -> &'static str {
        E::NAME
    }

    fn run(&mut self) {
        self.space.reset();
        for expression in &self.expressions {
            black_box(expression.evaluate(&self.space, black_box(self.inputs), &self.limits));
        }
    }

    fn output(&mut self) -> String {
        self.run();
        let evaluate = |expression: &E| expression.evaluate(&self.space, self.inputs, &self.limits).to_data();
        lines(self.expressions.iter().map(evaluate))
    }
}

/// hcl-rs.
struct PeerHcl {
    expressions: Vec<hcl::Expression>,
    context: Context<'static>,
}

impl PeerHcl {
    fn new(cases: &[Case]) -> Self {
        let parse = |case: &Case| hcl::Expression::from_str(&case.hcl).expect("an expression");
        let context = context(hcl::to_value(inputs::<Value>()).expect("inputs"));
        Self { expressions: cases.iter().map(parse).collect(), context }
    }
}

impl Subject for PeerHcl {
    fn engine(&self) -> &'static str {
        Hcl::NAME
    }

    fn run(&mut self) {
        for expression in &self.expressions {
            black_box(expression.evaluate(black_box(&self.context)).expect("a value"));
        }
    }

    fn output(&mut self) -> String {
        lines(self.expressions.iter().map(|expression| expression.evaluate(&self.context).expect("a value")))
    }
}

/// The crate `cel`.
struct PeerCel {
    programs: Vec<cel::Program>,
    context: cel::Context<'static, 'static>,
}

impl PeerCel {
    fn new(cases: &[Case]) -> Self {
        let compile = |case: &Case| cel::Program::compile(&case.cel).expect("an expression");
        let programs = cases.iter().map(compile).collect();
        Self { programs, context: peer::context(cel::Context::default(), inputs()) }
    }
}

impl Subject for PeerCel {
    fn engine(&self) -> &'static str {
        peer::NAME
    }

    fn run(&mut self) {
        for program in &self.programs {
            black_box(program.execute(black_box(&self.context)).expect("a value"));
        }
    }

    fn output(&mut self) -> String {
        let evaluate = |program: &cel::Program| program.execute(&self.context).expect("a value");
        lines(self.programs.iter().map(|program| evaluate(program).json().expect("a value of JSON")))
    }
}

/// Hand-written code.
struct Native(Typed);

impl Native {
    const NAME: &'static str = "hand-written";
}

struct Drop;

impl Answers for Drop {
    fn take<T: Serialize>(&mut self, answer: T) {
        black_box(answer);
    }
}

impl Answers for Vec<Value> {
    fn take<T: Serialize>(&mut self, answer: T) {
        self.push(serde_json::to_value(answer).expect("a value of JSON"));
    }
}

impl Subject for Native {
    fn engine(&self) -> &'static str {
        Self::NAME
    }

    fn run(&mut self) {
        by_hand(black_box(&self.0), &mut Drop);
    }

    fn output(&mut self) -> String {
        let mut answers = Vec::new();
        by_hand(&self.0, &mut answers);
        lines(answers)
    }
}
