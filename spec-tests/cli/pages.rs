//! The README and the pages of `docs/`, with their blocks of code.

use std::fs;

use crate::support::{Sandbox, repository, tree};

/// A page: its path in the repository, and its text.
pub struct Page {
    pub path: String,
    pub text: String,
}

impl Page {
    pub fn read(path: &str) -> Self {
        Self { path: path.to_owned(), text: fs::read_to_string(repository().join(path)).unwrap() }
    }

    pub fn all() -> Vec<Self> {
        let docs = tree(&repository().join("docs")).into_iter().filter(|(name, _)| name.ends_with(".md"));
        let docs = docs.map(|(name, text)| Self { path: format!("docs/{name}"), text });
        std::iter::once(Self::read("README.md")).chain(docs).collect()
    }

    /// Returns the blocks of code: their language and their text without its last line break.
    pub fn blocks(&self) -> impl Iterator<Item = (&str, &str)> {
        let fenced = self.text.split("\n```").skip(1).step_by(2);
        fenced.filter_map(|block| block.split_once('\n'))
    }

    /// Creates a sandbox with the examples and the files of all blocks.
    pub fn sandbox(&self) -> Sandbox {
        let sandbox = charts();
        for (path, text) in self.blocks().filter_map(|(_, block)| file(block)) {
            sandbox.write(path, &text);
        }
        sandbox
    }
}

/// Creates a sandbox with the example charts and the example of a platform.
pub fn charts() -> Sandbox {
    let sandbox = Sandbox::new();
    for folder in ["examples/helm", "examples/estate"] {
        let files = tree(&repository().join(folder));
        files.iter().for_each(|(name, text)| sandbox.write(&format!("{folder}/{name}"), text));
    }
    sandbox
}

/// Returns the file that a block holds, if its first line is `# PATH`.
pub fn file(block: &str) -> Option<(&str, String)> {
    let (path, text) = block.strip_prefix("# ")?.split_once('\n')?;
    (path.contains('.') && !path.contains(' ')).then(|| (path, format!("{text}\n")))
}

/// Returns the commands of a `console` block, and what they print.
pub fn commands(block: &str) -> Vec<(String, String)> {
    let parts = format!("\n{block}");
    let parts = parts.split("\n$ ").skip(1).map(|part| format!("{part}\n"));
    parts
        .filter_map(|part| part.split_once('\n').map(|(command, output)| (command.to_owned(), output.to_owned())))
        .collect()
}
