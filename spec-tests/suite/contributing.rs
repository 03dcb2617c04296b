//! The generated tables in the pages match the code.

use std::fmt::Write as _;
use std::path::Path;

use dropforge::bytecode::{ImportKind, isa_table};
use dropforge::dialect::tera::builtins::plus_tables;
use dropforge::function::{Builtin, Default, Param, Params};

/// Compares the table between the comments `<!-- NAME -->` and `<!-- /NAME -->` of a page, or updates it.
fn check(page: &str, name: &str, wanted: &str) {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(page);
    let text = std::fs::read_to_string(&path).expect("a page");
    let (before, rest) = text.split_once(&begin).expect("the table begins");
    let (table, after) = rest.split_once(&end).expect("the table ends");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, format!("{before}{begin}{wanted}{end}{after}")).expect("the page can be written");
    } else {
        assert_eq!(table, wanted, "UPDATE=1 cargo test --test suite rewrites it");
    }
}

#[test]
fn the_instruction_table_is_the_one_of_the_code() {
    check("CONTRIBUTING.md", "isa", &isa_table());
}

#[test]
fn the_filters_beyond_tera_are_those_of_the_code() {
    let mut builtins: Vec<&Builtin> = plus_tables().into_iter().flatten().collect();
    builtins.sort_by_key(|builtin| &builtin.name);
    let mut table = String::from("| filter | result | example | gives |\n|---|---|---|---|\n");
    for builtin in builtins {
        let escaped = |text: &str| text.replace('|', "\\|").replace('\n', "⏎");
        let code = |text: &str| format!("`{}`", escaped(text));
        let (source, result) = builtin.examples[0];
        let result = if result.starts_with("E0") { "an error".to_owned() } else { code(result) };
        let _ =
            writeln!(table, "| {} | {} | {} | {result} |", code(&call(builtin)), escaped(&builtin.doc), code(source));
    }
    check("docs/tera.md", "plus", &table);
}

/// Returns a call: `trunc(length)`, `to_yaml(indent=0)`.
fn call(builtin: &Builtin) -> String {
    let Params::Named(params) = builtin.params else { panic!("{} has no names", builtin.name) };
    let argument = |param: &Param| match param.default {
        Default::Bool(truth) => format!("{}={truth}", param.name),
        Default::Int(n) => format!("{}={n}", param.name),
        _ => param.name.to_owned(),
    };
    let args: Vec<String> = params.iter().skip(usize::from(builtin.kind == ImportKind::Filter)).map(argument).collect();
    if args.is_empty() { builtin.name.to_string() } else { format!("{}({})", builtin.name, args.join(", ")) }
}
