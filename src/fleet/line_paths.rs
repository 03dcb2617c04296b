//! The paths of lines in YAML, for titles of changes and to find the values that are secret. They are read off the indentation, so a line of a multi-line text
//! may get a path that no value has.

/// A line with a key or an item of a list.
struct Line<'t> {
    /// The column of the key, or of the item's value.
    indent: usize,
    /// The column of the `-`.
    dash: Option<usize>,
    key: Option<&'t str>,
    value: &'t str,
}

impl<'t> Line<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let line = line.trim_end();
        let text = line.trim_start_matches(' ');
        let start = line.len() - text.len();
        let (dash, text) = match text.strip_prefix('-') {
            Some(rest) if rest.is_empty() || rest.starts_with(' ') => (Some(start), rest.trim_start_matches(' ')),
            _ => (None, text),
        };
        let indent = line.len() - text.len();
        if text.starts_with('#') || (text.is_empty() && dash.is_none()) {
            return None;
        }
        let split = text.split_once(": ").or_else(|| text.strip_suffix(':').map(|key| (key, "")));
        let (key, value) = match split {
            Some((key, value)) if is_key(key) => (Some(key.trim_matches(['"', '\''])), value.trim_start()),
            _ => (None, text),
        };
        Some(Self { indent, dash, key, value })
    }

    /// Returns `true` if the lines below may hold the value.
    fn opens(&self) -> bool {
        self.key.is_some() && (self.value.is_empty() || self.value.starts_with(['|', '>', '&', '!']))
    }
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "{[,`".contains(c))
}

/// Returns the path and the value of the scalar at line `at`, such as `spec.ports[0].port` and `80`. Returns `None` if
/// the line has no scalar.
pub(super) fn scalar<'t>(lines: &[&'t str], at: usize) -> Option<(String, &'t str)> {
    let line = Line::of(lines.get(at)?)?;
    if line.value.is_empty() || line.opens() || (line.key.is_none() && line.dash.is_none()) {
        return None;
    }
    Some((path(lines, at)?, line.value))
}

/// Returns the path of the line at `at`.
pub(super) fn path(lines: &[&str], at: usize) -> Option<String> {
    let line = Line::of(lines.get(at)?)?;
    let mut way = Way { parts: Vec::new(), indent: line.indent, list: None };
    way.parts.extend(line.key.map(str::to_owned));
    way.list = line.dash.map(|dash| (dash, 0));
    for text in lines.get(..at)?.iter().rev() {
        if text.starts_with("---") || (way.indent == 0 && way.list.is_none()) {
            break;
        }
        if let Some(above) = Line::of(text) {
            way.step(&above);
        }
    }
    way.leave_list();
    Some(way.joined())
}

/// Returns the place of each line: the path of its key or of the value that it belongs to, with `[]` for every item of a list.
/// An assignment in a text has a place of its own.
pub(super) fn places(lines: &[&str]) -> Vec<String> {
    let mut above: Vec<(usize, String)> = Vec::new();
    lines.iter().map(|line| place(line, &mut above)).collect()
}

/// Returns the place of a line below the keys and items `above`, each with its column, and adds its own.
fn place(text: &str, above: &mut Vec<(usize, String)>) -> String {
    let joined = |above: &[(usize, String)]| above.iter().map(|(_, part)| part.as_str()).collect::<Vec<_>>().join(".");
    if text.starts_with("---") {
        above.clear();
    }
    let Some(line) = Line::of(text) else { return joined(above) + "#" };
    match line.dash {
        Some(dash) => {
            while above.pop_if(|(column, part)| *column > dash || *column == dash && part == ITEM).is_some() {}
            above.push((dash, ITEM.to_owned()));
        }
        None => while above.pop_if(|(column, _)| *column >= line.indent).is_some() {},
    }
    above.extend(line.key.map(|key| (line.indent, key.to_owned())));
    match line.value.split_once('=').filter(|_| line.key.is_none()) {
        Some((name, _)) => format!("{}={name}", joined(above)),
        None if line.key.is_none() && line.dash.is_none() => joined(above) + "|",
        None => joined(above),
    }
}

/// Any item of a list.
const ITEM: &str = "[]";

/// Splits a line before its value, if it has one: after its key and `: `, after the `=` of an assignment, or after its
/// indentation.
pub(super) fn before_value(text: &str) -> Option<(&str, &str)> {
    let line = Line::of(text).filter(|line| !line.value.is_empty())?;
    let content = text.trim_end();
    let start = match line.value.split_once('=').filter(|_| line.key.is_none()) {
        Some((_, value)) => content.len() - value.len(),
        None => content.len() - line.value.len(),
    };
    text.split_at_checked(start)
}

/// The way from a line up to the root of its document.
struct Way {
    /// Keys and indexes, the innermost first.
    parts: Vec<String>,
    /// The column of the last key.
    indent: usize,
    /// The column of the `-` of the list that the way leads through, and the number of items above.
    list: Option<(usize, usize)>,
}

impl Way {
    fn step(&mut self, above: &Line<'_>) {
        if let Some((dash, items)) = &mut self.list {
            match above.dash {
                Some(other) if other == *dash => *items += 1,
                None if above.opens() && above.indent <= *dash => {
                    self.leave_list();
                    self.enter(above);
                }
                Some(other) if other < *dash && above.opens() => {
                    self.leave_list();
                    self.enter(above);
                }
                _ => {}
            }
        } else if above.indent == self.indent {
            self.list = above.dash.map(|dash| (dash, 0));
        } else if above.indent < self.indent && above.opens() {
            self.enter(above);
        }
    }

    /// Goes up to a parent.
    fn enter(&mut self, parent: &Line<'_>) {
        self.parts.extend(parent.key.map(str::to_owned));
        self.indent = parent.indent;
        self.list = parent.dash.map(|dash| (dash, 0));
    }

    fn leave_list(&mut self) {
        if let Some((_, items)) = self.list.take() {
            self.parts.push(format!("[{items}]"));
        }
    }

    fn joined(self) -> String {
        let mut path = String::new();
        for part in self.parts.iter().rev() {
            if !path.is_empty() && !part.starts_with('[') {
                path.push('.');
            }
            path.push_str(part);
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POD: &str = "kind: Pod
metadata:
  labels: {a: b}
  name: web
spec:
  containers:
  - name: a
    ports:
      - port: 80
      # no
      - port: 81
        \"name\": x
  - name: b
    image: web:1
    args:
      - --a
      - --b
---
replicas: 2
";

    #[test]
    fn paths_follow_the_indentation() {
        let lines: Vec<&str> = POD.split_inclusive('\n').collect();
        let at = |text: &str| {
            let at = lines.iter().position(|line| line.contains(text)).unwrap();
            scalar(&lines, at).map(|(path, value)| format!("{path} {value}"))
        };
        assert_eq!(at("kind").unwrap(), "kind Pod");
        assert_eq!(at("name: web").unwrap(), "metadata.name web");
        assert_eq!(at("port: 81").unwrap(), "spec.containers[0].ports[1].port 81");
        assert_eq!(at("name\": x").unwrap(), "spec.containers[0].ports[1].name x");
        assert_eq!(at("image").unwrap(), "spec.containers[1].image web:1");
        assert_eq!(at("--b").unwrap(), "spec.containers[1].args[1] --b");
        assert_eq!(at("replicas").unwrap(), "replicas 2");
        assert_eq!(at("spec"), None);
        assert_eq!(at("# no"), None);
        assert_eq!(scalar(&lines, 99), None);
        assert_eq!(scalar(&["- a", "- b"], 1), Some(("[1]".to_owned(), "b")));
    }

    #[test]
    fn places_are_those_of_any_item() {
        let lines: Vec<&str> = POD.split_inclusive('\n').collect();
        let places = places(&lines);
        let at = |text: &str| places[lines.iter().position(|line| line.contains(text)).unwrap()].as_str();
        assert_eq!(at("port: 81"), "spec.containers.[].ports.[].port");
        assert_eq!(at("image"), "spec.containers.[].image");
        assert_eq!(at("--b"), "spec.containers.[].args.[]");
        assert_eq!(at("replicas"), "replicas");
        assert_eq!(
            super::places(&["data:", "  a: |", "    x=1", "    [y]"]),
            ["data", "data.a", "data.a=x", "data.a|"]
        );
        let before = |text| before_value(text).map(|(before, _)| before.to_owned());
        assert_eq!(before("  a: b c\n").as_deref(), Some("  a: "));
        assert_eq!(before("- b\n").as_deref(), Some("- "));
        assert_eq!(before("X=y=z\n").as_deref(), Some("X="));
        assert_eq!((before("a:\n"), before("# x: y\n")), (None, None));
    }
}
