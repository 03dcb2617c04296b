//! Which name was meant, as the reference guesses it.

/// How many edits make a name another one.
const FAR: usize = 3;

/// The first of `names` that is fewer than three edits (insert, delete, replace a character) from `given`.
///
/// ```
/// use dropforge::dialect::hcl::suggest::near;
/// assert_eq!(near("nmae", ["port", "name"]), Some("name"));
/// assert_eq!(near("label", ["port", "name"]), None);
/// ```
pub fn near<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let given: Vec<char> = given.chars().collect();
    names.into_iter().find(|name| is_near(&given, name))
}

/// Whether fewer than [`FAR`] edits lead from `given` to `name`. Only the cells of the usual table that are fewer
/// than `FAR` from its diagonal are computed, so that the work is linear.
fn is_near(given: &[char], name: &str) -> bool {
    let name: Vec<char> = name.chars().take(given.len() + FAR).collect();
    if given.len().abs_diff(name.len()) >= FAR {
        return false;
    }
    // `row[k]` is the cell in column `line + k - FAR`.
    let mut row: Vec<usize> = (0..=2 * FAR).map(|k| k.checked_sub(FAR).unwrap_or(FAR)).collect();
    for line in 1..=given.len() {
        let mut next = vec![FAR; row.len()];
        for k in 0..row.len() {
            let Some(column) = (line + k).checked_sub(FAR).filter(|column| *column <= name.len()) else { continue };
            let above = row.get(k + 1).map_or(FAR, |cell| cell + 1);
            let left = k.checked_sub(1).map_or(FAR, |k| next[k] + 1);
            let replaced = column.checked_sub(1).map_or(FAR, |at| row[k] + usize::from(given[line - 1] != name[at]));
            next[k] = above.min(left).min(replaced).min(FAR);
        }
        row = next;
    }
    row.get(name.len() + FAR - given.len()).is_some_and(|edits| *edits < FAR)
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn two_edits_are_near_and_three_are_not() {
        let cases = [
            ("", "ab", true),
            ("", "abc", false),
            ("ab", "", true),
            ("abc", "", false),
            ("abcdef", "abcdef", true),
            ("abcdef", "bcdef", true),
            ("abcdef", "cdef", true),
            ("abcdef", "def", false),
            ("abcdef", "abXdYf", true),
            ("abcdef", "aXcYeZ", false),
            ("abcdef", "bacdef", true),
            ("abcdef", "fabcde", true),
            ("abcdef", "efabcd", false),
            ("größe", "grösse", true),
            ("größe", "grosse", false),
        ];
        for (given, name, wanted) in cases {
            assert_eq!(near(given, [name]).is_some(), wanted, "{given} {name}");
            assert_eq!(near(name, [given]).is_some(), wanted, "{name} {given}");
        }
    }

    #[test]
    fn the_first_near_name_is_taken_and_long_names_cost_little() {
        assert_eq!(near("ab", ["xyz", "abc", "ab"]), Some("abc"));
        let long = "a".repeat(1 << 20);
        assert_eq!(near(&long, [format!("b{long}").as_str()]).map(str::len), Some(long.len() + 1));
    }
}
