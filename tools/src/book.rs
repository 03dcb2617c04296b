//! The book: the pages that `docs/SUMMARY.md` lists, as HTML.
//!
//! mdBook reads one folder, but some pages lie outside `docs/`, and pages link to files of the repository. So pages and
//! files are first copied to a folder of their own, at their paths in the repository: no link has to be changed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use mdbook_driver::MDBook;
use mdbook_driver::config::Config;

use crate::links::{self, Link};

/// The folder of the pages, and its table of contents.
const DOCS: &str = "docs";
const SUMMARY: &str = "SUMMARY.md";

/// Builds the book of a repository into `out`, and checks its links.
pub fn build(root: &Path, out: &Path) -> Result<()> {
    let summary = fs::read_to_string(root.join(DOCS).join(SUMMARY)).context("cannot read docs/SUMMARY.md")?;
    let chapters = links::of(Path::new(DOCS).join(SUMMARY), &summary);
    let pages: Vec<PathBuf> = chapters.iter().filter_map(Link::path).collect();
    check_complete(root, &pages)?;

    let staged = tempfile::tempdir()?;
    fs::write(staged.path().join(SUMMARY), from_root(&summary, &chapters))?;
    let mut all = Vec::new();
    for page in &pages {
        let text = copy(root, staged.path(), page)?;
        all.extend(links::of(page.clone(), &text));
    }
    for file in all.iter().filter_map(Link::path).filter(|path| root.join(path).is_file() && !is_page(path)) {
        copy_bytes(root, staged.path(), &file)?;
    }

    let mut config: Config = include_str!("../book.toml").parse()?;
    config.build.build_dir = out.to_owned();
    MDBook::load_with_config(staged.path(), config)?.build()?;
    let broken = links::broken(&all, out)?;
    if !broken.is_empty() {
        bail!("{}\n{} broken links", broken.join("\n"), broken.len());
    }
    eprintln!("{} pages, {} links: {}", pages.len(), all.len(), out.join("index.html").display());
    Ok(())
}

/// Fails if a page of `docs/` is no chapter.
fn check_complete(root: &Path, pages: &[PathBuf]) -> Result<()> {
    let mut folders = vec![PathBuf::from(DOCS)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder))? {
            let path = folder.join(entry?.file_name());
            if root.join(&path).is_dir() {
                folders.push(path);
            } else if is_page(&path) && !path.ends_with(SUMMARY) && !pages.contains(&path) {
                bail!("{} is not in docs/SUMMARY.md", path.display());
            }
        }
    }
    Ok(())
}

/// Returns the table of contents with paths from the root of the repository.
fn from_root(summary: &str, chapters: &[Link]) -> String {
    chapters.iter().fold(summary.to_owned(), |text, link| match link.path() {
        Some(path) => text.replace(&format!("]({})", link.target), &format!("]({})", path.display())),
        None => text,
    })
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

fn copy(root: &Path, to: &Path, page: &Path) -> Result<String> {
    copy_bytes(root, to, page)?;
    Ok(fs::read_to_string(root.join(page))?)
}

fn copy_bytes(root: &Path, to: &Path, file: &Path) -> Result<()> {
    let target = to.join(file);
    fs::create_dir_all(target.parent().unwrap_or(to))?;
    fs::copy(root.join(file), target).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(())
}
