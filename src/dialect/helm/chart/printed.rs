//! Documents that are printed once for many renders.

use std::rc::Rc;

use hashbrown::HashMap;

use super::manifests::{Manifest, collect, rank};
use super::output::Selection;
use super::plan::Plan;
use crate::diagnostics::Result;
use crate::value::Scanner;

/// Maximum number of bytes of texts that are remembered.
const REMEMBERED: usize = 16 << 20;

/// The documents of some templates, in the order of installation.
#[derive(Debug, Default, Clone)]
pub struct Printed {
    manifests: Vec<Rc<Document>>,
    hooks: Vec<Rc<Document>>,
}

/// Prints documents. A text that a template has had before is neither split nor checked again.
#[derive(Debug, Default)]
pub struct Printer {
    /// The documents of texts, by the name of the template.
    known: HashMap<String, HashMap<String, Printed>>,
    bytes: usize,
}

impl Printer {
    /// Prints the documents of rendered templates, by their names, like [`Printed::of`].
    ///
    /// # Errors
    /// Those of [`Printed::of`], for any of the templates.
    pub fn print<'t>(&mut self, rendered: impl IntoIterator<Item = (&'t str, String)>) -> Result<Printed> {
        let mut all = Printed::default();
        for (name, text) in rendered {
            if let Some(known) = self.known.get(name).and_then(|texts| texts.get(&text)) {
                all.add(known);
                continue;
            }
            let printed = Printed::of([(name.to_owned(), text.clone())])?;
            all.add(&printed);
            if self.bytes > REMEMBERED {
                self.known.clear();
                self.bytes = 0;
            }
            // The documents have the text once more.
            self.bytes += 2 * text.len() + size_of::<Document>();
            self.known.entry_ref(name).or_default().insert(text, printed);
        }
        all.manifests.sort_by(|a, b| a.order().cmp(&b.order()));
        all.hooks.sort_by(|a, b| a.order().cmp(&b.order()));
        Ok(all)
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
}

impl Document {
    fn of(manifest: Manifest) -> Self {
        let (at, other) = rank(&manifest.kind);
        let (rank, mut text) = ((at, other.to_owned()), String::new());
        manifest.print(&mut text);
        Self { rank, source: manifest.source, text }
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
        let (mut scanner, mut manifests, mut hooks) = (Scanner::new(), Vec::new(), Vec::new());
        let mut rendered: Vec<_> = rendered.into_iter().filter(|(name, _)| !name.ends_with("NOTES.txt")).collect();
        rendered.sort_unstable();
        for (name, text) in rendered {
            collect(&mut scanner, (&name, &text), &mut manifests, &mut hooks)?;
        }
        let hooks = hooks.into_iter().map(|hook| hook.manifest);
        Ok(Self { manifests: sorted(manifests.into_iter()), hooks: sorted(hooks) })
    }

    /// Adds the documents of others behind these.
    fn add(&mut self, others: &Self) {
        self.manifests.extend(others.manifests.iter().cloned());
        self.hooks.extend(others.hooks.iter().cloned());
    }

    /// Returns the texts of the templates' documents, hooks last: the names of the templates, and a part of their texts.
    pub fn texts(&self, selection: Selection) -> impl Iterator<Item = (&str, &str)> {
        let hooks = self.hooks.iter().filter(move |_| selection.hooks);
        self.manifests.iter().chain(hooks).map(|document| (document.source.as_str(), document.text.as_str()))
    }

    /// Appends the text of `helm template`: these documents and `others`, which are of other templates, behind `crds`.
    pub fn print(&self, others: &Self, crds: &str, selection: Selection, text: &mut String) {
        let start = text.len();
        text.push_str(crds);
        each(&self.manifests, &others.manifests, &mut |document| text.push_str(document));
        // The tool trims the manifests, but not the hooks.
        let end = text.get(start..).unwrap_or("").trim_end().len();
        text.truncate(start + end);
        text.push('\n');
        if selection.hooks {
            each(&self.hooks, &others.hooks, &mut |document| text.push_str(document));
        }
    }
}

impl Plan {
    /// Returns the printed definitions of resources (`crds/`), each with the name of its file.
    pub fn printed_crds(&self) -> Vec<(String, String)> {
        let printed = |(source, bytes): (String, &[u8])| {
            let mut text = String::new();
            let kind = "CustomResourceDefinition".to_owned();
            let body = String::from_utf8_lossy(bytes).into_owned();
            Manifest { source: source.clone(), kind, name: String::new(), text: body }.print(&mut text);
            (source, text)
        };
        self.charts().iter().flat_map(|chart| chart.crds()).map(printed).collect()
    }
}

/// Prints documents, sorted by kind. Those of one kind keep their order, which is that of their templates.
fn sorted(manifests: impl Iterator<Item = Manifest>) -> Vec<Rc<Document>> {
    let mut documents: Vec<Rc<Document>> = manifests.map(Document::of).map(Rc::new).collect();
    documents.sort_by(|a, b| a.order().cmp(&b.order()));
    documents
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
        assert_eq!(printer.known.values().map(HashMap::len).sum::<usize>(), 3);
        assert!(printer.print([("c/templates/a.yaml", "- a\n".to_owned())]).is_err());
    }
}
