//! One template for the forms that an object has in several clusters: what differs becomes values of the clusters.

use dropforge::value::{Data, DataMap};

use crate::init::import::fold;
use crate::init::import::project::Project;
use crate::init::import::yaml::{literal, literal_key};

/// Makes a template of the forms of one object.
pub(super) struct Unifier<'u> {
    pub(super) clusters: &'u [usize],
    /// The key of the values of the object.
    pub(super) base: String,
    pub(super) project: &'u mut Project,
}

impl Unifier<'_> {
    /// Returns a template for these values, one for each cluster. `name` is the key that holds them.
    pub(super) fn unify(&mut self, name: &str, values: &[&Data]) -> Data {
        let Some((first, rest)) = values.split_first() else { return Data::Null };
        if rest.iter().all(|value| value == first) {
            return literal(first);
        }
        let maps: Option<Vec<&DataMap>> = values.iter().map(|value| value.as_map()).collect();
        if let Some(maps) = maps.filter(|maps| maps.iter().all(|map| !map.is_empty())) {
            return self.maps(name, &maps);
        }
        let lists: Option<Vec<&[Data]>> = values.iter().map(|value| value.as_list()).collect();
        if let Some(lists) = lists
            && let Some(list) = self.lists(name, &lists)
        {
            return list;
        }
        if let Some(text) = self.text(values) {
            return Data::Str(text);
        }
        let values: Vec<Option<&Data>> = values.iter().map(|value| Some(*value)).collect();
        self.value(name, &values)
    }

    fn maps(&mut self, name: &str, maps: &[&DataMap]) -> Data {
        let mut made = DataMap::default();
        for key in maps.iter().flat_map(|map| map.keys()) {
            let place = literal_key(key);
            if made.contains_key(&place) {
                continue;
            }
            let values: Vec<Option<&Data>> = maps.iter().map(|map| map.get(key)).collect();
            let all: Option<Vec<&Data>> = values.iter().copied().collect();
            // Names such as `name` and `value` say little without what they are of.
            let named = if ["name", "value", "values", "data"].contains(&key.as_str()) {
                format!("{name}_{key}")
            } else {
                key.clone()
            };
            let value = match all {
                Some(values) => self.unify(&named, &values),
                None => self.value(&named, &values),
            };
            made.insert(place, value);
        }
        Data::Map(made)
    }

    /// Returns a list whose items have templates, if the items are maps with names that have one order in all lists. An
    /// item that some clusters lack is left out there.
    fn lists(&mut self, name: &str, lists: &[&[Data]]) -> Option<Data> {
        let longest = lists.iter().max_by_key(|list| list.len())?;
        if lists.iter().all(|list| list.len() == 1 && list.first().is_some_and(|item| item.as_map().is_some())) {
            let values: Vec<&Data> = lists.iter().filter_map(|list| list.first()).collect();
            return Some(Data::List(vec![self.unify(name, &values)]));
        }
        let order: Vec<String> = longest.iter().map(label).collect::<Option<_>>()?;
        let is_unique =
            order.iter().enumerate().all(|(at, one)| order.iter().position(|other| other == one) == Some(at));
        let is_ordered = |list: &&[Data]| {
            let mut rest = order.iter();
            list.iter().all(|item| label(item).is_some_and(|label| rest.any(|other| *other == label)))
        };
        if !is_unique || !lists.iter().all(is_ordered) {
            return None;
        }
        let items = order.iter().map(|one| {
            let item = |list: &&[Data]| list.iter().position(|item| label(item).as_ref() == Some(one));
            let values: Vec<Option<&Data>> = lists.iter().map(|list| list.get(item(list)?)).collect();
            let named = fold::key_of(one).replace('-', "_");
            match values.iter().copied().collect::<Option<Vec<&Data>>>() {
                Some(values) => self.unify(&named, &values),
                None => self.value(&named, &values),
            }
        });
        Some(Data::List(items.collect()))
    }

    /// Returns a text with placeholders for values that the clusters have, such as their names.
    fn text(&self, values: &[&Data]) -> Option<String> {
        let texts: Option<Vec<(usize, String)>> =
            self.clusters.iter().zip(values).map(|(at, value)| Some((*at, value.as_str()?.to_owned()))).collect();
        let texts = texts.filter(|texts| texts.iter().all(|(_, text)| !text.contains('$')))?;
        let pattern = fold::pattern(&texts, self.project)?;
        let placeholder = pattern.replace("{cluster}", "{name}").replace('{', "${");
        // A text that is one expression keeps the type of its value, which is a text here.
        pattern.contains("{env}").then_some(placeholder)
    }

    /// Puts the values into those of the clusters, and returns the expression for them. A cluster without one leaves the
    /// place out.
    fn value(&mut self, name: &str, values: &[Option<&Data>]) -> Data {
        let key = self.free_key(name, values);
        for (at, value) in self.clusters.iter().zip(values) {
            let Some(value) = value else { continue };
            if let Some((_, own)) = self.project.clusters.get_mut(*at) {
                fold::put(own, &key, (*value).clone());
            }
        }
        let is_everywhere = values.iter().all(Option::is_some);
        Data::Str(match is_everywhere {
            true => format!("${{{key}}}"),
            false => {
                let mut steps = key.split('.');
                let first = steps.next().unwrap_or("");
                // The first step is a name, which has to exist.
                self.give_all(first);
                let path: String = steps.map(|step| format!(".?{step}")).collect();
                format!("${{{first}{path}}}")
            }
        })
    }

    /// Gives every cluster a map at a key.
    fn give_all(&mut self, key: &str) {
        for (_, own) in &mut self.project.clusters {
            own.entry(key.to_owned()).or_insert_with(|| Data::Map(DataMap::default()));
        }
    }

    /// Returns a key below that of the object that holds nothing, or the same values.
    fn free_key(&self, name: &str, values: &[Option<&Data>]) -> String {
        let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = name.chars().map(word).collect();
        let name =
            if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() { format!("v{name}") } else { name };
        let numbered = (2..).map(|number| format!("{name}{number}"));
        let is_free = |name: &String| {
            self.clusters.iter().zip(values).all(|(at, value)| {
                let own = self.project.clusters.get(*at).map(|(_, own)| Data::Map(own.clone()));
                let known = own.as_ref().and_then(|own| own.at_path(&format!("{}.{name}", self.base)));
                known == *value
            }) || self.clusters.iter().all(|at| {
                let own = self.project.clusters.get(*at).map(|(_, own)| Data::Map(own.clone()));
                own.is_none_or(|own| own.at_path(&format!("{}.{name}", self.base)).is_none())
            })
        };
        let found = std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name);
        format!("{}.{found}", self.base)
    }
}

/// Returns what names an item of a list.
fn label(item: &Data) -> Option<String> {
    let map = item.as_map()?;
    let value = ["name", "mountPath", "host", "ip", "secretName"].iter().find_map(|key| map.get(*key))?;
    value.as_str().map(str::to_owned)
}
