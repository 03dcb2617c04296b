//! Numbers of inputs keep all their digits, or are refused: text to value to text, in all formats and languages.

use dropforge::Dialect;
use dropforge::Engine;
use dropforge::bulk::Format;
use dropforge::bulk::input::documents;
use dropforge::text::Source;
use dropforge::value::{Arena, Data, InputBuilder, Inputs, OutputFormat, Shapes, write_documents};
use dropforge::vm::Session;
use proptest::prelude::*;

/// Numbers in the notation of JSON, most of them longer than 64 bits hold.
fn number() -> impl Strategy<Value = String> {
    let whole = prop_oneof![3 => "-?[1-9][0-9]{0,80}", 1 => "-?[1-9][0-9]{17,20}", 1 => Just("0".to_owned())];
    let fraction = prop_oneof![1 => Just(String::new()), 1 => r"\.[0-9]{1,60}"];
    let exponent = prop_oneof![3 => Just(String::new()), 1 => r"[eE]-?[1-9][0-9]?"];
    (whole, fraction, exponent).prop_map(|(whole, fraction, exponent)| format!("{whole}{fraction}{exponent}"))
}

/// Returns the sign, the significant digits and the power of ten of the last one.
fn decimal(text: &str) -> (bool, String, i64) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len() as i64);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let kept = digits.trim_end_matches('0');
    let exponent = exponent.parse::<i64>().expect("an exponent") + (digits.len() - kept.len()) as i64 - fraction;
    match kept.trim_start_matches('0') {
        "" => (false, String::new(), 0),
        kept => (text.starts_with('-'), kept.to_owned(), exponent),
    }
}

/// Reads `n` of a file.
fn read(name: &str, text: &str) -> Option<Data> {
    let source = Source::new(name, text);
    let read = documents(&source, Format::of(name, text)).ok()?;
    read.first()?.get("n").cloned()
}

fn rendered(dialect: Dialect, template: &str, data: &Data) -> Result<String, String> {
    let (arena, names, map) =
        (Arena::new(), Arena::new(), Data::Map([("n".to_owned(), data.clone())].into_iter().collect()));
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(&arena, &shapes).data(&map).map_err(|error| error.to_string())?);
    let template = Engine::new().compile(dialect, "t", template).map_err(|errors| errors.to_string())?;
    let mut text = String::new();
    let done = template.render_inputs(&mut Session::new(), inputs, &mut text);
    done.map(|()| text)
        .map_err(|error| format!("{} {}", error.code.id(), error.fields.get("pointer").map_or("", |at| at)))
}

proptest! {
    #![proptest_config(crate::cases(512))]

    #[test]
    fn files_keep_the_digits(text in number()) {
        let files = [
            ("a.json", format!("{{\"n\": {text}}}")),
            ("a.ndjson", format!("{{\"n\": {text}}}\n")),
            ("a.yaml", format!("n: {text}\n")),
            ("a.hcl", format!("n = {text}\n")),
            ("a.toml", format!("n = {text}\n")),
        ];
        for (name, file) in files {
            // TOML has only integers of 64 bits, and no exponents of them.
            let Some(data) = read(name, &file) else {
                prop_assert!(name == "a.toml", "{}", file);
                continue;
            };
            let json = serde_json::to_string(&data).expect("JSON");
            prop_assert_eq!(decimal(&json), decimal(&text), "{}", file);
            for (format, name) in [(OutputFormat::Json, "a.json"), (OutputFormat::Yaml, "a.yaml"), (OutputFormat::Kyaml, "a.yaml")] {
                let (map, mut out) = (Data::Map([("n".to_owned(), data.clone())].into_iter().collect()), String::new());
                write_documents([&map], format, 1 << 20, &mut out).expect("it is written");
                prop_assert_eq!(read(name, &out), Some(data.clone()), "{}", out);
            }
        }
    }

    /// A number is exact in HCL. Other languages have the nearest float if only digits after the point are lost, or refuse it.
    #[test]
    fn languages_have_the_digits_or_refuse_them(text in number()) {
        let data = Data::number(&text).expect("a number");
        for template in ["${n}", "${jsonencode(n)}", "${jsonencode({a = [n]})}"] {
            let hcl = rendered(Dialect::Hcl, template, &data).expect("it renders");
            let shown: String = hcl.chars().filter(|c| c.is_ascii_digit() || matches!(c, '.' | '-')).collect();
            prop_assert_eq!(decimal(&shown), decimal(&text), "{}", hcl);
        }
        let nearest: f64 = text.parse().expect("a float");
        for (dialect, template) in [(Dialect::Tera, "{{ n }}"), (Dialect::Cel, "string(n)"), (Dialect::CelYaml, "a: ${n}")] {
            match rendered(dialect, template, &data) {
                Ok(shown) => {
                    let shown = shown.trim().trim_start_matches("a: ").trim_matches('"');
                    let is_exact = decimal(shown) == decimal(&text);
                    prop_assert!(is_exact || shown.parse() == Ok(nearest), "{:?}: {} is {}", dialect, text, shown);
                    prop_assert!(is_exact || nearest.abs() < 9_007_199_254_740_992.0, "{:?}: {} is {}", dialect, text, shown);
                }
                Err(error) => {
                    prop_assert!(matches!(data, Data::Number(_)), "{:?}: {}: {}", dialect, text, error);
                    prop_assert_eq!(error, "E0807 /n");
                }
            }
        }
    }
}
