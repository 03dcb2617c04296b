//! Bytes that are written once and read often, in memory or in a temporary file.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use dropforge_base::diagnostics::{Code, Diagnostic, Result};

/// Maximum number of bytes in memory.
const IN_MEMORY: usize = 1 << 20;

/// A list of bytes that grows at its end. Most of a long one lies in a temporary file without a name, in the directory
/// that `TMPDIR` names.
#[derive(Debug, Default)]
pub struct Scratch {
    file: Option<File>,
    /// The number of bytes in the file.
    written: u64,
    /// The bytes after those in the file.
    end: Vec<u8>,
}

impl Scratch {
    /// Appends bytes.
    ///
    /// # Errors
    /// `file.write_failed` if the temporary file cannot be written.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.end.extend_from_slice(bytes);
        if self.end.len() < IN_MEMORY { Ok(()) } else { self.flush().map_err(|error| failed(Code::WriteFailed, error)) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.write_all(&self.end)?;
        self.written += self.end.len() as u64;
        self.end.clear();
        Ok(())
    }

    /// Returns the number of bytes.
    pub(crate) fn len(&self) -> u64 {
        self.written + self.end.len() as u64
    }

    /// Passes all bytes to `write`, part by part.
    ///
    /// # Errors
    /// Same as [`Scratch::read`]; errors of `write`.
    pub(crate) fn each_part(&self, write: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (mut at, mut part) = (0, vec![0; 1 << 16]);
        while at < self.len() {
            let count = (self.len() - at).min(part.len() as u64);
            part.truncate(usize::try_from(count).unwrap_or(usize::MAX));
            self.read(at, &mut part)?;
            write(&part)?;
            at += count;
        }
        Ok(())
    }

    /// Fills `to` with the bytes from `at` on.
    ///
    /// # Errors
    /// `file.read_failed` if the temporary file cannot be read, or if there are too few bytes.
    pub fn read(&self, at: u64, to: &mut [u8]) -> Result<()> {
        self.read_parts(at, to).map_err(|error| failed(Code::ReadFailed, error))
    }

    fn read_parts(&self, at: u64, to: &mut [u8]) -> io::Result<()> {
        let in_file = usize::try_from(self.written.saturating_sub(at)).unwrap_or(usize::MAX).min(to.len());
        let (head, tail) = to.split_at_mut(in_file);
        if let Some(file) = self.file.as_ref().filter(|_| !head.is_empty()) {
            file.read_exact_at(head, at)?;
        }
        let start = usize::try_from(at.saturating_sub(self.written)).unwrap_or(usize::MAX);
        let end = self.end.get(start..).and_then(|rest| rest.get(..tail.len()));
        tail.copy_from_slice(end.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

fn failed(code: Code, error: io::Error) -> Box<Diagnostic> {
    let verb = if code == Code::WriteFailed { "write" } else { "read" };
    let message = format!("cannot {verb} a temporary file in `{}`: {error}", std::env::temp_dir().display());
    Diagnostic::new(code, message).with_help("name a directory with free space in `TMPDIR`").caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_from_memory_and_from_the_file() {
        let mut scratch = Scratch::default();
        let all: Vec<u8> = (0..3 * IN_MEMORY + 7).map(|at| (at % 251) as u8).collect();
        all.chunks(1_000).for_each(|part| scratch.push(part).unwrap());
        assert!(scratch.file.is_some() && !scratch.end.is_empty() && scratch.end.len() < IN_MEMORY);
        assert_eq!(scratch.len(), all.len() as u64);
        let border = usize::try_from(scratch.written).unwrap();
        for range in
            [0..0, 0..9, 5..IN_MEMORY, border - 3..border + 3, border..border + 1, border..all.len(), 0..all.len()]
        {
            let mut read = vec![0; range.len()];
            scratch.read(range.start as u64, &mut read).unwrap();
            assert!(read == all[range.clone()], "{range:?}");
        }
        let mut read = Vec::new();
        scratch
            .each_part(&mut |part| {
                read.extend_from_slice(part);
                Ok(())
            })
            .unwrap();
        assert!(read == all);
        assert_eq!(scratch.read(scratch.len() - 1, &mut [0; 2]).unwrap_err().code, Code::ReadFailed);
        assert_eq!(scratch.read(scratch.len() + 9, &mut [0; 1]).unwrap_err().code, Code::ReadFailed);
        scratch.read(scratch.len(), &mut []).unwrap();
    }
}
