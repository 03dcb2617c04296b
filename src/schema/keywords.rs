//! The keywords of JSON Schema, the drafts that define them, and their operands: types, names, sizes, bounds, patterns,
//! and lists and maps of schemas.

use super::compile::Compiler;
use super::node::Node;
use super::violation::below;
use super::{Bound, NodeId, Number, Pattern, Types};
use crate::formats::regex;
use dropforge_value::{Map, Value};

/// A draft of JSON Schema, or the subset for template values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Draft {
    /// The subset for template values. A schema may be the name of a type, `required: true` is allowed in a property, and
    /// an unknown keyword is an error, because an ignored bound is worse than none.
    Template,
    /// Draft 4.
    Draft4,
    /// Draft 6.
    Draft6,
    /// Draft 7.
    Draft7,
    /// Draft 2019-09.
    Draft201909,
    /// Draft 2020-12.
    Draft202012,
}

const T: u8 = 1 << Draft::Template as u8;
const D4: u8 = 1 << Draft::Draft4 as u8;
const D6: u8 = 1 << Draft::Draft6 as u8;
const D7: u8 = 1 << Draft::Draft7 as u8;
const D19: u8 = 1 << Draft::Draft201909 as u8;
const D20: u8 = 1 << Draft::Draft202012 as u8;
const SINCE_19: u8 = D19 | D20;
const SINCE_7: u8 = D7 | SINCE_19;
const SINCE_6: u8 = D6 | SINCE_7;
const DRAFTS: u8 = D4 | SINCE_6;

/// The keywords with a meaning, and the drafts that define them.
const KEYWORDS: &[(&str, u8)] = &[
    ("$comment", T),
    ("$defs", DRAFTS),
    ("$dynamicRef", D20),
    ("$id", DRAFTS),
    ("$recursiveRef", D19),
    ("$ref", DRAFTS),
    ("$schema", DRAFTS),
    ("additionalItems", D4 | D6 | D7 | D19),
    ("additionalProperties", T | DRAFTS),
    ("allOf", DRAFTS),
    ("anyOf", DRAFTS),
    ("const", T | SINCE_6),
    ("contains", SINCE_6),
    ("contentEncoding", D6 | D7),
    ("contentMediaType", D6 | D7),
    ("default", T | DRAFTS),
    ("definitions", DRAFTS),
    ("dependencies", DRAFTS),
    ("dependentRequired", SINCE_19),
    ("dependentSchemas", SINCE_19),
    ("deprecated", T),
    ("description", T),
    ("else", SINCE_7),
    ("enum", T | DRAFTS),
    ("examples", T),
    ("exclusiveMaximum", T | DRAFTS),
    ("exclusiveMinimum", T | DRAFTS),
    ("format", DRAFTS),
    ("if", SINCE_7),
    ("items", T | DRAFTS),
    ("maxContains", SINCE_19),
    ("maxItems", T | DRAFTS),
    ("maxLength", T | DRAFTS),
    ("maxProperties", DRAFTS),
    ("maximum", T | DRAFTS),
    ("minContains", SINCE_19),
    ("minItems", T | DRAFTS),
    ("minLength", T | DRAFTS),
    ("minProperties", DRAFTS),
    ("minimum", T | DRAFTS),
    ("multipleOf", DRAFTS),
    ("not", DRAFTS),
    ("oneOf", DRAFTS),
    ("pattern", T | DRAFTS),
    ("patternProperties", DRAFTS),
    ("prefixItems", D20),
    ("properties", T | DRAFTS),
    ("propertyNames", SINCE_6),
    ("required", T | DRAFTS),
    ("then", SINCE_7),
    ("title", T),
    ("type", T | DRAFTS),
    ("unevaluatedItems", SINCE_19),
    ("unevaluatedProperties", SINCE_19),
    ("uniqueItems", DRAFTS),
];

impl Draft {
    /// Returns the draft with this `$schema` URI.
    pub fn of_uri(uri: &str) -> Option<Self> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let drafts = [Self::Draft4, Self::Draft6, Self::Draft7, Self::Draft201909, Self::Draft202012];
        drafts.into_iter().find(|draft| draft.uri() == Some(uri))
    }

    /// Returns the URI of the draft without `#`.
    pub(super) fn uri(self) -> Option<&'static str> {
        Some(match self {
            Self::Template => return None,
            Self::Draft4 => "http://json-schema.org/draft-04/schema",
            Self::Draft6 => "http://json-schema.org/draft-06/schema",
            Self::Draft7 => "http://json-schema.org/draft-07/schema",
            Self::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
            Self::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        })
    }

    /// All keywords of the draft.
    pub fn keywords(self) -> impl Iterator<Item = &'static str> {
        KEYWORDS.iter().filter(move |(_, drafts)| drafts & (1 << self as u8) != 0).map(|(keyword, _)| *keyword)
    }

    /// Returns `true` if the draft defines `keyword`.
    pub(super) fn defines(self, keyword: &str) -> bool {
        let at = KEYWORDS.binary_search_by(|(known, _)| (*known).cmp(keyword));
        at.is_ok_and(|at| KEYWORDS.get(at).is_some_and(|(_, drafts)| drafts & (1 << self as u8) != 0))
    }
}

/// Returns the help for a type in the notation of kro's SimpleSchema: `integer | default=3 minimum=1`.
fn of_simple_schema(name: &str) -> Option<String> {
    let (kind, markers) = name.split_once('|')?;
    let keyword = |marker: &str| marker.split_once('=').map(|(keyword, value)| format!(", {keyword}: {value}"));
    let keywords: String = markers.split_whitespace().filter_map(keyword).collect();
    let kind = kind.trim();
    Some(format!("write `{{type: {kind}{keywords}}}`; `--schema-defaults` gives inputs their defaults"))
}

/// Maximum number of patterns in a schema.
const PATTERNS: usize = 256;

/// Types of programming languages, with those of JSON Schema.
const ALIASES: [(&[&str], &str); 6] = [
    (&["int", "long", "uint"], "integer"),
    (&["float", "double", "decimal"], "number"),
    (&["str", "text"], "string"),
    (&["bool"], "boolean"),
    (&["list", "tuple", "slice", "set"], "array"),
    (&["map", "dict", "hash", "struct"], "object"),
];

impl<'d> Compiler<'d, '_> {
    pub(super) fn one_type(&mut self, at: &str, name: &str) -> Types {
        Types::named(name).unwrap_or_else(|| {
            self.error(at, format!("there is no type `{name}`"));
            match of_simple_schema(name) {
                Some(help) => self.errors.last_mut().into_iter().for_each(|error| error.help = Some(help.clone())),
                None => match ALIASES.iter().find(|(names, _)| names.contains(&name)) {
                    Some((_, meant)) => self.suggest(meant, Types::NAMES),
                    None => self.suggest(name, Types::NAMES),
                },
            }
            if let Some(error) = self.errors.last_mut().filter(|error| error.help.is_none()) {
                error.help = Some(format!("the types are {}", Types::NAMES.join(", ")));
            }
            Types::default()
        })
    }

    pub(super) fn types(&mut self, at: &str, value: &Value<'_>) -> Types {
        let names = match value {
            Value::List(names) if !names.items().is_empty() => names.items(),
            name => std::slice::from_ref(name),
        };
        let mut types = Types::default();
        for name in names {
            match name {
                Value::Str(name) => types = types.or(self.one_type(at, name.as_str())),
                _ => self.error(at, "`type` must be the name of a type or a list of names"),
            }
        }
        types
    }

    /// The members of a map of schemas.
    pub(super) fn members(&mut self, at: &str, value: &'d Value<'d>) -> std::vec::IntoIter<(String, NodeId)> {
        let keyword = at.rsplit('/').next().unwrap_or("");
        let Value::Map(map) = value else {
            self.error(at, format!("`{keyword}` must map names to schemas"));
            return Vec::new().into_iter();
        };
        let members: Vec<_> =
            map.slots().map(|(name, value)| (name.to_owned(), self.child(below(at, name), value))).collect();
        members.into_iter()
    }

    /// The schemas of a list.
    pub(super) fn list(&mut self, at: &str, value: &'d Value<'d>) -> Vec<NodeId> {
        match value {
            Value::List(schemas) if !schemas.items().is_empty() => schemas
                .items()
                .iter()
                .enumerate()
                .map(|(index, schema)| self.child(format!("{at}/{index}"), schema))
                .collect(),
            _ => {
                self.error(at, "expected a list of at least one schema");
                Vec::new()
            }
        }
    }

    pub(super) fn required(&mut self, node: &mut Node, at: &str, value: &Value<'_>) {
        match value {
            Value::Bool(must) if self.draft == Draft::Template => node.must = *must,
            Value::List(names) => node.required.extend(self.names(at, names.items())),
            _ if self.draft == Draft::Template => {
                self.error(at, "`required` must be a list of property names, or `true`")
            }
            _ => self.error(at, "`required` must be a list of names"),
        }
    }

    pub(super) fn names(&mut self, at: &str, names: &[Value<'_>]) -> Vec<String> {
        if names.iter().any(|name| name.as_str().is_none()) {
            self.error(at, "`required` must be a list of names");
        }
        names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    pub(super) fn text<'t>(&mut self, at: &str, value: &Value<'t>) -> Option<&'t str> {
        if value.as_str().is_none() {
            self.error(at, "expected a string");
        }
        value.as_str()
    }

    pub(super) fn size(&mut self, at: &str, value: &Value<'_>) -> Option<u64> {
        match value {
            Value::Int(n) if *n >= 0 => u64::try_from(*n).ok(),
            Value::Uint(n) => Some(*n),
            Value::Float(n) if *n >= 0.0 && n.fract() == 0.0 && self.draft > Draft::Draft4 => Some(*n as u64),
            _ => {
                self.error(at, "expected a whole number that is not negative");
                None
            }
        }
    }

    pub(super) fn bound(
        &mut self,
        bound: &mut Option<Bound>,
        at: &str,
        keyword: &str,
        value: &Value<'_>,
        map: &Map<'_>,
    ) {
        let exclusive = keyword.starts_with("exclusive");
        if exclusive && self.draft == Draft::Draft4 {
            if !matches!(value, Value::Bool(_)) {
                self.error(at, format!("`{keyword}` must be a boolean"));
            }
            return;
        }
        let lower = keyword.ends_with("inimum");
        let flag = if lower { "exclusiveMinimum" } else { "exclusiveMaximum" };
        let exclusive = exclusive || matches!(map.get(flag), Some(Value::Bool(true)));
        let Some(number) = Number::of_value(*value) else {
            return self.error(at, format!("`{keyword}` must be a number"));
        };
        // Of an inclusive and an exclusive bound the stricter one wins.
        let stricter = |old: &Bound| match number.compare(old.number) {
            Some(order) if order.is_eq() => exclusive,
            Some(order) => order.is_gt() == lower,
            None => false,
        };
        if bound.as_ref().is_none_or(stricter) {
            *bound = Some(Bound { number, exclusive });
        }
    }

    pub(super) fn pattern(&mut self, at: &str, value: &Value<'_>) -> Option<Pattern> {
        match value {
            Value::Str(text) => self.compiled(at, text.as_str()),
            _ => {
                self.error(at, "`pattern` must be a regular expression");
                None
            }
        }
    }

    pub(super) fn compiled(&mut self, at: &str, text: &str) -> Option<Pattern> {
        self.patterns += 1;
        if self.patterns > PATTERNS && self.draft != Draft::Template {
            if self.patterns == PATTERNS + 1 {
                self.error(at, format!("the schema has more than {PATTERNS} patterns"));
            }
            return None;
        }
        let syntax = if self.of_go { Draft::Template } else { self.draft };
        let (regex, bytes) = regex(text, syntax).map_err(|message| self.error(at, message)).ok()?;
        Some(Pattern { text: text.to_owned(), regex, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted_for_the_search() {
        assert!(KEYWORDS.is_sorted_by(|(a, _), (b, _)| a < b));
        assert!(Draft::Draft202012.defines("prefixItems") && !Draft::Draft7.defines("prefixItems"));
        assert!(!Draft::Template.defines("format"));
    }
}
