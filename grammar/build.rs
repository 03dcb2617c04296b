//! Generates the parsers of the enabled languages from the grammars in this directory.

fn main() {
    println!("cargo::rerun-if-changed=grammar");
    #[cfg(feature = "compile")]
    for language in ["cel", "hcl", "helm", "tera", "tower"] {
        if std::env::var_os(format!("CARGO_FEATURE_{}", language.to_uppercase())).is_some() {
            generate(language);
        }
    }
}

#[cfg(feature = "compile")]
fn generate(language: &str) {
    let out = std::env::var_os("OUT_DIR").unwrap_or_else(|| panic!("cargo sets OUT_DIR"));
    lalrpop::Configuration::new()
        .set_out_dir(out)
        .process_file(format!("grammar/{language}.lalrpop"))
        .unwrap_or_else(|error| panic!("grammar of {language}: {error}"));
}
