//! The template of an ApplicationSet, filled with parameters.

use dropforge::text::Source;
use dropforge::value::Data;

use crate::init::import::gotmpl;
use crate::init::import::notes::Notes;
use crate::init::import::yaml::Yaml;

/// Fills texts with parameters.
#[derive(Debug)]
pub(super) struct Filler<'f> {
    /// The parameters: a map, which is flat unless the templates are Go's.
    pub(super) params: &'f Data,
    pub(super) is_go: bool,
    pub(super) is_strict: bool,
    /// The texts are filled already.
    pub(super) is_done: bool,
}

impl Filler<'_> {
    /// Fills a text.
    pub(super) fn text(&self, at: &Yaml, text: &str, notes: &mut Notes) -> String {
        match self.is_go {
            _ if self.is_done || !text.contains("{{") => text.to_owned(),
            true => self.go(at, text, notes),
            false => self.plain(text),
        }
    }

    /// Replaces `{{name}}`. An unknown name stays.
    fn plain(&self, text: &str) -> String {
        let (mut out, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once("{{") {
            out.push_str(before);
            let Some((name, behind)) = after.split_once("}}") else {
                out.push_str("{{");
                rest = after;
                continue;
            };
            match self.params.get(name.trim()) {
                Some(value) => out.push_str(&text_of(value)),
                None => out.push_str(&format!("{{{{{name}}}}}")),
            }
            rest = behind;
        }
        out.push_str(rest);
        out
    }

    fn go(&self, at: &Yaml, text: &str, notes: &mut Notes) -> String {
        let (place, _) = at.place();
        let source = Source::new(format!("{} (text)", place.name()), text.to_owned());
        match gotmpl::render(&source, self.params, self.is_strict, None) {
            Ok((text, _)) => text,
            Err(errors) => {
                for error in errors {
                    notes.wrong(at.place(), format!("`{}` cannot be filled: {}", text.trim(), error.message));
                }
                text.to_owned()
            }
        }
    }

    /// Fills all texts of a value.
    pub(super) fn data(&self, at: &Yaml, data: &Data, notes: &mut Notes) -> Data {
        match data {
            Data::Str(text) => Data::Str(self.text(at, text, notes)),
            Data::List(items) => Data::List(items.iter().map(|item| self.data(at, item, notes)).collect()),
            Data::Map(map) => Data::Map(
                map.iter().map(|(key, value)| (self.text(at, key, notes), self.data(at, value, notes))).collect(),
            ),
            other => other.clone(),
        }
    }
}

/// Returns the text of a scalar.
pub(super) fn text_of(value: &Data) -> String {
    match value {
        Data::Str(text) => text.clone(),
        Data::Null => String::new(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}
