//! Operations of RFC 6902 on a document.

use std::borrow::Cow;

use super::Failure;
use super::tree::{At, Entry, Part, Tree};
use dropforge_base::limits::Limits;

/// Maximum number of parts that the operations of a patch copy.
const COPIED: usize = 1 << 20;

type Result<T> = std::result::Result<T, Failure>;

/// One operation.
#[derive(Debug)]
pub(super) struct Operation {
    at: At,
    what: What,
    path: Pointer,
}

#[derive(Debug)]
enum What {
    Add(Tree),
    Remove,
    Replace(Tree),
    Move(Pointer),
    Copy(Pointer),
    Test(Tree),
}

/// A JSON pointer.
#[derive(Debug)]
struct Pointer {
    at: At,
    text: String,
    names: Vec<String>,
}

const NAMES: [&str; 6] = ["add", "copy", "move", "remove", "replace", "test"];
const KEYS: [&str; 4] = ["from", "op", "path", "value"];

impl Operation {
    /// Reads the operations of a patch, a list. Returns all errors.
    pub fn read(patch: &Tree) -> std::result::Result<Vec<Self>, Vec<Failure>> {
        if patch.is_null() {
            return Ok(Vec::new());
        }
        let Part::List(items) = &patch.part else {
            let message = format!("operations must be a list, found a {}", patch.kind());
            let help = "write `merge = …` for a patch that looks like the object";
            return Err(vec![Failure::new(patch.at, message).with_help(help)]);
        };
        let (mut found, mut errors) = (Vec::new(), Vec::new());
        for item in items {
            match Self::of(item) {
                Ok(operation) => found.push(operation),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(found) } else { Err(errors) }
    }

    fn of(item: &Tree) -> Result<Self> {
        let text = |name: &str| {
            item.text_at(name).ok_or_else(|| Failure::new(item.at, format!("the operation has no `{name}`")))
        };
        if let Some(entry) = item.entries().iter().find(|entry| !KEYS.contains(&&*entry.name)) {
            let error = Failure::new(entry.key.at, format!("unknown key `{}` of an operation", entry.name));
            return Err(error.with_wanted(&entry.name).with_available(KEYS));
        }
        let pointer = |name: &'static str| {
            text(name)?;
            item.get(name).map_or_else(|| Err(Failure::new(item.at, "")), Pointer::of)
        };
        let value = || item.get("value").cloned().ok_or_else(|| Failure::new(item.at, "the operation has no `value`"));
        let what = match text("op")? {
            "add" => What::Add(value()?),
            "remove" => What::Remove,
            "replace" => What::Replace(value()?),
            "move" => What::Move(pointer("from")?),
            "copy" => What::Copy(pointer("from")?),
            "test" => What::Test(value()?),
            other => {
                let at = item.get("op").map_or(item.at, |op| op.at);
                let error = Failure::new(at, format!("unknown operation `{other}`"));
                return Err(error.with_wanted(other).with_available(NAMES));
            }
        };
        Ok(Self { at: item.at, what, path: pointer("path")? })
    }

    fn name(&self) -> &'static str {
        match self.what {
            What::Add(_) => "add",
            What::Remove => "remove",
            What::Replace(_) => "replace",
            What::Move(_) => "move",
            What::Copy(_) => "copy",
            What::Test(_) => "test",
        }
    }
}

/// Applies operations in order. Returns `None` if they remove the whole document.
///
/// # Errors
/// The first operation that does not fit.
pub(super) fn apply(document: Tree, operations: &[Operation]) -> Result<Option<Tree>> {
    let (mut document, mut copied) = (Some(document), 0);
    for operation in operations {
        let applied = operation.apply(&mut document, &mut copied);
        applied.map_err(|error| error.of_operation(operation.at, operation.name(), &operation.path.text))?;
    }
    Ok(document)
}

impl Operation {
    fn apply(&self, document: &mut Option<Tree>, copied: &mut usize) -> Result<()> {
        match &self.what {
            What::Add(value) => self.path.add(document, value.clone()),
            What::Remove => self.path.remove(document).map(drop),
            What::Replace(value) => {
                let place = self.path.find(document)?;
                check_depth(&self.path, value)?;
                *place = value.clone();
                Ok(())
            }
            What::Move(from) if self.path.names.starts_with(&from.names) => match self.path.names == from.names {
                true => from.find(document).map(drop),
                false => Err(Failure::new(from.at, format!("`{}` cannot move into itself", from.text))),
            },
            What::Move(from) => {
                let value = from.remove(document)?;
                self.path.add(document, value)
            }
            What::Copy(from) => {
                let value = from.find(document)?.clone();
                *copied += value.size().0;
                if *copied > COPIED {
                    return Err(Failure::new(self.at, "the operations of the patch copy too much"));
                }
                self.path.add(document, value)
            }
            What::Test(wanted) => {
                let found = self.path.find(document)?;
                if same(found, wanted) {
                    return Ok(());
                }
                let text = |tree: &Tree| {
                    let text = serde_json::to_string(&tree.to_data()).unwrap_or_default();
                    dropforge_base::text::one_line(&text, 80)
                };
                Err(Failure::new(wanted.at, format!("expected `{}`, found `{}`", text(wanted), text(found))))
            }
        }
    }
}

/// Returns `true` if two values are equal. The order of keys and the notation do not matter.
fn same(one: &Tree, other: &Tree) -> bool {
    match (&one.part, &other.part) {
        (Part::List(items), Part::List(others)) => {
            items.len() == others.len() && items.iter().zip(others).all(|(one, other)| same(one, other))
        }
        (Part::Map(entries), Part::Map(others)) => {
            let values: std::collections::HashMap<_, _> =
                others.iter().map(|entry| (&*entry.name, &entry.value)).collect();
            let is_same = |entry: &Entry| values.get(&*entry.name).is_some_and(|other| same(&entry.value, other));
            entries.len() == others.len() && entries.iter().all(is_same)
        }
        (Part::Scalar(_), Part::Scalar(_)) => one.to_data() == other.to_data(),
        _ => false,
    }
}

fn check_depth(path: &Pointer, value: &Tree) -> Result<()> {
    let most = Limits::default().value_depth;
    if path.names.len() + value.size().1 > most {
        return Err(Failure::new(path.at, format!("the document would nest deeper than {most} levels")));
    }
    Ok(())
}

impl Pointer {
    fn of(value: &Tree) -> Result<Self> {
        let text = value.as_text().unwrap_or_default();
        let names = match text.strip_prefix('/') {
            Some(rest) => rest.split('/').map(|name| unescaped(name).into_owned()).collect(),
            None if text.is_empty() => Vec::new(),
            None => {
                let error = Failure::new(value.at, format!("the path `{text}` does not begin with `/`"));
                return Err(error.with_help(format!("write `/{}`", text.replace('.', "/"))));
            }
        };
        Ok(Self { at: value.at, text: text.to_owned(), names })
    }

    /// Finds the value.
    fn find<'d>(&self, document: &'d mut Option<Tree>) -> Result<&'d mut Tree> {
        let root = document.as_mut().ok_or_else(|| Failure::new(self.at, "the document was removed"))?;
        self.walk(root, self.names.len())
    }

    /// Follows the first names.
    fn walk<'d>(&self, root: &'d mut Tree, count: usize) -> Result<&'d mut Tree> {
        let mut here = root;
        for (depth, name) in self.names.iter().take(count).enumerate() {
            let place = place(here, name).ok_or_else(|| self.missing(here, depth))?;
            let next = match &mut here.part {
                Part::Map(entries) => entries.get_mut(place).map(|entry| &mut entry.value),
                Part::List(items) => items.get_mut(place),
                Part::Scalar(_) => None,
            };
            here = next.ok_or_else(|| Failure::new(self.at, "there is no such value"))?;
        }
        Ok(here)
    }

    /// Returns the error of a name that is not there.
    fn missing(&self, parent: &Tree, depth: usize) -> Failure {
        let path = |count: usize| self.text.split('/').take(count + 1).collect::<Vec<_>>().join("/");
        let (name, above) = (self.names.get(depth).map_or("", String::as_str), path(depth));
        let above = if above.is_empty() { "the document".to_owned() } else { format!("`{above}`") };
        let error = Failure::new(self.at, format!("there is no `{}`", path(depth + 1)));
        match &parent.part {
            Part::Map(entries) => {
                let error = error.with_wanted(name).with_available(entries.iter().map(|entry| &*entry.name));
                if entries.is_empty() { error.with_note(format!("{above} is empty")) } else { error }
            }
            Part::List(items) => {
                let count = dropforge_base::diagnostics::counted(items.len(), "item");
                error.with_note(format!("{above} is a list with {count}"))
            }
            Part::Scalar(_) => error.with_note(format!("{above} is a {}", parent.kind())),
        }
    }

    fn add(&self, document: &mut Option<Tree>, value: Tree) -> Result<()> {
        check_depth(self, &value)?;
        let Some((last, depth)) = self.names.last().map(|last| (last, self.names.len() - 1)) else {
            *document = Some(value);
            return Ok(());
        };
        let root = document.as_mut().ok_or_else(|| Failure::new(self.at, "the document was removed"))?;
        let parent = self.walk(root, depth)?;
        let is_there = match &parent.part {
            Part::Map(_) => true,
            Part::List(items) => last == "-" || index(last).is_some_and(|at| at <= items.len()),
            Part::Scalar(_) => false,
        };
        if !is_there {
            return Err(self.missing(parent, depth));
        }
        match &mut parent.part {
            Part::Map(entries) => Tree::set(entries, last, Tree::text(last, self.at), value),
            Part::List(items) => items.insert(index(last).unwrap_or(items.len()), value),
            Part::Scalar(_) => {}
        }
        Ok(())
    }

    fn remove(&self, document: &mut Option<Tree>) -> Result<Tree> {
        let Some((last, depth)) = self.names.last().map(|last| (last, self.names.len() - 1)) else {
            return document.take().ok_or_else(|| Failure::new(self.at, "the document was removed"));
        };
        let root = document.as_mut().ok_or_else(|| Failure::new(self.at, "the document was removed"))?;
        let parent = self.walk(root, depth)?;
        let place = place(parent, last).ok_or_else(|| self.missing(parent, depth))?;
        match &mut parent.part {
            Part::Map(entries) => Ok(entries.remove(place).value),
            Part::List(items) => Ok(items.remove(place)),
            Part::Scalar(_) => Err(Failure::new(self.at, "there is no such value")),
        }
    }
}

/// Returns the place of a name among the entries or items of a value.
fn place(parent: &Tree, name: &str) -> Option<usize> {
    match &parent.part {
        Part::Map(entries) => entries.iter().position(|entry| *entry.name == *name),
        Part::List(items) => index(name).filter(|at| *at < items.len()),
        Part::Scalar(_) => None,
    }
}

/// Returns the index of an item: digits without leading zeros.
fn index(name: &str) -> Option<usize> {
    let is_plain = name == "0" || name.starts_with(|c: char| ('1'..='9').contains(&c));
    if is_plain && name.bytes().all(|byte| byte.is_ascii_digit()) { name.parse().ok() } else { None }
}

/// Returns a name of a pointer: `~1` stands for `/`, and `~0` for `~`.
fn unescaped(name: &str) -> Cow<'_, str> {
    if name.contains('~') { name.replace("~1", "/").replace("~0", "~").into() } else { name.into() }
}
