//! Decrypting files with the user's `sops`. It is started only if the user allows it, without a shell.

use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use dropforge::bulk::Format;
use dropforge::bulk::input::{Place, documents, encrypted_at};
use dropforge::diagnostics::{Code, Diagnostic, Result};
use dropforge::text::{Source, Span};
use humansize::{BINARY, format_size};

use super::contents::local;
use super::{InputFiles, is_dash, is_pipe, is_url};

/// The program. It is looked for on `PATH`.
const PROGRAM: &str = "sops";
/// The time that it may take, as it may ask a key service.
const TIME: Duration = Duration::from_secs(60);
/// The pause between two looks at a running program.
const PAUSE: Duration = Duration::from_millis(5);
/// Maximum number of bytes of its messages.
const MESSAGES: u64 = 4 << 10;

/// The files that were decrypted.
#[derive(Debug, Default)]
pub(super) struct Decrypted {
    /// The user allows to start the program.
    is_allowed: bool,
    /// The texts by path. A file that did not change is decrypted once.
    known: HashMap<PathBuf, Known>,
}

/// A file that was decrypted.
#[derive(Debug)]
struct Known {
    encrypted: Arc<Source>,
    text: Arc<Source>,
    format: Format,
}

impl InputFiles {
    /// Starts `sops` for encrypted files from now on, or refuses them.
    pub(crate) fn allow_sops(&mut self, is_allowed: bool) {
        self.decrypted.is_allowed = is_allowed;
    }

    /// Reads a file of values that `option` names. One that SOPS encrypted is decrypted if the user allows it.
    ///
    /// # Errors
    /// Errors of [`InputFiles::read`]; `input.encrypted`.
    pub(crate) fn values(&mut self, path: &Path, option: &'static str) -> Result<Arc<Source>> {
        let source = self.read(path, option)?;
        let format = values_format(source.name());
        self.decrypted(path, &source, format).map(|decrypted| decrypted.unwrap_or(source))
    }

    /// Returns the decrypted text of a file, or `None` if it is not encrypted.
    ///
    /// # Errors
    /// `input.encrypted` if the user does not allow to start the program, or if it fails.
    pub(super) fn decrypted(
        &mut self,
        path: &Path,
        source: &Arc<Source>,
        format: Format,
    ) -> Result<Option<Arc<Source>>> {
        let Some(at) = encrypted_at(source, format) else { return Ok(None) };
        let known = self.decrypted.known.get(path).filter(|known| known.encrypted.text() == source.text());
        if let Some(known) = known {
            return Ok(Some(known.text.clone()));
        }
        let is_file = !is_dash(path) && !is_pipe(path) && !is_url(path);
        if !self.decrypted.is_allowed || !is_file {
            // The reader of values refuses it, at its place.
            return documents(source, format).map(|_| None);
        }
        let failed = |message: String| {
            Diagnostic::new(Code::EncryptedInput, message).at(source, Span::of(at.clone()), "encrypted with SOPS")
        };
        let bytes = decrypt(&local(path), format, self.max_bytes, &failed)?;
        let text = String::from_utf8(bytes)
            .map_err(|_| failed(format!("`{PROGRAM}` printed a text for `{}` that is not UTF-8", path.display())))?;
        let text = Source::secret(source.name().to_owned(), text);
        if documents(&text, format).is_err() {
            // Its error would show a part of the text.
            let message = format!("`{PROGRAM}` printed a text for `{}` that cannot be parsed", path.display());
            return Err(failed(message));
        }
        self.decrypted.known.insert(path.to_owned(), Known { encrypted: source.clone(), text: text.clone(), format });
        Ok(Some(text))
    }

    /// Returns the places of all decrypted files.
    pub(crate) fn decrypted_places(&self) -> Vec<Place> {
        self.decrypted.known.values().map(|known| Place::file(&known.text, known.format)).collect()
    }

    /// Works like [`InputFiles::read_regular`] for a file of values.
    ///
    /// # Errors
    /// Same as [`InputFiles::values`].
    pub(crate) fn regular_values(&mut self, path: &Path) -> Result<Arc<Source>> {
        let source = self.read_regular(path)?;
        let format = values_format(source.name());
        self.decrypted(path, &source, format).map(|decrypted| decrypted.unwrap_or(source))
    }
}

/// Returns the format of a file of values by its name: YAML, of which JSON is a part, unless the name says otherwise.
pub(crate) fn values_format(name: &str) -> Format {
    match Format::of_name(name) {
        Some(format @ (Format::Json | Format::Hcl | Format::Toml | Format::Env)) => format,
        _ => Format::Yaml,
    }
}

/// Decrypts a file of at most `max` bytes.
fn decrypt(path: &Path, format: Format, max: u64, failed: &dyn Fn(String) -> Box<Diagnostic>) -> Result<Vec<u8>> {
    let name = path.display();
    let mut command = Command::new(PROGRAM);
    command.arg("-d");
    if let Some(format) = type_of(path, format) {
        command.args(["--input-type", format, "--output-type", format]);
    }
    // A path that begins with a dash is no option.
    command.arg(if path.has_root() { path.to_owned() } else { Path::new(".").join(path) });
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => failed(format!("cannot decrypt `{name}`: there is no `{PROGRAM}` on `PATH`"))
            .with_help("install SOPS: https://getsops.io"),
        _ => failed(format!("cannot start `{PROGRAM}` for `{name}`: {error}")),
    })?;
    let done = finish(child, max).map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => failed(format!("`{PROGRAM}` took more than {} s for `{name}`", TIME.as_secs())),
        io::ErrorKind::FileTooLarge => {
            failed(format!("`{PROGRAM}` printed more than {} for `{name}`", format_size(max, BINARY)))
                .with_help("raise the limit with `--max-input SIZE`")
        }
        _ => failed(format!("cannot read what `{PROGRAM}` prints for `{name}`: {error}")),
    })?;
    if done.status.success() {
        return Ok(done.output);
    }
    let messages = String::from_utf8_lossy(&done.messages);
    let error = failed(format!("`{PROGRAM}` cannot decrypt `{name}`: {}", done.status));
    Err(match messages.trim() {
        "" => error,
        messages => error.with_note(format!("{PROGRAM}: {messages}")),
    })
}

/// Returns the type of a file for `sops`, if it does not follow from the name.
fn type_of(path: &Path, format: Format) -> Option<&'static str> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    match (extension, format) {
        ("yaml" | "yml" | "json" | "env", _) => None,
        (_, Format::Json) => Some("json"),
        (_, Format::Env) => Some("dotenv"),
        _ => Some("yaml"),
    }
}

/// What a program left.
struct Done {
    status: ExitStatus,
    output: Vec<u8>,
    messages: Vec<u8>,
}

/// Waits for a program, and reads at most `max` bytes of its output.
fn finish(mut child: Child, max: u64) -> io::Result<Done> {
    let until = Instant::now() + TIME;
    let (output, messages) = (read(child.stdout.take(), max.saturating_add(1)), read(child.stderr.take(), MESSAGES));
    let output = received(&output, until).and_then(|output| match output.len() as u64 > max {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(output),
    });
    let done = output.and_then(|output| Ok((output, ended(&mut child, until)?)));
    let (output, status) = done.inspect_err(|_| {
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    })?;
    Ok(Done { status, output, messages: received(&messages, until)? })
}

/// Reads the beginning of a stream in a thread of its own.
fn read(stream: Option<impl Read + Send + 'static>, max: u64) -> Receiver<io::Result<Vec<u8>>> {
    let (to, from) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stream.map_or(Ok(0), |stream| stream.take(max).read_to_end(&mut bytes));
        // The reader may be gone.
        let _ = to.send(read.map(|_| bytes));
    });
    from
}

fn received(from: &Receiver<io::Result<Vec<u8>>>, until: Instant) -> io::Result<Vec<u8>> {
    match from.recv_timeout(until.saturating_duration_since(Instant::now())) {
        Ok(read) => read,
        Err(RecvTimeoutError::Timeout) => Err(io::ErrorKind::TimedOut.into()),
        Err(RecvTimeoutError::Disconnected) => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

fn ended(child: &mut Child, until: Instant) -> io::Result<ExitStatus> {
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(status),
            None if Instant::now() >= until => return Err(io::ErrorKind::TimedOut.into()),
            None => thread::sleep(PAUSE),
        }
    }
}
