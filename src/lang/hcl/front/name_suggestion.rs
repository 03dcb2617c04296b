//! Name suggestions, as the reference makes them.

/// The number of edits from which on a name is not suggested.
const FAR: usize = 3;

/// The maximum number of differing bytes to compare.
const LONGEST: usize = 128;

/// Returns the first of `names` that is fewer than three edits (insert, delete or replace a character) from `given`.
///
/// ```
/// use dropforge::dialect::hcl::name_suggestion::name_suggestion;
/// assert_eq!(name_suggestion("nmae", ["port", "name"]), Some("name"));
/// assert_eq!(name_suggestion("label", ["port", "name"]), None);
/// ```
pub fn name_suggestion<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    names.into_iter().find(|name| is_near(given, name))
}

/// Returns `true` if fewer than [`FAR`] edits lead from `given` to `name`. Only the part between a common prefix and a
/// common suffix is compared; if it is long, the names are not near.
fn is_near(given: &str, name: &str) -> bool {
    let prefix = given.chars().zip(name.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let [given, name] = [given, name].map(|text: &str| text.get(prefix..).unwrap_or(""));
    let suffix: usize =
        given.chars().rev().zip(name.chars().rev()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let [given, name] = [given, name].map(|text| text.get(..text.len() - suffix).unwrap_or(""));
    given.len().max(name.len()) <= LONGEST && strsim::levenshtein(given, name) < FAR
}

#[cfg(test)]
mod tests {
    use super::name_suggestion;

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
            assert_eq!(name_suggestion(given, [name]).is_some(), wanted, "{given} {name}");
            assert_eq!(name_suggestion(name, [given]).is_some(), wanted, "{name} {given}");
        }
    }

    #[test]
    fn the_first_near_name_is_taken_and_long_names_cost_little() {
        assert_eq!(name_suggestion("ab", ["xyz", "abc", "ab"]), Some("abc"));
        let long = "a".repeat(1 << 20);
        assert_eq!(name_suggestion(&long, [format!("b{long}").as_str()]).map(str::len), Some(long.len() + 1));
    }
}
