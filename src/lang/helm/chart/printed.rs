//! Documents that are printed once for many renders.

use std::rc::Rc;

use hashbrown::HashMap;

use super::manifests::{self, HookEvent, Selection, install_rank};
use super::plan::Plan;
use dropforge_base::diagnostics::Result;
use dropforge_base::stdlib::small_sort::SmallSort as _;
use dropforge_value::Scanner;

/// Maximum number of bytes of texts that are remembered.
const REMEMBERED: usize = 16 << 20;

/// Texts of a template to remember before those that came again are counted.
const TRIED: usize = 64;

/// The documents of some templates, in the order of installation.
#[derive(Debug, Default, Clone)]
pub struct Printed {
    manifests: Vec<Rc<Document>>,
    hooks: Vec<Rc<Document>>,
}

/// Prints documents. A text that a template has had before is neither split nor checked again.
#[derive(Debug, Default)]
pub struct Printer {
    scanner: Scanner,
    /// The texts of templates, by name.
    known: HashMap<String, Texts>,
    bytes: usize,
}

/// The texts of a template.
#[derive(Debug, Default)]
struct Texts {
    /// The documents of texts.
    printed: HashMap<String, Printed>,
    /// The number of texts that were remembered, and of those that came again.
    new: usize,
    again: usize,
}

impl Texts {
    /// Returns `true` if texts may well come again.
    fn repeat(&self) -> bool {
        self.new < TRIED || self.again >= self.new / 4
    }
}

impl Printer {
    /// Prints the documents of rendered templates, by their names, like [`Printed::of`].
    ///
    /// # Errors
    /// Those of [`Printed::of`], for any of the templates.
    pub fn print<'t>(&mut self, rendered: impl IntoIterator<Item = (&'t str, String)>) -> Result<Printed> {
        let mut all = Printed::default();
        for (name, text) in rendered {
            let texts = self.known.entry_ref(name).or_default();
            if !texts.repeat() {
                all.add_text(&mut self.scanner, name, &text)?;
            } else if let Some(known) = texts.printed.get(&text) {
                texts.again += 1;
                all.add(known);
            } else {
                let mut printed = Printed::default();
                printed.add_text(&mut self.scanner, name, &text)?;
                all.add(&printed);
                texts.new += 1;
                // The documents have the text once more.
                self.bytes += 2 * text.len() + size_of::<Document>();
                texts.printed.insert(text, printed);
                self.forget();
            }
        }
        all.sort();
        Ok(all)
    }

    /// Forgets the texts of all templates if they are too many, or of those whose texts do not repeat.
    fn forget(&mut self) {
        let is_full = self.bytes > REMEMBERED;
        if is_full {
            self.bytes = 0;
        }
        self.known.values_mut().filter(|texts| is_full || !texts.repeat()).for_each(|texts| texts.printed.clear());
    }
}

/// A printed document.
#[derive(Debug)]
struct Document {
    /// The place of its kind in the order.
    rank: (usize, String),
    /// The name of its template.
    source: String,
    /// Its text, with the separator and the name.
    text: String,
    /// Its events, if it is a hook.
    events: Vec<HookEvent>,
}

impl Document {
    fn new(source: &str, kind: &str, body: &str, events: Vec<HookEvent>) -> Self {
        let (at, other) = install_rank(kind);
        let mut text = String::with_capacity(manifests::printed_len(source, body));
        manifests::print(source, body, &mut text);
        Self { rank: (at, other.to_owned()), source: source.to_owned(), text, events }
    }

    fn order(&self) -> (&(usize, String), &str) {
        (&self.rank, &self.source)
    }
}

impl Printed {
    /// Prints the documents of rendered templates, by their names.
    ///
    /// # Errors
    /// `file.invalid_output` for a document that is not a YAML map: that of the first template by name.
    pub fn of(rendered: impl IntoIterator<Item = (String, String)>) -> Result<Self> {
        let (mut scanner, mut all) = (Scanner::new(), Self::default());
        let mut rendered: Vec<_> = rendered.into_iter().collect();
        rendered.sort_unstable();
        rendered.iter().try_for_each(|(name, text)| all.add_text(&mut scanner, name, text))?;
        all.sort();
        Ok(all)
    }

    /// Adds the documents of a rendered template after these.
    fn add_text(&mut self, scanner: &mut Scanner, name: &str, text: &str) -> Result<()> {
        if name.ends_with("NOTES.txt") {
            return Ok(());
        }
        manifests::each(scanner, (name, text), &mut |head, text, events| {
            let documents = if events.is_some() { &mut self.hooks } else { &mut self.manifests };
            documents.push(Rc::new(Document::new(name, &head.kind, text, events.unwrap_or_default())));
        })
    }

    /// Sorts the documents by kind. Those of one kind are in the order of their templates.
    fn sort(&mut self) {
        self.manifests.small_sort_by(|a, b| a.order().cmp(&b.order()));
        self.hooks.small_sort_by(|a, b| a.order().cmp(&b.order()));
    }

    /// Adds the documents of others after these.
    fn add(&mut self, others: &Self) {
        self.manifests.extend(others.manifests.iter().cloned());
        self.hooks.extend(others.hooks.iter().cloned());
    }

    /// Returns the texts of the templates' documents, hooks last: the names of the templates, and a part of their texts.
    pub fn texts(&self, selection: Selection) -> impl Iterator<Item = (&str, &str)> {
        let hooks = self.hooks.iter().filter(move |hook| selection.has(&hook.events));
        self.manifests.iter().chain(hooks).map(|document| (document.source.as_str(), document.text.as_str()))
    }

    /// Appends the text of `helm template`: these documents and `others`, which are of other templates, after `crds`.
    pub fn print(&self, others: &Self, crds: &str, selection: Selection, text: &mut String) {
        let start = text.len();
        text.push_str(crds);
        each(&self.manifests, &others.manifests, &mut |document| text.push_str(document));
        // The tool trims the manifests, but not the hooks.
        let end = text.get(start..).unwrap_or("").trim_end().len();
        text.truncate(start + end);
        text.push('\n');
        let hooks = |of: &Self| of.hooks.iter().filter(|hook| selection.has(&hook.events)).cloned().collect::<Vec<_>>();
        each(&hooks(self), &hooks(others), &mut |document| text.push_str(document));
    }
}

impl Plan {
    /// Returns the printed definitions of resources (`crds/`), each with the name of its file.
    pub fn printed_crds(&self) -> Vec<(String, String)> {
        let printed = |(source, bytes): (String, &[u8])| {
            let mut text = String::new();
            manifests::print(&source, &String::from_utf8_lossy(bytes), &mut text);
            (source, text)
        };
        self.charts().iter().flat_map(|chart| chart.crds()).map(printed).collect()
    }
}

/// Calls `print` with the texts of both lists in order.
fn each(some: &[Rc<Document>], others: &[Rc<Document>], print: &mut dyn FnMut(&str)) {
    let mut others = others.iter().peekable();
    for document in some {
        while let Some(other) = others.next_if(|other| other.order() < document.order()) {
            print(&other.text);
        }
        print(&document.text);
    }
    others.for_each(|other| print(&other.text));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_and_checked_once() {
        let files = |n: usize| {
            let service = format!("kind: Service\nn: {n}\n---\nkind: Namespace\n");
            [("c/templates/b.yaml", service), ("c/templates/a.yaml", "kind: Service\n".to_owned())]
        };
        let text = |printed: &Printed| {
            let mut text = String::new();
            printed.print(&Printed::default(), "", Selection::default(), &mut text);
            text
        };
        let mut printer = Printer::default();
        for n in [1, 2, 1] {
            let whole = Printed::of(files(n).map(|(name, text)| (name.to_owned(), text))).unwrap();
            assert_eq!(text(&printer.print(files(n)).unwrap()), text(&whole));
        }
        assert_eq!(printer.known.values().map(|texts| texts.printed.len()).sum::<usize>(), 3);
        assert!(printer.print([("c/templates/a.yaml", "- a\n".to_owned())]).is_err());
    }

    #[test]
    fn texts_that_do_not_repeat_are_not_remembered() {
        let (mut printer, name) = (Printer::default(), "c/templates/a.yaml");
        for n in 0..2 * TRIED {
            let texts = [(name, format!("kind: Service\nn: {n}\n")), ("c/templates/b.yaml", format!("n: {}\n", n % 9))];
            let mut text = String::new();
            printer.print(texts).unwrap().print(&Printed::default(), "", Selection::default(), &mut text);
            assert!(text.contains(&format!("kind: Service\nn: {n}\n")) && text.contains(&format!("\nn: {}\n", n % 9)));
        }
        assert_eq!(printer.known.get(name).map(|texts| (texts.new, texts.printed.len())), Some((TRIED, 0)));
        assert_eq!(printer.known.get("c/templates/b.yaml").map(|texts| texts.printed.len()), Some(9));
    }
}
