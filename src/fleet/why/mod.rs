//! Answers to why a line of an output is there.
//!
//! ```
//! use dropforge::bulk::why::{Given, LinePlace, Question, RecordedOutput, find};
//! use dropforge::bulk::Origin;
//! use dropforge::engine::{Dialect, Engine};
//! use dropforge::engine::recording::Flow;
//! use dropforge::value::{Arena, Inputs, Value};
//! use dropforge::vm::Session;
//! let template = Engine::new().compile(Dialect::Tera, "web", "kind: web\nport: {{ port }}\n")?;
//! let arena = Arena::new();
//! let inputs = Inputs::new(arena.map(&[("port", Value::Int(80))]));
//! let (recording, text) = template.record(&mut Session::new(), inputs);
//! let text = text?;
//! let (_, place) = LinePlace::parse("out.yaml:2").unwrap();
//! let at = place.byte("out.yaml", &text)?;
//! let recorded = RecordedOutput::of_template(text.clone(), recording);
//! let given = |flow: &Flow| {
//!     let value = recorded.value_of(&flow.path);
//!     Given { path: value.name, origins: vec![Origin::named("the parameters")], default: None, is_secret: false }
//! };
//! let answer = recorded.answer(&Question { line: 2, template: "web", ..Question::default() }, (&text, at), &given).unwrap();
//! assert_eq!(answer.written[0].code, "port");
//! assert_eq!(answer.inputs[0].origins, ["the parameters"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod found;
mod line_place;
mod literals;
mod recorded;
mod report;

pub use found::{find, found_in};
pub use line_place::LinePlace;
pub use recorded::{Given, RecordedOutput};
pub use report::{Answer, AnswerInput, Around, CodePlace, GivenOf, Question};
