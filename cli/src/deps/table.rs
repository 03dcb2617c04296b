//! Tables in the form that Helm prints.

/// Maximum width of a column.
const WIDTH: usize = 80;

/// Returns the lines of a table. Columns have the width of their longest cell, up to a bound.
pub(super) fn table<const N: usize>(head: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let rows: Vec<[String; N]> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let width =
        |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(|at| width(at).min(WIDTH)).collect();
    let cell = |(text, width): (&String, &usize)| {
        let count = text.chars().count();
        match count > *width {
            true => text.chars().take(width.saturating_sub(3)).chain("...".chars()).collect(),
            false => format!("{text}{}", " ".repeat(width - count)),
        }
    };
    let line = |row: &[String; N]| row.iter().zip(&widths).map(cell).collect::<Vec<String>>().join("\t") + "\n";
    rows.iter().map(line).collect()
}
