//! Content negotiation.

use axum::http::{HeaderMap, header};

/// Returns `true` if the client prefers YAML. Wildcards (`*/*`) stand for JSON, the default.
pub(super) fn prefers_yaml(headers: &HeaderMap) -> bool {
    let (mut yaml, mut json) = (0.0_f32, 0.0_f32);
    for value in headers.get_all(header::ACCEPT) {
        for range in value.to_str().unwrap_or_default().split(',') {
            let mut parts = range.split(';').map(str::trim);
            let media = parts.next().unwrap_or_default().to_ascii_lowercase();
            let quality = parts.find_map(|part| part.strip_prefix("q=")).map_or(1.0_f32, |q| q.parse().unwrap_or(0.0));
            match media.as_str() {
                "application/yaml" | "application/x-yaml" | "text/yaml" | "text/x-yaml" => yaml = quality.max(yaml),
                "application/json" => json = quality.max(json),
                _ => {}
            }
        }
    }
    yaml > json
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn yaml_is_preferred_where_it_is_named() {
        for (accept, expected) in [
            ("application/yaml", true),
            ("application/yaml, */*", true),
            ("Application/YAML; q=0.5", true),
            ("application/json, application/yaml", false),
            ("application/json;q=0.5, application/yaml;q=0.6", true),
            ("application/yaml;q=0", false),
            ("application/yaml;q=x", false),
            ("*/*", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(prefers_yaml(&headers), expected, "{accept}");
        }
    }
}
