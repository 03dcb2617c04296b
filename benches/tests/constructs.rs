//! The construct table is true and complete: the engines of a row write the same, and every builtin has a row.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dropforge::bytecode::ImportKind;
use dropforge_benches::constructs::measure::verify;
use dropforge_benches::constructs::{Kind, LANGUAGES, Language};

#[test]
fn the_engines_of_a_row_write_the_same() {
    let mut failed = Vec::new();
    for language in LANGUAGES {
        for row in language.rows {
            if catch_unwind(AssertUnwindSafe(|| verify(language, row))).is_err() {
                failed.push(format!("{} {} {}", language.name, row.kind.name(), row.name));
            }
        }
    }
    assert_eq!(failed, Vec::<String>::new());
}

fn kind(kind: ImportKind) -> Option<Kind> {
    match kind {
        ImportKind::Filter => Some(Kind::Filter),
        ImportKind::Test => Some(Kind::Test),
        ImportKind::Function => Some(Kind::Function),
        _ => None,
    }
}

#[test]
fn every_builtin_has_a_row() {
    let missing: Vec<String> = LANGUAGES.iter().flat_map(missing).collect();
    assert_eq!(missing, Vec::<String>::new());
}

/// Returns the builtins of a language without a row, and those with a row and a reason to have none.
fn missing(language: &Language) -> Vec<String> {
    let builtins = (language.builtins)();
    let wrong = builtins.iter().filter_map(|(of, name)| {
        let kind = kind(*of)?;
        let has = language.rows.iter().any(|row| row.kind == kind && row.construct() == name);
        let excused = language.without.iter().any(|(without, _)| without == name);
        (has == excused).then(|| format!("{} {} {name}: row {has}, reason {excused}", language.name, kind.name()))
    });
    wrong.collect()
}
