//! What differs between the values of two clusters.

use std::collections::HashMap;

use super::Row;

/// Stands for a value that a cluster does not have.
const NONE: &str = "-";

/// Returns each value that differs, with its origins for both clusters. `one` and `other` are their names and values.
pub(super) fn text((one, rows): (&str, &[Row]), (other, others): (&str, &[Row])) -> String {
    let by_path = |rows: &'_ [Row]| rows.iter().map(|row| row.path.clone()).zip(0..).collect::<HashMap<_, usize>>();
    let (own, theirs) = (by_path(rows), by_path(others));
    let paths = rows.iter().chain(others.iter().filter(|row| !own.contains_key(&row.path))).map(|row| &row.path);
    let width = one.chars().count().max(other.chars().count());
    let line = |name: &str, row: Option<&Row>| {
        let text = row.map_or_else(|| NONE.to_owned(), Row::text);
        format!("  {name}: {:pad$}{text}\n", "", pad = width - name.chars().count())
    };
    let mut text = String::new();
    for path in paths {
        let mine = own.get(path).and_then(|at| rows.get(*at));
        let their = theirs.get(path).and_then(|at| others.get(*at));
        if mine.map(|row| &row.value) != their.map(|row| &row.value) {
            text.extend([path.clone() + "\n", line(one, mine), line(other, their)]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_differ_are_shown_with_both_origins() {
        let row = |path: &str, value: &str, origin: &str| Row {
            path: path.to_owned(),
            value: value.to_owned(),
            origins: vec![origin.to_owned()],
        };
        let one = vec![row("a", "1", "x:1"), row("b", "2", "x:2"), row("c", "3", "x:3")];
        let other = vec![row("a", "1", "y:1"), row("b", "5", "y:2"), row("d", "4", "y:4")];
        let expected =
            "b\n  eu:   2  # x:2\n  asia: 5  # y:2\nc\n  eu:   3  # x:3\n  asia: -\nd\n  eu:   -\n  asia: 4  # y:4\n";
        assert_eq!(text(("eu", &one), ("asia", &other)), expected);
    }
}
