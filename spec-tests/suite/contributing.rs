//! The instruction table in CONTRIBUTING.md matches the code.

use std::path::Path;

use dropforge::bytecode::isa_table;

const BEGIN: &str = "<!-- isa -->\n";
const END: &str = "<!-- /isa -->";

#[test]
fn the_instruction_table_is_the_one_of_the_code() {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join("CONTRIBUTING.md");
    let text = std::fs::read_to_string(&path).expect("CONTRIBUTING.md");
    let (before, rest) = text.split_once(BEGIN).expect("the table begins");
    let (table, after) = rest.split_once(END).expect("the table ends");
    if std::env::var_os("UPDATE").is_some() {
        let updated = format!("{before}{BEGIN}{}{END}{after}", isa_table());
        std::fs::write(&path, updated).expect("CONTRIBUTING.md can be written");
    } else {
        assert_eq!(table, isa_table(), "UPDATE=1 cargo test --test suite rewrites it");
    }
}
