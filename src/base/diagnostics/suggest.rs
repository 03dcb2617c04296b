//! Suggestions for misspelled names.

/// Returns the candidate that `wanted` is most likely a misspelling of: one character differs, or at most a third of
/// them (optimal string alignment distance, ignoring case). The first in byte order wins a tie.
///
/// ```
/// use dropforge::diagnostics::nearest;
/// assert_eq!(nearest("nmae", ["name", "port"]), Some("name"));
/// assert_eq!(nearest("x", ["name", "port"]), None);
/// assert_eq!(nearest("path", ["hash"]), None);
/// ```
pub fn nearest<'c>(wanted: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let wanted = wanted.to_lowercase();
    let length = wanted.chars().count();
    let near = |candidate: &'c str| {
        if candidate.len() > LONGEST || length > LONGEST {
            return None;
        }
        let (lowercase, characters) = (candidate.to_lowercase(), candidate.chars().count());
        let most = (characters.max(length) / 3).max(1);
        // The distance is no less than the difference in length.
        let is_close = lowercase.chars().count().abs_diff(length) <= most;
        let distance = is_close.then(|| strsim::osa_distance(&wanted, &lowercase))?;
        (distance <= most && distance < characters.max(length)).then_some((distance, candidate))
    };
    candidates.into_iter().filter_map(near).min().map(|(_, candidate)| candidate)
}

/// Maximum length of a name that is compared.
const LONGEST: usize = 128;
