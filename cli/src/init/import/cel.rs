//! Manifests as templates of `cel-yaml`.

use dropforge::text::Source;
use dropforge::value::yaml::{Kind, Node, Style};
use dropforge::value::{Data, yaml};

use super::yaml::Yaml;

/// Returns a value in which nothing is an expression or a directive.
pub(super) fn literal(data: &Data) -> Data {
    match data {
        Data::Str(text) => Data::Str(text.replace("${", "$${")),
        Data::List(items) => Data::List(items.iter().map(literal).collect()),
        Data::Map(map) => Data::Map(map.iter().map(|(key, value)| (literal_key(key), literal(value))).collect()),
        other => other.clone(),
    }
}

/// Returns a key that is no directive.
pub(super) fn literal_key(key: &str) -> String {
    let key = key.replace("${", "$${");
    if key.starts_with('$') && !key.starts_with("$${") { format!("${key}") } else { key }
}

/// Returns documents as one file.
pub(super) fn file<'d>(documents: impl IntoIterator<Item = &'d Data>) -> String {
    let texts: Vec<String> = documents.into_iter().map(yaml::to_string).collect();
    texts.join("---\n")
}

/// Returns the text of a file of manifests as a template: as it is, if nothing in it has another meaning there.
///
/// # Errors
/// Errors of reading YAML.
pub(super) fn of_file(source: &std::sync::Arc<Source>) -> Result<String, Vec<Box<dropforge::diagnostics::Diagnostic>>> {
    let documents = Yaml::documents(source, None)?;
    let is_same = !source.text().contains('$') && documents.iter().all(|document| is_plain(&document.node));
    if is_same {
        return Ok(source.text().to_owned());
    }
    let all: Vec<Data> =
        documents.iter().map(|document| literal(&document.data())).filter(|data| *data != Data::Null).collect();
    Ok(file(&all))
}

/// Returns `true` if no part of a document has another value for Kubernetes.
fn is_plain(node: &Node) -> bool {
    match &node.kind {
        Kind::List(items) => items.iter().all(is_plain),
        Kind::Map(entries) => entries.iter().all(|entry| is_plain(&entry.value)),
        Kind::Int(_) => node.style != Style::Plain || !node.text.starts_with('0') || node.text.len() == 1,
        _ => node.tag.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropforge::engine::{Dialect, Engine};
    use dropforge::value::DataMap;

    #[test]
    fn literals_render_as_they_are() {
        let texts = ["${a}", "$${a}", "$$${a}", "$a", "$$", "$$a", "a $ b ${", "${{ x }}", "plain"];
        for text in texts {
            let key = Data::Map(DataMap::from_iter([(text.to_owned(), Data::Str(text.to_owned()))]));
            let printed = yaml::to_string(&literal(&key));
            let template = Engine::new().compile(Dialect::CelYaml, "t.cel.yaml", &printed);
            let rendered = template.unwrap_or_else(|error| panic!("{text}: {error}")).render(&DataMap::default());
            let source = Source::new("t", rendered.unwrap_or_else(|error| panic!("{text}: {error}")));
            assert_eq!(Yaml::documents(&source, None).unwrap()[0].data(), key, "{printed}");
        }
    }
}
