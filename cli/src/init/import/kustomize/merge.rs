//! Strategic merge patches, and patches of RFC 6902.

use dropforge::value::{Data, DataMap};

/// The keys of the items of lists, by the names of the lists.
const KEYS: [(&str, &[&str]); 15] = [
    ("containers", &["name"]),
    ("initContainers", &["name"]),
    ("ephemeralContainers", &["name"]),
    ("volumes", &["name"]),
    ("env", &["name"]),
    ("imagePullSecrets", &["name"]),
    ("secrets", &["name"]),
    ("ports", &["containerPort", "port"]),
    ("volumeMounts", &["mountPath"]),
    ("volumeDevices", &["devicePath"]),
    ("hostAliases", &["ip"]),
    ("topologySpreadConstraints", &["topologyKey"]),
    ("webhooks", &["name"]),
    ("conditions", &["type"]),
    ("ownerReferences", &["uid"]),
];

/// The directive of a map.
const PATCH: &str = "$patch";

/// Merges a patch into a value. `None` for one that it deletes. `has_keys` is `true` for kinds whose lists have keys.
pub(super) fn merged(base: Data, patch: &Data, has_keys: bool) -> Option<Data> {
    let Data::Map(over) = patch else { return (*patch != Data::Null).then(|| patch.clone()) };
    match over.get(PATCH).and_then(Data::as_str) {
        Some("delete") => return None,
        Some("replace") => return Some(Data::Map(without_directive(over))),
        _ => {}
    }
    let mut map = base.into_map().unwrap_or_default();
    for (key, value) in over.iter().filter(|(key, _)| !key.starts_with("$")) {
        let own = map.get(key).cloned();
        let result = match (own, value) {
            (Some(own @ Data::List(_)), Data::List(patches)) => {
                let items = own.as_list().unwrap_or_default().to_vec();
                Some(Data::List(merged_list(key, items, patches, has_keys)))
            }
            (own, value @ Data::Map(_)) => merged(own.unwrap_or_default(), value, has_keys),
            (_, Data::Null) => None,
            (_, Data::List(patches)) => Some(Data::List(merged_list(key, Vec::new(), patches, has_keys))),
            (_, value) => Some(value.clone()),
        };
        match result {
            Some(value) => drop(map.insert(key.clone(), value)),
            None => drop(map.shift_remove(key)),
        }
    }
    Some(Data::Map(map))
}

fn without_directive(map: &DataMap) -> DataMap {
    map.iter().filter(|(key, _)| *key != PATCH).map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Merges items by their keys. Those of the patch come first, in its order.
fn merged_list(name: &str, items: Vec<Data>, patches: &[Data], has_keys: bool) -> Vec<Data> {
    let directive = |item: &Data| item.get(PATCH).and_then(Data::as_str).map(str::to_owned);
    let replaces = patches
        .iter()
        .any(|item| directive(item).as_deref() == Some("replace") && item.as_map().is_some_and(|map| map.len() == 1));
    let plain = || patches.iter().filter(|item| item.as_map().is_none_or(|map| map.keys().any(|key| key != PATCH)));
    let keys = KEYS.iter().find(|(list, _)| *list == name).map(|(_, keys)| *keys).filter(|_| has_keys);
    let key = keys.and_then(|keys| {
        let has = |item: &Data, key: &str| item.get(key).is_some();
        keys.iter().find(|key| plain().all(|item| has(item, key)) && items.iter().all(|item| has(item, key)))
    });
    let (Some(key), false) = (key, replaces) else { return plain().cloned().collect() };
    let (mut left, mut found) = (items.clone(), Vec::new());
    for patch in plain().filter(|patch| !is_lost(name, key, patch, &items)) {
        let is_meant = |item: &Data| item.get(key) == patch.get(key) && is_same_protocol(name, item, patch);
        let own = left.iter().position(is_meant).map(|at| left.remove(at));
        if own.is_some() || directive(patch).as_deref() != Some("delete") {
            found.extend(merged(own.unwrap_or_default(), patch, has_keys));
        }
    }
    found.into_iter().chain(left).collect()
}

/// Returns `true` for a port without a protocol where all ports of its number have one: Kustomize loses it.
fn is_lost(name: &str, key: &str, patch: &Data, items: &[Data]) -> bool {
    let mut same = items.iter().filter(|item| item.get(key) == patch.get(key)).peekable();
    name == "ports"
        && patch.get("protocol").is_none()
        && same.peek().is_some()
        && same.all(|item| item.get("protocol").is_some())
}

/// Ports of one number may have several protocols.
fn is_same_protocol(name: &str, item: &Data, patch: &Data) -> bool {
    name != "ports" || item.get("protocol") == patch.get("protocol")
}

/// Applies the operations of RFC 6902.
///
/// # Errors
/// A sentence about the operation that does not apply.
pub(super) fn apply(data: &mut Data, operations: &[Data]) -> Result<(), String> {
    for operation in operations {
        let text = |key: &str| operation.get(key).and_then(Data::as_str);
        let (op, path) = (text("op").unwrap_or(""), text("path").unwrap_or(""));
        let value = || operation.get("value").cloned().unwrap_or_default();
        let missing = |path: &str| format!("there is nothing at `{path}`");
        match op {
            "add" => put(data, path, value(), true)?,
            "replace" => put(data, path, value(), false)?,
            "remove" => drop(take(data, path).ok_or_else(|| missing(path))?),
            "test" => {
                let is_same = at(data, path).is_some_and(|own| *own == value());
                is_same.then_some(()).ok_or_else(|| format!("the value at `{path}` is another one"))?;
            }
            "move" | "copy" => {
                let from = text("from").unwrap_or("");
                let moved = if op == "move" { take(data, from) } else { at(data, from).cloned() };
                put(data, path, moved.ok_or_else(|| missing(from))?, true)?;
            }
            other => return Err(format!("`{other}` is no operation")),
        }
    }
    Ok(())
}

fn steps(path: &str) -> Vec<String> {
    path.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect()
}

fn at<'d>(data: &'d Data, path: &str) -> Option<&'d Data> {
    steps(path).iter().try_fold(data, |here, step| match here {
        Data::List(items) => items.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    })
}

/// Returns the value that holds the last step of a path, and that step.
fn holder<'d>(data: &'d mut Data, path: &str) -> Option<(&'d mut Data, String)> {
    let mut steps = steps(path);
    let last = steps.pop()?;
    let holder = steps.iter().try_fold(data, |here, step| match here {
        Data::List(items) => items.get_mut(step.parse::<usize>().ok()?),
        Data::Map(map) => map.get_mut(step),
        _ => None,
    })?;
    Some((holder, last))
}

fn put(data: &mut Data, path: &str, value: Data, is_new: bool) -> Result<(), String> {
    let missing = || format!("there is nothing at `{path}`");
    if path.is_empty() {
        *data = value;
        return Ok(());
    }
    let (holder, last) = holder(data, path).ok_or_else(missing)?;
    match holder {
        Data::Map(map) if is_new || map.contains_key(&last) => drop(map.insert(last, value)),
        Data::List(items) if is_new && last == "-" => items.push(value),
        Data::List(items) => {
            let index = last.parse::<usize>().ok().filter(|index| *index <= items.len()).ok_or_else(missing)?;
            match items.get_mut(index).filter(|_| !is_new) {
                Some(item) => *item = value,
                None if is_new => items.insert(index, value),
                None => return Err(missing()),
            }
        }
        _ => return Err(missing()),
    }
    Ok(())
}

fn take(data: &mut Data, path: &str) -> Option<Data> {
    let (holder, last) = holder(data, path)?;
    match holder {
        Data::Map(map) => map.shift_remove(&last),
        Data::List(items) => {
            let index = last.parse::<usize>().ok().filter(|index| *index < items.len())?;
            Some(items.remove(index))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(text: &str) -> Data {
        Data::of_json(text).unwrap()
    }

    #[test]
    fn strategic_patches_merge_by_keys() {
        let cases = [
            (r#"{"a": {"x": 1, "y": 2}}"#, r#"{"a": {"y": null, "z": 3}}"#, r#"{"a": {"x": 1, "z": 3}}"#),
            (
                r#"{"containers": [{"name": "a", "image": "x"}, {"name": "b"}]}"#,
                r#"{"containers": [{"name": "a", "image": "y"}, {"name": "c"}]}"#,
                r#"{"containers": [{"name": "a", "image": "y"}, {"name": "c"}, {"name": "b"}]}"#,
            ),
            (
                r#"{"env": [{"name": "a"}, {"name": "b"}]}"#,
                r#"{"env": [{"name": "a", "$patch": "delete"}]}"#,
                r#"{"env": [{"name": "b"}]}"#,
            ),
            (
                r#"{"env": [{"name": "a"}]}"#,
                r#"{"env": [{"$patch": "replace"}, {"name": "c"}]}"#,
                r#"{"env": [{"name": "c"}]}"#,
            ),
            (
                r#"{"ports": [{"port": 1, "protocol": "UDP"}, {"port": 2}]}"#,
                r#"{"ports": [{"port": 1, "name": "lost"}, {"port": 2, "name": "b"}]}"#,
                r#"{"ports": [{"port": 2, "name": "b"}, {"port": 1, "protocol": "UDP"}]}"#,
            ),
            (r#"{"args": ["a", "b"]}"#, r#"{"args": ["c"]}"#, r#"{"args": ["c"]}"#),
            (r#"{"a": {"x": 1}}"#, r#"{"a": {"$patch": "replace", "y": 1}}"#, r#"{"a": {"y": 1}}"#),
        ];
        for (base, patch, wanted) in cases {
            assert_eq!(merged(data(base), &data(patch), true), Some(data(wanted)), "{base} {patch}");
        }
        let lists = merged(data(r#"{"env": [{"name": "a"}]}"#), &data(r#"{"env": [{"name": "b"}]}"#), false);
        assert_eq!(lists, Some(data(r#"{"env": [{"name": "b"}]}"#)));
    }

    #[test]
    fn operations_apply_in_order() {
        let mut value = data(r#"{"a": {"b/c": [1, 2]}, "x": 1}"#);
        let all = data(
            r#"[{"op": "add", "path": "/a/b~1c/-", "value": 3}, {"op": "remove", "path": "/a/b~1c/0"},
                {"op": "test", "path": "/x", "value": 1}, {"op": "move", "from": "/x", "path": "/y"},
                {"op": "replace", "path": "/a/b~1c/0", "value": 9}]"#,
        );
        apply(&mut value, all.as_list().unwrap()).unwrap();
        assert_eq!(value, data(r#"{"a": {"b/c": [9, 3]}, "y": 1}"#));
        for wrong in
            [r#"{"op": "replace", "path": "/q", "value": 1}"#, r#"{"op": "remove", "path": "/a/z"}"#, r#"{"op": "x"}"#]
        {
            assert!(apply(&mut value, &[data(wrong)]).is_err(), "{wrong}");
        }
    }
}
