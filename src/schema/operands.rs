//! The operands of keywords: types, names, sizes, bounds, patterns, and lists and maps of schemas.

use super::compile::Compiler;
use super::error::below;
use super::node::Node;
use super::pattern::regex;
use super::{Bound, Draft, NodeId, Number, Pattern, Types};
use crate::value::{Data, DataMap};

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

    pub(super) fn types(&mut self, at: &str, value: &Data) -> Types {
        let names = match value {
            Data::List(names) if !names.is_empty() => names.as_slice(),
            name => std::slice::from_ref(name),
        };
        let mut types = Types::default();
        for name in names {
            match name {
                Data::Str(name) => types = types.or(self.one_type(at, name)),
                _ => self.error(at, "`type` is the name of a type, or a list of such names"),
            }
        }
        types
    }

    /// The members of a map of schemas.
    pub(super) fn members(&mut self, at: &str, value: &'d Data) -> std::vec::IntoIter<(String, NodeId)> {
        let keyword = at.rsplit('/').next().unwrap_or("");
        let Data::Map(map) = value else {
            self.error(at, format!("`{keyword}` is a map from names to schemas"));
            return Vec::new().into_iter();
        };
        let members: Vec<_> =
            map.iter().map(|(name, value)| (name.clone(), self.child(below(at, name), value))).collect();
        members.into_iter()
    }

    /// The schemas of a list.
    pub(super) fn list(&mut self, at: &str, value: &'d Data) -> Vec<NodeId> {
        match value {
            Data::List(schemas) if !schemas.is_empty() => {
                schemas.iter().enumerate().map(|(index, schema)| self.child(format!("{at}/{index}"), schema)).collect()
            }
            _ => {
                self.error(at, "this is a list of at least one schema");
                Vec::new()
            }
        }
    }

    pub(super) fn required(&mut self, node: &mut Node, at: &str, value: &Data) {
        match value {
            Data::Bool(must) if self.draft == Draft::Template => node.must = *must,
            Data::List(names) => node.required.extend(self.names(at, names)),
            _ if self.draft == Draft::Template => {
                self.error(at, "`required` is a list of the names of properties, or `true`")
            }
            _ => self.error(at, "`required` is a list of names"),
        }
    }

    pub(super) fn names(&mut self, at: &str, names: &[Data]) -> Vec<String> {
        if names.iter().any(|name| name.as_str().is_none()) {
            self.error(at, "`required` is a list of names");
        }
        names.iter().filter_map(Data::as_str).map(str::to_owned).collect()
    }

    pub(super) fn text<'t>(&mut self, at: &str, value: &'t Data) -> Option<&'t str> {
        if value.as_str().is_none() {
            self.error(at, "this is a string");
        }
        value.as_str()
    }

    pub(super) fn size(&mut self, at: &str, value: &Data) -> Option<u64> {
        match value {
            Data::Int(n) if *n >= 0 => u64::try_from(*n).ok(),
            Data::Uint(n) => Some(*n),
            Data::Float(n) if *n >= 0.0 && n.fract() == 0.0 && self.draft > Draft::Draft4 => Some(*n as u64),
            _ => {
                self.error(at, "this is a whole number that is not negative");
                None
            }
        }
    }

    pub(super) fn bound(&mut self, bound: &mut Option<Bound>, at: &str, keyword: &str, value: &Data, map: &DataMap) {
        let exclusive = keyword.starts_with("exclusive");
        if exclusive && self.draft == Draft::Draft4 {
            if !matches!(value, Data::Bool(_)) {
                self.error(at, format!("`{keyword}` is a boolean"));
            }
            return;
        }
        let lower = keyword.ends_with("inimum");
        let flag = if lower { "exclusiveMinimum" } else { "exclusiveMaximum" };
        let exclusive = exclusive || map.get(flag) == Some(&Data::Bool(true));
        let Some(number) = Number::of_data(value) else { return self.error(at, format!("`{keyword}` is a number")) };
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

    pub(super) fn pattern(&mut self, at: &str, value: &Data) -> Option<Pattern> {
        match value {
            Data::Str(text) => self.compiled(at, text),
            _ => {
                self.error(at, "`pattern` is a regular expression");
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
