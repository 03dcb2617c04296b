//! Generates the parsers from the grammars beside this file; without them there is nothing to do.

fn main() {
    println!("cargo:rerun-if-changed=grammar");
    #[cfg(feature = "compile")]
    lalrpop::Configuration::new()
        .set_in_dir("grammar")
        .emit_rerun_directives(true)
        .process()
        .unwrap_or_else(|error| panic!("grammar: {error}"));
}
