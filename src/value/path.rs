//! Steps into values. A path is a list of steps, outermost first, whatever notation it was read from.

use crate::{Data, DataMap, yaml};
use dropforge_base::stdlib::paths::names;

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step<K = String> {
    /// The key of a map.
    Key(K),
    /// The index of a list item.
    Index(usize),
}

impl Step {
    /// Returns the key, unless the step is an index.
    pub fn key(&self) -> Option<&str> {
        match self {
            Step::Key(key) => Some(key),
            Step::Index(_) => None,
        }
    }

    /// Returns the steps of a JSON pointer into `values`, up to the first that leads nowhere.
    pub fn of_pointer(pointer: &str, values: &DataMap) -> Vec<Step> {
        let (mut here, mut path): (Option<&Data>, _) = (None, Vec::new());
        for name in names(pointer) {
            let (step, next) = match (here, name.parse()) {
                (Some(Data::List(items)), Ok(at)) => (Step::Index(at), items.get(at)),
                (Some(data), _) => (Step::Key(name.to_string()), data.get(&name)),
                (None, _) => (Step::Key(name.to_string()), values.get(&*name)),
            };
            path.push(step);
            let Some(next) = next else { break };
            here = Some(next);
        }
        path
    }
}

impl<K: AsRef<str>> Step<K> {
    /// Returns a path as text, such as `spec.ports[0].port`.
    pub fn joined(path: &[Self]) -> String {
        path.iter().fold(String::new(), |text, step| match step {
            Step::Key(key) if text.is_empty() => key.as_ref().to_owned(),
            Step::Key(key) => text + "." + key.as_ref(),
            Step::Index(at) => format!("{text}[{at}]"),
        })
    }

    /// Returns a path in the notation of expressions, such as `spec["a name"][0].port`.
    pub fn expression<'p>(path: impl Iterator<Item = &'p Self>) -> String
    where
        K: 'p,
    {
        path.fold(String::new(), |mut text, step| {
            match step {
                Step::Key(name) => add_name(&mut text, name.as_ref()),
                Step::Index(at) => text.push_str(&format!("[{at}]")),
            }
            text
        })
    }
}

/// Appends a key to a path: `.name`, or `["a name"]` if it is not a plain word.
pub fn add_name(path: &mut String, name: &str) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$') || byte >= 0x80;
    if name.is_empty() || !name.bytes().all(plain) {
        path.push_str(&format!("[{name:?}]"));
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

/// Returns the value at `path` in `data`.
pub fn value_at<'d>(data: &'d Data, path: &[Step]) -> Option<&'d Data> {
    path.iter().try_fold(data, |here, step| match step {
        Step::Key(key) => here.get(key),
        Step::Index(at) => here.index(*at),
    })
}

/// Returns the node at `path` in `node`.
pub fn node_at<'n>(node: &'n yaml::Node, path: &[Step]) -> Option<&'n yaml::Node> {
    path.iter().try_fold(node, |here, step| match step {
        Step::Key(key) => here.get(key),
        Step::Index(at) => here.as_list()?.get(*at),
    })
}
