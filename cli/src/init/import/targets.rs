//! Regular expressions of targets, as patterns of a project.

/// Returns the pattern that matches what an anchored regular expression matches: texts, `.*`, and alternatives of them.
/// `None` for another one.
pub(super) fn pattern(regex: &str) -> Option<String> {
    let plain = regex.strip_prefix('^').unwrap_or(regex);
    let plain = plain.strip_suffix('$').unwrap_or(plain);
    let inner = plain.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).unwrap_or(plain);
    let parts: Vec<String> = inner.split('|').map(part).collect::<Option<_>>()?;
    match parts.as_slice() {
        [one] => Some(one.clone()),
        all => Some(format!("{{{}}}", all.join(","))),
    }
}

/// Returns the pattern of an alternative.
fn part(regex: &str) -> Option<String> {
    let text = regex.replace(".*", "*").replace("\\.", ".").replace("\\-", "-");
    let is_plain = |c: char| c.is_alphanumeric() || "-_.*/".contains(c);
    let has_other = text.replace('*', "").is_empty() && text.len() > 1;
    // A star that no point stands before repeats the character before it.
    let is_repeated = regex.replace(".*", "").contains('*');
    (!text.is_empty() && text.chars().all(is_plain) && !is_repeated && !has_other).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn simple_expressions_have_patterns() {
        for (regex, wanted) in [
            ("Deployment", Some("Deployment")),
            ("^web-.*$", Some("web-*")),
            ("Deployment|StatefulSet", Some("{Deployment,StatefulSet}")),
            ("(a|b.*)", Some("{a,b*}")),
            (".*", Some("*")),
            ("a\\.b", Some("a.b")),
            ("we*b", None),
            ("web[0-9]", None),
            ("web-.+", None),
            ("(a)(b)", None),
            ("", None),
            ("a|", None),
        ] {
            assert_eq!(pattern(regex).as_deref(), wanted, "{regex}");
        }
    }
}
