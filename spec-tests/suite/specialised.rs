//! Every case of a language, specialised to parts of its inputs: the same text, or the same error at the same place.

use dropforge::engine::{Dialect, Engine, Template};
use dropforge::specialise::Known;
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes};
use dropforge::vm::Session;

use crate::cases;
use crate::divisions::division_of;

/// The number of divisions of each case's inputs.
const DIVISIONS: u64 = 8;

fn rendered(template: &Template, inputs: Inputs<'_>) -> Result<String, (String, bool)> {
    let mut out = String::new();
    let outcome = template.render_checked(&mut Session::new(), inputs, &mut out);
    outcome.map(|()| out).map_err(|error| (error.render(false), error.code.is_limit()))
}

/// Compares a case with its residual for one division. Returns `false` if it cannot be specialised.
fn agree(template: &Template, context: &serde_json::Value, division: u64, name: &str) -> bool {
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let value = InputBuilder::new(&arena, &shapes).serialize(context).expect("inputs");
    let inputs = Inputs::new(value);
    let known = division_of(template, inputs, division);
    let Some(residual) = template.specialise(&known) else { return false };
    let (original, specialised) = (rendered(template, inputs), rendered(&residual, inputs));
    let listings = || format!("{}\n{}", template.disassemble(), residual.disassemble());
    if !matches!(original, Err((_, true))) {
        assert_eq!(original, specialised, "{name}: {known:?}\n{}", listings());
    }
    true
}

#[test]
fn cases_do_the_same_once_specialised() {
    let languages = [
        (Dialect::Tera, "tera"),
        (Dialect::Tower, "tower"),
        (Dialect::Hcl, "hcl"),
        (Dialect::CelYaml, "cel-yaml"),
        (Dialect::Cel, "cel"),
    ];
    for (dialect, folder) in languages {
        let (mut specialised, mut left) = (0, 0);
        for (file, cases) in cases::read_folder(folder) {
            for case in &cases {
                let Ok(template) = cases::compile(dialect, case) else { continue };
                let (context, name) = (cases::context(case), format!("{}: {}", file.display(), case.name));
                for division in 0..DIVISIONS {
                    let agrees = agree(&template, &context, division, &name);
                    *(if agrees { &mut specialised } else { &mut left }) += 1;
                }
            }
        }
        assert!(specialised > 9 * left, "{folder}: {specialised} residuals, {left} without");
    }
}

/// Files of a template: a loop over an included file, which has a loop of its own.
const NESTED: [(&str, &str); 2] = [
    (
        "main.yaml",
        "a: ${org}\nlist:\n  - one\n  - $for: \"i, p in ports\"\n    $do:\n      $include: part.yaml\n      \
         $with: { port: \"${p}\", labels: \"${labels}\", n: \"${n}\" }\n",
    ),
    (
        "part.yaml",
        "in:\n  - name: ${port.name}\n  - $for: \"k, v in labels\"\n    \
         $do: { \"${k}\": \"${v + string(10 / (n - port.port))}\" }\n",
    ),
];

/// An error of a document names the path and the variables around it, whether these are known or not.
#[test]
fn errors_of_documents_keep_their_paths_and_notes() {
    let builder = NESTED.into_iter().fold(Engine::builder(), |builder, (name, text)| builder.template(name, text));
    let template = builder.build().load(Dialect::CelYaml, "main.yaml").expect("it compiles");
    for n in [80, 443, 1] {
        let context = serde_json::json!({
            "org": "acme", "n": n, "labels": {"tier": "a", "cell": "b"},
            "ports": [{"name": "http", "port": 80}, {"name": "https", "port": 443}],
        });
        let (arena, names) = (Arena::new(), Arena::new());
        let shapes = Shapes::new(&names);
        let inputs = InputBuilder::new(&arena, &shapes).serialize(&context).expect("inputs");
        let original = rendered(&template, Inputs::new(inputs));
        if let Err((error, _)) = &original {
            for part in ["in `in[1][\"${k}\"]`", "`k` is `\"cell\"`", "`v` is `\"b\"`", "included here"] {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
        for known in [&["org", "ports"][..], &["labels"], &["ports", "labels"], &["org", "ports", "labels", "n"]] {
            let value = |name: &&'static str| (*name, Known::Value(inputs.as_map().unwrap().get(name).unwrap()));
            let residual = template.specialise(&Known::Fields(known.iter().map(value).collect())).expect("it is small");
            assert_eq!(original, rendered(&residual, Inputs::new(inputs)), "{known:?}\n{}", residual.disassemble());
        }
    }
}

/// What is known of a document leaves its program: conditions, loops, calls, included files, errors that are absorbed.
#[test]
fn what_is_known_of_a_document_leaves_its_program() {
    let text = "\
$let:
  big: \"size(ports) > 1 && (has(org.x) || org.name == 'acme')\"
  tree: { deep: { low: \"${org.name}\" } }
name: ${name}
low: ${tree.deep.low}
$if: big
$then: { ports: { $for: \"p in ports\", $do: { \"p${p}\": \"${org.name}\" } } }
";
    let template = Engine::new().compile(Dialect::CelYaml, "t", text).expect("it compiles");
    let (arena, names) = (Arena::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let shared = serde_json::json!({"org": {"name": "acme"}, "ports": [80, 443]});
    let shared = InputBuilder::new(&arena, &shapes).serialize(&shared).expect("inputs");
    let residual = template.specialise(&Known::of_map(shared.as_map().unwrap())).expect("it is small");
    let listing = residual.disassemble();
    for gone in ["iter", "jump_unless", "or %", "and %", "join", "org.name", "load_path %"] {
        assert!(!listing.contains(gone), "{gone}: {listing}\n{}", template.disassemble());
    }
}
