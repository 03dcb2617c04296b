//! What clusters have in common: one text with placeholders for the texts of many.

use dropforge::bulk::{Merge, Pattern, View};
use dropforge::value::{Data, DataMap};

use super::project::Project;

/// The texts of some clusters, by their numbers.
pub(super) type Texts = [(usize, String)];

/// Returns one text for all: the text itself, or a pattern with placeholders for values of the clusters.
pub(super) fn pattern(texts: &Texts, project: &Project) -> Option<String> {
    let (_, first) = texts.first()?;
    if first.contains(['{', '}']) {
        return None;
    }
    if texts.iter().all(|(_, text)| text == first) {
        return Some(for_cluster(first));
    }
    let keys = keys(texts, project);
    let single = keys.iter().filter_map(|key| try_keys(std::slice::from_ref(key), texts, project));
    let pairs = keys.iter().flat_map(|one| keys.iter().filter(move |two| *two != one).map(move |two| [one, two]));
    let pairs = pairs.filter_map(|[one, two]| try_keys(&[one.clone(), two.clone()], texts, project));
    single.chain(pairs).next()
}

/// The name of the cluster that stands for those that are still to be written.
pub(super) const TODO_CLUSTER: &str = "todo-cluster";

/// Returns a text that names no cluster that is still to be written.
fn for_cluster(text: &str) -> String {
    text.replace(TODO_CLUSTER, "{cluster}")
}

/// Returns the paths of texts that all these clusters have and that may be parts of paths. `env` comes first, and after it
/// longer values.
fn keys(texts: &Texts, project: &Project) -> Vec<String> {
    let Some((_, own)) = texts.first().and_then(|(at, _)| project.clusters.get(*at)) else { return Vec::new() };
    let mut found = Vec::new();
    scalars(own, "", &mut found);
    let is_part =
        |text: &str| !text.is_empty() && !text.contains(['/', '\\', '{', '}']) && ![".", ".."].contains(&text);
    let mut keys: Vec<(String, String)> = found.into_iter().filter(|(_, text)| is_part(text)).collect();
    keys.sort_by_key(|(key, text)| (key != "env", std::cmp::Reverse(text.len())));
    keys.truncate(24);
    let value = |at: usize, key: &str| project.clusters.get(at).and_then(|(_, own)| scalar(own, key));
    keys.retain(|(key, _)| texts.iter().all(|(at, _)| value(*at, key).is_some_and(|text| is_part(&text))));
    keys.into_iter().map(|(key, _)| if key == "name" { "cluster".to_owned() } else { key }).collect()
}

fn scalars(map: &DataMap, above: &str, found: &mut Vec<(String, String)>) {
    for (key, value) in map.iter().filter(|(key, _)| !key.contains(['.', '{', '}', '|', ' '])) {
        let path = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        match value {
            Data::Map(map) => scalars(map, &path, found),
            Data::Str(text) => found.push((path, text.clone())),
            Data::Int(number) => found.push((path, number.to_string())),
            _ => {}
        }
    }
}

fn scalar(own: &DataMap, path: &str) -> Option<String> {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let value = own.get(first)?;
    match rest.map_or(Some(value), |rest| value.at_path(rest))? {
        Data::Str(text) => Some(text.clone()),
        Data::Int(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Replaces the values of keys in all texts by placeholders. `None` unless that makes one pattern.
fn try_keys(keys: &[String], texts: &Texts, project: &Project) -> Option<String> {
    let replaced = |at: usize, text: &str| {
        let (name, own) = project.clusters.get(at)?;
        keys.iter().try_fold(text.to_owned(), |text, key| {
            let value = if key == "cluster" { name.clone() } else { scalar(own, key)? };
            replace(&text, &value, &format!("{{{key}}}"))
        })
    };
    let (first, rest) = texts.split_first()?;
    let made = replaced(first.0, &first.1)?;
    let is_same = rest.iter().all(|(at, text)| replaced(*at, text).is_some_and(|other| other == made));
    (is_same && texts.iter().all(|(at, text)| filled(&made, *at, project) == *text)).then_some(made)
}

/// Replaces a whole word of a text outside of placeholders. `None` if it has none.
fn replace(text: &str, word: &str, by: &str) -> Option<String> {
    let (mut out, mut rest, mut is_found) = (String::new(), text, false);
    while let Some(at) = rest.find(word) {
        let (before, after) = (rest.get(..at)?, rest.get(at + word.len()..)?);
        let before_all = format!("{out}{before}");
        let is_open = before_all.rfind('{').is_some_and(|open| before_all.rfind('}').is_none_or(|close| close < open));
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let is_whole = !is_word(before_all.chars().next_back()) && !is_word(after.chars().next());
        out.push_str(before);
        out.push_str(if is_whole && !is_open { by } else { word });
        is_found |= is_whole && !is_open;
        rest = after;
    }
    out.push_str(rest);
    is_found.then_some(out)
}

/// Returns the text of a pattern for a cluster, or the pattern itself if the cluster lacks a value.
pub(super) fn filled(pattern: &str, at: usize, project: &Project) -> String {
    let Some((name, own)) = project.clusters.get(at) else { return pattern.to_owned() };
    let shared = DataMap::default();
    let view = View::new(&shared, own, Merge::Deep);
    let text = Pattern::parse("text", pattern).and_then(|pattern| pattern.text_for(name, &view));
    text.unwrap_or_else(|_| pattern.to_owned())
}

/// Returns one text for all, with a new value of the clusters at `key` if they have nothing in common.
pub(super) fn pattern_or_key(key: &str, texts: &Texts, project: &mut Project) -> String {
    pattern(texts, project).unwrap_or_else(|| with_key(key, texts, project))
}

/// Gives the clusters their texts as values at a dotted key, and returns its placeholder.
pub(super) fn with_key(key: &str, texts: &Texts, project: &mut Project) -> String {
    for (at, text) in texts {
        if let Some((_, own)) = project.clusters.get_mut(*at) {
            put(own, key, Data::Str(text.clone()));
        }
    }
    format!("{{{key}}}")
}

/// Puts a value at a dotted path. Values of other kinds on the way are replaced.
pub(super) fn put(own: &mut DataMap, path: &str, value: Data) {
    let Some((first, rest)) = path.split_once('.') else {
        own.insert(path.to_owned(), value);
        return;
    };
    let below = own.entry(first.to_owned()).or_default();
    if !matches!(below, Data::Map(_)) {
        *below = Data::Map(DataMap::default());
    }
    if let Data::Map(below) = below {
        put(below, rest, value);
    }
}

/// Returns a text as a key without dots and spaces.
pub(super) fn key_of(text: &str) -> String {
    let key: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let key = key.trim_matches('-');
    if key.is_empty() { "release".to_owned() } else { key.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project() -> Project {
        let mut project = Project::default();
        for (name, env, region) in [("a1", "prod", "eu"), ("b1", "dev", "us")] {
            let own = [("env", env), ("region", region)].map(|(key, value)| (key.to_owned(), Data::Str(value.into())));
            project.cluster(name, own.into_iter().collect());
        }
        project
    }

    #[test]
    fn texts_of_clusters_become_one_pattern() {
        let cases = [
            ("web", "web", Some("web")),
            ("web-prod", "web-dev", Some("web-{env}")),
            ("prod/values.yaml", "dev/values.yaml", Some("{env}/values.yaml")),
            ("eu-prod-a1", "us-dev-b1", None),
            ("eu-prod", "us-dev", Some("{region}-{env}")),
            ("a1", "b1", Some("{cluster}")),
            // No whole words, and texts of which only some have the value.
            ("products", "devucts", None),
            ("prod", "other", None),
            ("{x}", "{x}", None),
        ];
        for (one, two, wanted) in cases {
            let texts = [(0, one.to_owned()), (1, two.to_owned())];
            assert_eq!(pattern(&texts, &project()).as_deref(), wanted, "{one} {two}");
        }
    }

    #[test]
    fn texts_with_nothing_in_common_become_values() {
        let mut project = project();
        let texts = [(0, "one".to_owned()), (1, "two".to_owned())];
        assert_eq!(pattern_or_key("namespaces.web", &texts, &mut project), "{namespaces.web}");
        assert_eq!(filled("{namespaces.web}", 1, &project), "two");
    }
}
