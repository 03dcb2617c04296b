//! Generates the parsers of the languages from the grammars in this directory, and their lexers from the tokens in `tokens/`.
//! What is generated is committed, so that building dropforge needs no generator.
//!
//! ```sh
//! cargo run -p dropforge-grammar
//! ```

use std::error::Error;
use std::path::{Path, PathBuf};

use quote::ToTokens;

/// The grammars, and the folders of their parsers below `src/lang`.
const PARSERS: [(&str, &str); 5] = [
    ("cel", "cel/front/syntax"),
    ("hcl", "hcl/front/syntax"),
    ("helm", "helm/syntax"),
    ("tera", "tera/front/syntax"),
    ("tower", "tower/front/syntax"),
];

/// The files of tokens, and their lexers below `src/lang`.
const LEXERS: [(&str, &str); 8] = [
    ("cel", "cel/front/syntax/tokens"),
    ("hcl", "hcl/front/syntax/lexer/tokens"),
    ("hcl-json", "hcl/front/json/tokens"),
    ("hcl-json-number", "hcl/front/json/number"),
    ("hcl-literal", "hcl/front/syntax/lexer/literal"),
    ("helm", "helm/syntax/tokens"),
    ("tera", "tera/front/syntax/lexer/tokens"),
    ("tower", "tower/front/syntax/tokens"),
];

fn main() -> Result<(), Box<dyn Error>> {
    each(|path, text| Ok(std::fs::write(path, text)?))
}

/// Calls `each` with the path and the text of every generated file.
fn each(mut each: impl FnMut(&Path, String) -> Result<(), Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    for (language, folder) in PARSERS {
        each(&committed(&format!("{folder}/parser")), parser(language)?)?;
    }
    for (name, place) in LEXERS {
        each(&committed(place), lexer(name)?)?;
    }
    Ok(())
}

/// Returns the path of a committed file.
fn committed(place: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../src/lang/{place}.generated"))
}

/// Generates the parser of a language.
///
/// # Errors
/// The grammar has an error, or the temporary folder cannot be used.
fn parser(language: &str) -> Result<String, Box<dyn Error>> {
    let grammar = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("{language}.lalrpop"));
    let out = tempfile::tempdir()?;
    lalrpop::Configuration::new().set_out_dir(out.path()).log_quiet().process_file(&grammar)?;
    Ok(std::fs::read_to_string(out.path().join(format!("{language}.rs")))?)
}

/// Generates the lexers of a file of tokens: each enumeration without its patterns, and what they stand for.
///
/// # Errors
/// The file cannot be read, or a pattern has an error.
fn lexer(name: &str) -> Result<String, Box<dyn Error>> {
    let tokens = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tokens/{name}.rs"));
    let file = syn::parse_file(&std::fs::read_to_string(tokens)?)?;
    let mut generated = quote::quote!();
    for item in file.items {
        let (item, lexer) = (item.to_token_stream(), logos_codegen::generate(item.into_token_stream()));
        let item = logos_codegen::strip_attributes(item);
        generated.extend(quote::quote!(#item #[allow(unused, clippy::all)] #lexer));
    }
    Ok(prettyplease::unparse(&syn::parse2(generated)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_files_are_those_of_the_generator() -> Result<(), Box<dyn Error>> {
        each(|path, text| {
            let is_current = std::fs::read_to_string(path)? == text;
            assert!(is_current, "{} is old: run `cargo run -p dropforge-grammar`", path.display());
            Ok(())
        })
    }
}
