//! The operands of keywords: types, names, sizes, bounds, patterns, and lists and maps of schemas.

use super::compile::Compiler;
use super::error::below;
use super::node::Node;
use super::pattern::regex;
use super::{Bound, Draft, NodeId, Number, Pattern, Types};
use dropforge_value::{Map, Value};

/// Maximum number of patterns in a schema.
const PATTERNS: usize = 256;

impl<'d> Compiler<'d> {
    pub(super) fn one_type(&mut self, at: &str, name: &str) -> Types {
        Types::named(name).unwrap_or_else(|| {
            self.error(at, format!("there is no type `{name}`"));
            self.suggest(name, Types::NAMES);
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
        let (regex, bytes) = regex(text, self.draft).map_err(|message| self.error(at, message)).ok()?;
        Some(Pattern { text: text.to_owned(), regex, bytes })
    }
}
