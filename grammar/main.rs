//! Generates the parsers of the languages from the grammars in this directory. The parsers are committed, so that building
//! dropforge needs no parser generator.
//!
//! ```sh
//! cargo run -p dropforge-grammar
//! ```

use std::error::Error;
use std::path::{Path, PathBuf};

/// The languages, and the folders of their parsers below `src/lang`.
const LANGUAGES: [(&str, &str); 5] = [
    ("cel", "cel/front/syntax"),
    ("hcl", "hcl/front/syntax"),
    ("helm", "helm/syntax"),
    ("tera", "tera/front/syntax"),
    ("tower", "tower/front/syntax"),
];

fn main() -> Result<(), Box<dyn Error>> {
    for (language, folder) in LANGUAGES {
        std::fs::write(committed(folder), generated(language)?)?;
    }
    Ok(())
}

/// Returns the path of a committed parser.
fn committed(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../src/lang/{folder}/parser.generated"))
}

/// Generates the parser of a language.
///
/// # Errors
/// The grammar has an error, or the temporary folder cannot be used.
fn generated(language: &str) -> Result<String, Box<dyn Error>> {
    let grammar = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{language}.lalrpop"));
    let out = tempfile::tempdir()?;
    lalrpop::Configuration::new().set_out_dir(out.path()).log_quiet().process_file(&grammar)?;
    Ok(std::fs::read_to_string(out.path().join(format!("{language}.rs")))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_parsers_are_those_of_the_grammars() -> Result<(), Box<dyn Error>> {
        for (language, folder) in LANGUAGES {
            let is_current = std::fs::read_to_string(committed(folder))? == generated(language)?;
            assert!(is_current, "the grammar of {language} has changed: run `cargo run -p dropforge-grammar`");
        }
        Ok(())
    }
}
