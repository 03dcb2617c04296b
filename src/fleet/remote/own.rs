//! Dropforge's own objects below a prefix: the state, and the record of an unfinished run.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::sync::Mutex;

use crate::lock;
use crate::output_files::{Change, WriteParts, same_content};
use crate::state::{OwnFiles, is_of_state};
use dropforge_base::diagnostics::{Code, Diagnostic, Result};
use dropforge_remote::{Condition, Guard, Revision, Store, UploadOptions, fetch_version, upload_file};

/// Own objects, as they were read or written last.
pub(crate) struct OwnObjects {
    store: Store,
    guard: Option<Guard>,
    known: Mutex<HashMap<String, Own>>,
}

/// An object, with its content in a temporary file, or none.
type Own = Option<(Revision, File)>;

/// Maximum length of an own object.
const MAX: u64 = 1 << 40;

/// Objects up to this length are put at once, so that the store checks the condition.
const WHOLE: u64 = 64 << 20;

impl OwnObjects {
    pub fn new(store: &Store, guard: Option<Guard>) -> Self {
        Self { store: store.clone(), guard, known: Mutex::default() }
    }

    fn fetch(&self, name: &str) -> Result<Own> {
        let Some(info) = self.store.head(name)? else { return Ok(None) };
        let mut file = tempfile::tempfile().map_err(failed)?;
        fetch_version(&self.store, &info, MAX, &mut file)?;
        Ok(Some((info.revision, file)))
    }
}

impl OwnFiles for OwnObjects {
    fn has_one_file(&self) -> bool {
        true
    }

    /// Opens an object as it was at the first call, or as it was written since.
    fn open_own(&self, name: &str) -> Result<Option<File>> {
        let mut known = lock(&self.known);
        let own = match known.get(name) {
            Some(own) => own,
            None => known.entry(name.to_owned()).or_insert(self.fetch(name)?),
        };
        own.as_ref().map(|(_, file)| start_of(file)).transpose()
    }

    /// Replaces an object, unless it has this content. One of the state has to be as [`OwnFiles::open_own`] found it, so that
    /// no run undoes what another one has written.
    ///
    /// # Errors
    /// `store.changed`; `store.lock_lost`; errors of the store, of the temporary file and of `write`.
    fn write_own(&self, name: &str, _: bool, write: WriteParts<'_>) -> Result<Change> {
        let mut file = tempfile::tempfile().map_err(failed)?;
        write(&mut |part| file.write_all(part).map_err(failed))?;
        let old = self.open_own(name)?;
        let change = if old.is_some() { Change::Update } else { Change::Create };
        if let Some(old) = old
            && same_content(start_of(&file)?, old).map_err(failed)?
        {
            return Ok(Change::Unchanged);
        }
        let mut known = lock(&self.known);
        let condition = match known.get(name) {
            _ if !is_of_state(name) => Condition::Always,
            Some(Some((revision, _))) => Condition::Match(revision.clone()),
            _ => Condition::Absent,
        };
        let options = UploadOptions { whole: WHOLE, guard: self.guard.clone(), ..UploadOptions::default() };
        let put = |condition| upload_file(&self.store, name, &file, condition, &options);
        let revision = match put(condition) {
            // Without a lock the user vouches for it that nobody else writes.
            Err(error) if error.code == Code::NoConditions && self.guard.is_none() => put(Condition::Always)?,
            result => result?,
        };
        known.insert(name.to_owned(), Some((revision, file)));
        Ok(change)
    }

    fn each_own(&self, directory: &str, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        self.store.list(directory)?.try_for_each(|object| each(&object?.key))
    }

    /// Removes an object.
    ///
    /// # Errors
    /// `store.lock_lost`; errors of the store.
    fn remove_own(&self, name: &str) -> Result<()> {
        if let Some(guard) = self.guard.as_ref().filter(|guard| !guard.is_held()) {
            return Err(guard.lost());
        }
        self.store.delete(name)?;
        lock(&self.known).insert(name.to_owned(), None);
        Ok(())
    }
}

/// Returns the same file, from its start.
fn start_of(mut file: &File) -> Result<File> {
    file.rewind().and_then(|()| file.try_clone()).map_err(failed)
}

/// Returns the error of a temporary file.
pub(super) fn failed(error: io::Error) -> Box<Diagnostic> {
    let message = format!("cannot write a temporary file in `{}`: {error}", std::env::temp_dir().display());
    Diagnostic::new(Code::WriteFailed, message)
        .with_help("name a directory with free space in `TMPDIR`")
        .caused_by(error)
}
