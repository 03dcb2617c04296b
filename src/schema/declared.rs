//! The properties that a schema declares.

use super::{NodeId, Schema};

/// Maximum length of a path. Everything below is declared.
const STEPS: usize = 16;
/// Maximum number of paths.
const PATHS: usize = 10_000;
/// Maximum number of schemas that always apply to one value.
const TOGETHER: usize = 40;

impl Schema {
    /// Returns the paths of the declared properties that declare no properties themselves. Recursive schemas are followed up
    /// to a bound.
    ///
    /// ```
    /// use dropforge::schema::{Draft, Schema};
    /// let schema = r#"{"properties": {"image": {"properties": {"tag": {}}}, "labels": {"type": "object"}}}"#;
    /// let schema = Schema::read(&serde_json::from_str(schema).unwrap(), Draft::Draft7).unwrap();
    /// assert_eq!(schema.declared(), [vec!["image", "tag"], vec!["labels"]]);
    /// ```
    pub fn declared(&self) -> Vec<Vec<&str>> {
        let (mut paths, mut open) = (Vec::new(), vec![(Self::ROOT, Vec::new())]);
        while let Some((id, path)) = open.pop() {
            let properties = if path.len() < STEPS { self.properties(id) } else { Vec::new() };
            if properties.is_empty() && !path.is_empty() {
                paths.push(path);
            } else if open.len() + paths.len() < PATHS {
                let below = |(name, id)| (id, path.iter().copied().chain([name]).collect());
                open.extend(properties.into_iter().rev().map(below));
            }
        }
        paths
    }

    /// Returns the properties of a schema and of those that always apply with it.
    fn properties(&self, id: NodeId) -> Vec<(&str, NodeId)> {
        let (mut found, mut together, mut at) = (Vec::new(), vec![id], 0);
        while let Some(node) = together.get(at).and_then(|id| self.node(*id)) {
            found.extend(node.properties.iter().map(|(name, id)| (name.as_str(), *id)));
            let more: Vec<NodeId> = node.always().filter(|id| !together.contains(id)).collect();
            together.extend(more);
            together.truncate(TOGETHER);
            at += 1;
        }
        found
    }
}
