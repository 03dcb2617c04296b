//! Standard input as a thread reads it, so that a signal ends a run that waits for more.

use std::io::{self, Cursor, ErrorKind, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

/// The number of bytes that are read at once.
const CHUNK: usize = 1 << 16;
/// Chunks that wait for their reader.
const WAITING: usize = 16;
/// The time after which a read without bytes is interrupted.
const PAUSE: Duration = Duration::from_millis(100);

/// A reader that never waits for long: it fails with [`ErrorKind::Interrupted`] instead.
pub(crate) struct Pipe {
    chunks: Receiver<io::Result<Vec<u8>>>,
    rest: Cursor<Vec<u8>>,
}

impl Pipe {
    /// Starts to read `input`.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(mut input: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, chunks) = sync_channel(WAITING);
        let read = move || {
            let mut next = || {
                let mut chunk = vec![0; CHUNK];
                let read = input.by_ref().read(&mut chunk)?;
                chunk.truncate(read);
                Ok(chunk)
            };
            loop {
                let chunk = next();
                let is_last = chunk
                    .as_ref()
                    .map_or_else(|error: &io::Error| error.kind() != ErrorKind::Interrupted, Vec::is_empty);
                if sender.send(chunk).is_err() || is_last {
                    break;
                }
            }
        };
        thread::Builder::new().name("stdin".to_owned()).spawn(read)?;
        Ok(Self { chunks, rest: Cursor::default() })
    }
}

impl Read for Pipe {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.rest.position() == self.rest.get_ref().len() as u64 {
            self.rest = match self.chunks.recv_timeout(PAUSE) {
                Ok(chunk) => Cursor::new(chunk?),
                Err(RecvTimeoutError::Timeout) => return Err(ErrorKind::Interrupted.into()),
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            };
        }
        self.rest.read(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_arrive() {
        let text: Vec<u8> = (0..CHUNK * 40 + 7).map(|at| (at % 251) as u8).collect();
        let mut found = Vec::new();
        Pipe::start(Cursor::new(text.clone())).unwrap().read_to_end(&mut found).unwrap();
        assert!(found == text);
        let mut empty = Pipe::start(io::empty()).unwrap();
        assert_eq!(empty.read(&mut [0; 8]).unwrap(), 0);
        assert_eq!(empty.read(&mut [0; 8]).unwrap(), 0);
    }

    #[test]
    fn a_wait_is_interrupted() {
        let (reader, writer) = io::pipe().unwrap();
        let mut pipe = Pipe::start(reader).unwrap();
        assert_eq!(pipe.read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::Interrupted);
        drop(writer);
        while pipe.read(&mut [0; 8]).is_err() {}
    }
}
