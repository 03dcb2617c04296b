//! Challenges of registries: `WWW-Authenticate`.

/// The way in which a registry wants to know who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Challenge {
    /// A user name and a password with each request.
    Basic,
    /// A token from the service at `realm`.
    Bearer { realm: String, service: String, scope: String },
}

/// Parses the header `WWW-Authenticate`. Returns `None` for other ways.
pub(super) fn parse(header: &str) -> Option<Challenge> {
    let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
    match scheme.to_ascii_lowercase().as_str() {
        "basic" => Some(Challenge::Basic),
        "bearer" => {
            let (mut realm, mut service, mut scope) = (None, String::new(), String::new());
            for (key, value) in parameters(rest) {
                match key.to_ascii_lowercase().as_str() {
                    "realm" => realm = Some(value.to_owned()),
                    "service" => service = value.to_owned(),
                    "scope" => scope = value.to_owned(),
                    _ => {}
                }
            }
            Some(Challenge::Bearer { realm: realm?, service, scope })
        }
        _ => None,
    }
}

/// Splits `a="x",b="y,z",c=w` into pairs.
fn parameters(mut text: &str) -> Vec<(&str, &str)> {
    let mut pairs = Vec::new();
    while let Some((key, rest)) = text.split_once('=') {
        let (value, rest) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(',').unwrap_or((rest, "")),
        };
        pairs.push((key.trim_matches([' ', ',']), value));
        text = rest;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges() {
        let text = r#"Bearer realm="https://auth.io/token",service="r.io",scope="repository:a/b:pull,push""#;
        let (realm, service, scope) = ("https://auth.io/token", "r.io", "repository:a/b:pull,push");
        let bearer = Challenge::Bearer { realm: realm.into(), service: service.into(), scope: scope.into() };
        assert_eq!(parse(text), Some(bearer));
        assert_eq!(parse("Basic realm=\"r\""), Some(Challenge::Basic));
        assert_eq!(parse("basic"), Some(Challenge::Basic));
        for none in ["", "Negotiate", "Bearer", "Bearer service=\"x\"", "Bearer =", "Bearer realm"] {
            assert_eq!(parse(none), None, "{none}");
        }
        assert!(parse(&format!("Bearer realm=\"{}", "a=\"".repeat(100_000))).is_some());
    }
}
