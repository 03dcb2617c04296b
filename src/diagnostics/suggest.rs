//! Did you mean …?

/// The candidate nearest to `wanted`, if one is near enough to be what was meant: at most a third of its
/// characters differ (optimal string alignment distance, case ignored). Ties go to the first in byte order.
///
/// ```
/// use dropforge::diagnostics::nearest;
/// assert_eq!(nearest("nmae", ["name", "port"]), Some("name"));
/// assert_eq!(nearest("x", ["name", "port"]), None);
/// ```
pub fn nearest<'c>(wanted: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let wanted: Vec<char> = fold(wanted);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= 128 && wanted.len() <= 128)
        .map(|candidate| (distance(&wanted, &fold(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(wanted.len()).div_ceil(3))
        .filter(|(distance, candidate)| *distance < candidate.chars().count().max(2))
        .min()
        .map(|(_, candidate)| candidate)
}

fn fold(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Edits (insert, delete, replace, swap neighbours) that turn `a` into `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (vec![0; width], (0..width).collect());
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1; width];
        for (j, y) in b.iter().enumerate() {
            let replaced = last[j] + usize::from(x != y);
            row[j + 1] = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                row[j + 1] = row[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
