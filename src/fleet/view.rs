//! The merged inputs of a cluster, for looking up values by their paths.

use std::borrow::Cow;
use std::str::FromStr;

use dropforge_value::{Data, DataMap};

/// The effect of a cluster's inputs on shared inputs with the same key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Merge {
    /// Maps are merged key by key. A list or scalar replaces the shared value, and a null removes it.
    #[default]
    Deep,
    /// Each top-level key replaces the whole shared value.
    Replace,
}

impl Merge {
    /// Returns the name of the effect: `deep` or `replace`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deep => "deep",
            Self::Replace => "replace",
        }
    }
}

impl FromStr for Merge {
    type Err = String;

    /// Finds the effect called `deep` or `replace`.
    ///
    /// # Errors
    /// A message that lists both.
    fn from_str(name: &str) -> std::result::Result<Self, String> {
        match name {
            "deep" => Ok(Self::Deep),
            "replace" => Ok(Self::Replace),
            _ => Err("expected `deep` or `replace`".to_owned()),
        }
    }
}

/// What paths go through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// There are no paths.
    Nothing,
    /// Maps only.
    Maps,
    /// Perhaps lists, by numbers.
    Lists,
}

impl Reach {
    /// Returns the reach of dotted paths.
    pub(super) fn of<'p>(paths: impl Iterator<Item = &'p str>) -> Self {
        let indexes = |path: &str| path.split('.').any(|name| name.parse::<usize>().is_ok());
        match paths.map(indexes).max() {
            None => Self::Nothing,
            Some(false) => Self::Maps,
            Some(true) => Self::Lists,
        }
    }
}

/// Returns a path with dots in place of the brackets of indexes: `zones[0].name` becomes `zones.0.name`.
pub(super) fn dotted(path: &str) -> String {
    let (mut dotted, mut rest) = (String::new(), path);
    while let Some((before, behind)) = rest.split_once('[') {
        dotted.push_str(before);
        match behind.split_once(']') {
            Some((index, after)) if !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit()) => {
                dotted.push('.');
                dotted.push_str(index);
                rest = after;
            }
            _ => {
                dotted.push('[');
                rest = behind;
            }
        }
    }
    dotted + rest
}

/// Formats a scalar as JSON, but strings without quotes.
pub(super) fn scalar_text(data: &Data) -> String {
    match data {
        Data::Str(text) => text.clone(),
        other => serde_json::to_string(other).unwrap_or_default(),
    }
}

/// The merged inputs of one cluster, for lookups. Nothing is copied.
#[derive(Debug, Clone)]
pub struct View<'v> {
    shared: Option<&'v DataMap>,
    own: Cow<'v, DataMap>,
    merge: Merge,
}

impl<'v> View<'v> {
    /// Creates a view of `own` over `shared`.
    pub fn new(shared: &'v DataMap, own: &'v DataMap, merge: Merge) -> Self {
        Self { shared: Some(shared), own: Cow::Borrowed(own), merge }
    }

    /// Creates a view of `own` over the shared layer, if there is one.
    pub(super) fn over(shared: Option<&'v DataMap>, own: Cow<'v, DataMap>, merge: Merge) -> Self {
        Self { shared, own, merge }
    }

    /// Returns the names in the map at a dotted path, those of the cluster first. An empty path is the top level.
    pub fn names_at(&self, path: &str) -> impl Iterator<Item = &str> {
        let maps = if path.is_empty() {
            [Some(&*self.own), self.shared]
        } else {
            let pair = self.find(path).unwrap_or_default();
            [pair.over, pair.base].map(|layer| layer.and_then(Data::as_map))
        };
        maps.into_iter().flatten().flat_map(|map| map.keys()).map(String::as_str)
    }

    /// Returns the value at a dotted path. A number indexes a list. A map that both layers have is the cluster's.
    ///
    /// ```
    /// use dropforge::bulk::{Merge, View};
    /// use dropforge::value::Data;
    /// let map = |text| serde_json::from_str::<Data>(text).unwrap().into_map().unwrap();
    /// let (shared, own) = (map(r#"{"a": {"b": 1, "c": 2}}"#), map(r#"{"a": {"b": 3}}"#));
    /// assert_eq!(View::new(&shared, &own, Merge::Deep).get("a.c"), Some(&Data::Int(2)));
    /// assert_eq!(View::new(&shared, &own, Merge::Replace).get("a.c"), None);
    /// ```
    pub fn get(&self, path: &str) -> Option<&Data> {
        self.find(path).and_then(|pair| pair.over.or(pair.base))
    }

    fn find(&self, path: &str) -> Option<Pair<'_>> {
        let mut names = path.split('.');
        let top = names.next()?;
        let mut pair = Pair { base: self.shared.and_then(|shared| shared.get(top)), over: self.own.get(top) };
        if self.merge == Merge::Replace && pair.over.is_some() {
            pair.base = None;
        }
        names.try_fold(pair.merged()?, |pair, name| pair.child(name))
    }
}

/// A value in two layers. Both are there only if both are maps.
#[derive(Clone, Copy, Default)]
struct Pair<'d> {
    base: Option<&'d Data>,
    over: Option<&'d Data>,
}

impl<'d> Pair<'d> {
    /// Leaves out what is replaced or removed. This is the rule of [`merge`](super::values::merge).
    fn merged(self) -> Option<Self> {
        Some(match (self.base, self.over) {
            (None, None) | (Some(_), Some(Data::Null)) => return None,
            (Some(Data::Map(_)), Some(Data::Map(_))) | (_, None) => self,
            (_, over) => Self { base: None, over },
        })
    }

    fn child(self, name: &str) -> Option<Self> {
        let step = |data: &'d Data| match data {
            Data::List(_) => name.parse().ok().and_then(|at| data.index(at)),
            _ => data.get(name),
        };
        Self { base: self.base.and_then(step), over: self.over.and_then(step) }.merged()
    }
}
