//! Secrets in the URLs of repositories: users, passwords and tokens.

/// Returns a URL without a user, a password and a query, which may be a token: for files that are committed.
pub(super) fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{scheme}://{host}{path}")
}

/// Returns a URL with the user, the password and the query of the URL of its repository.
pub(super) fn with_secrets(url: &str, repository: &str) -> String {
    let (base, query) = repository.split_once('?').map_or((repository, None), |(base, query)| (base, Some(query)));
    let user = base.split_once("://").and_then(|(_, rest)| Some(rest.split('/').next()?.rsplit_once('@')?.0));
    let url = match (user, url.split_once("://")) {
        (Some(user), Some((scheme, rest))) => format!("{scheme}://{user}@{rest}"),
        _ => url.to_owned(),
    };
    query.map_or_else(|| url.clone(), |query| format!("{url}?{query}"))
}

#[cfg(test)]
mod tests {
    use super::{with_secrets, without_secrets};

    #[test]
    fn a_lock_has_no_secrets_of_repositories() {
        for (repository, url, bare) in [
            ("https://h/c?t=s3", "https://h/c/a.tgz?t=s3", "https://h/c/a.tgz"),
            ("https://u:pw@h:1/c", "https://u:pw@h:1/c/a.tgz", "https://h:1/c/a.tgz"),
            ("https://u@h/?t=1", "https://u@h/a@b.tgz?t=1", "https://h/a@b.tgz"),
            ("https://h/c", "https://h/c/a.tgz", "https://h/c/a.tgz"),
        ] {
            assert_eq!(without_secrets(url), bare);
            assert_eq!(with_secrets(bare, repository), url);
        }
        assert_eq!(without_secrets("oci://h/a:1"), "oci://h/a:1");
    }
}
