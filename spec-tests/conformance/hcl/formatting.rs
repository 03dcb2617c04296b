//! Formatter rows.

use dropforge::dialect::hcl::edit::Document;
use dropforge::dialect::hcl::format::format;
use dropforge::limits::Limits;
use dropforge::text::Source;

use super::encoding::{Check, Row};

pub fn laid_out(row: &Row<'_>) -> Check {
    compare(row.text("input")?, row.text("want")?)
}

/// Runs a row with a real file: compares its formatted text, and checks that opening it for editing preserves it.
pub fn file(row: &Row<'_>) -> Check {
    let text = row.text("input")?;
    compare(text, row.text("formatted")?)?;
    match Document::parse(&Source::new("file", text), &Limits::default()) {
        Ok(document) if document.to_string() == text => Ok(()),
        Ok(document) => Err(format!("opened, it is {document}")),
        Err(_) if row.number("error_count") > 0 => Ok(()),
        Err(errors) => Err(format!("it cannot be opened: {errors}")),
    }
}

fn compare(input: &str, want: &str) -> Check {
    let got = format(input);
    if got == want { Ok(()) } else { Err(format!("want {want:?}, got {got:?}")) }
}
