//! `tower`: generated fields render as a simple model does, and no text causes a panic.

use dropforge::dialect::tower::check::hazards;
use dropforge::dialect::tower::syntax::Part;
use dropforge::dialect::tower::syntax::parse;
use dropforge::engine::{Dialect, Engine};
use dropforge::text::{Source, Span};
use proptest::prelude::*;
use serde_json::json;

fn render(text: &str, shell: bool, params: &serde_json::Value) -> Result<String, String> {
    let source = Source::new("t", text);
    let template = Engine::new().compile_source(Dialect::Tower, &source, Some(shell)).map_err(|e| e.to_string())?;
    template.render(&json!({ "params": params })).map_err(|error| error.to_string())
}

proptest! {
    #[test]
    fn a_field_is_its_parts(parts in prop::collection::vec(("[^$]{0,6}", any::<String>()), 0..8)) {
        let (mut template, mut literal, mut quoted) = (String::new(), String::new(), String::new());
        let mut params = serde_json::Map::new();
        for (at, (text, value)) in parts.iter().enumerate() {
            let value = value.replace('\0', "");
            template.push_str(&format!("{text}${{params.p{at}}}"));
            literal.push_str(&format!("{text}{value}"));
            quoted.push_str(&format!("{text}'{}'", value.replace('\'', "'\\''")));
            params.insert(format!("p{at}"), json!(value));
        }
        let params = serde_json::Value::Object(params);
        prop_assert_eq!(render(&template, false, &params), Ok(literal));
        prop_assert_eq!(render(&template, true, &params), Ok(quoted));
    }

    #[test]
    fn any_text_gives_an_answer(text in "([${}.a-cP_ \"'`\\\\()<#\n]|[$][{]|params[.]|<<E\n){0,30}") {
        let arena = bumpalo::Bump::new();
        match parse(&text, &arena) {
            Ok(field) => {
                let spans: Vec<Span> = field.references().map(|reference| reference.span).collect();
                prop_assert_eq!(hazards(&text, &spans).len(), spans.len());
                let pieces = field.parts.iter().map(|part| match part {
                    Part::Text(span) => &text[span.range()],
                    Part::Expression(reference) => &text[reference.span.range()],
                });
                prop_assert_eq!(pieces.collect::<String>(), text.clone());
            }
            Err(error) => {
                let expression = &text[error.span.range()];
                let opens = expression.starts_with("${");
                prop_assert!(opens, "an expression begins like one");
                let before = parse(&text[..error.span.start as usize], &bumpalo::Bump::new()).is_ok();
                prop_assert!(before, "the leftmost error is reported");
            }
        }
    }
}
