//! The connection to the client: messages on standard input and output. What is no message is answered with an error of the
//! protocol, and the next message is read.

use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use humansize::{BINARY, format_size};
use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};

/// Maximum size of a message, and of a line of its header.
const MAX_MESSAGE: u64 = 64 << 20;
const MAX_LINE: u64 = 4096;

/// The header with the size of a message.
const LENGTH: &str = "content-length";

/// Connects to the client. Something is received when all messages of the server are written, after the connection was
/// dropped.
pub(super) fn connect() -> (Connection, Receiver<()>) {
    let (server, client) = Connection::memory();
    let Connection { sender, receiver } = client;
    let (is_written, written) = mpsc::channel();
    thread::spawn(move || {
        // A client that is gone receives nothing.
        let _gone = receiver.into_iter().try_for_each(|message| message.write(&mut io::stdout().lock()));
        let _ = is_written.send(());
    });
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(read)) = read(&mut input) {
            let is_exit = matches!(&read, Ok(Message::Notification(one)) if one.method == "exit");
            let passed = match read {
                Ok(message) => sender.send(message).is_ok(),
                Err(unreadable) => {
                    let answered = unreadable.answer(&mut io::stdout().lock());
                    answered.and_then(|()| skip(&mut input, unreadable.rest)).is_ok()
                }
            };
            if is_exit || !passed {
                return;
            }
        }
    });
    (server, written)
}

/// Something in place of a message.
#[derive(Debug)]
struct Unreadable {
    code: ErrorCode,
    id: Value,
    why: String,
    /// The number of bytes after the header that were not read.
    rest: u64,
}

impl Unreadable {
    fn new(code: ErrorCode, why: impl Into<String>) -> Self {
        Self { code, id: Value::Null, why: why.into(), rest: 0 }
    }

    /// Writes the error of the protocol.
    fn answer(&self, to: &mut dyn Write) -> io::Result<()> {
        let error = json!({"code": self.code as i32, "message": self.why});
        let text = json!({"jsonrpc": "2.0", "id": self.id, "error": error}).to_string();
        write!(to, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        to.flush()
    }
}

/// Reads a message. `None` at the end of the input.
fn read(input: &mut dyn BufRead) -> io::Result<Option<Result<Message, Unreadable>>> {
    loop {
        let length = match read_header(input)? {
            None => return Ok(None),
            Some(Err(unreadable)) => return Ok(Some(Err(unreadable))),
            Some(Ok(length)) => length,
        };
        if length > MAX_MESSAGE {
            let why = format!("the message has {length} bytes: the limit is {}", format_size(MAX_MESSAGE, BINARY));
            let unreadable = Unreadable::new(ErrorCode::InvalidRequest, why);
            return Ok(Some(Err(Unreadable { rest: length, ..unreadable })));
        }
        let mut body = Vec::new();
        if (&mut *input).take(length).read_to_end(&mut body)? as u64 != length {
            return Ok(None);
        }
        if let Some(read) = parsed(&body).transpose() {
            return Ok(Some(read));
        }
    }
}

/// Reads a header up to its empty line. Returns the size of the message. A line that belongs to no header is skipped.
fn read_header(input: &mut dyn BufRead) -> io::Result<Option<Result<u64, Unreadable>>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if (&mut *input).take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        let unreadable = |why: &str| Ok(Some(Err(Unreadable::new(ErrorCode::ParseError, why))));
        match (line.split_once(':'), length) {
            (Some((name, value)), _) if name.eq_ignore_ascii_case(LENGTH) => match value.trim().parse::<u64>() {
                Ok(bytes) => length = Some(bytes),
                Err(_) => return unreadable("`Content-Length` is not a number"),
            },
            (Some(_), _) => {}
            (None, Some(length)) if line.is_empty() => return Ok(Some(Ok(length))),
            (None, None) if line.is_empty() => return unreadable("the header has no `Content-Length`"),
            (None, _) => return unreadable("expected a header with `Content-Length`"),
        }
    }
}

/// Skips the content of a message, unless the next message begins in its place: then there is none.
fn skip(input: &mut dyn BufRead, length: u64) -> io::Result<()> {
    if length == 0 {
        return Ok(());
    }
    let next = input.fill_buf()?;
    if next.get(..LENGTH.len()).is_some_and(|start| start.eq_ignore_ascii_case(LENGTH.as_bytes())) {
        return Ok(());
    }
    io::copy(&mut input.take(length), &mut io::sink()).map(drop)
}

/// Parses a message. Answers are ignored if they have no ID that was given.
fn parsed(body: &[u8]) -> Result<Option<Message>, Unreadable> {
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| Unreadable::new(ErrorCode::ParseError, format!("the message is not JSON: {error}")))?;
    let id = value.get("id").filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or_default();
    let is_answer = value.get("method").is_none() && (value.get("error").is_some() || value.get("result").is_some());
    match serde_json::from_value(value) {
        Ok(message) => Ok(Some(message)),
        Err(_) if is_answer => Ok(None),
        Err(_) => {
            let why = "the message is neither a request nor a notification".to_owned();
            Err(Unreadable { code: ErrorCode::InvalidRequest, id, why, rest: 0 })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the codes of errors and the methods of messages that are read from an input.
    fn all(mut input: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        while let Some(one) = read(&mut input).unwrap() {
            found.push(match one {
                Ok(Message::Request(request)) => request.method,
                Ok(Message::Notification(one)) => one.method,
                Ok(Message::Response(_)) => "response".to_owned(),
                Err(unreadable) => {
                    skip(&mut input, unreadable.rest).unwrap();
                    format!("{} {}", unreadable.code as i32, unreadable.id)
                }
            });
        }
        found
    }

    fn message(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn every_message_after_an_unreadable_one_is_read() {
        let next = message(r#"{"method": "next"}"#);
        for (bad, code) in [
            (message("{bad"), "-32700 null"),
            (message("\u{fffd}").replace('\u{fffd}', "a\u{1}b"), "-32700 null"),
            (message("[]"), "-32600 null"),
            (message("5"), "-32600 null"),
            (message(r#"{"id": 7, "method": 5}"#), "-32600 7"),
            (message(&"[".repeat(100_000)), "-32700 null"),
            ("hello\r\n".to_owned(), "-32700 null"),
            ("\r\n".to_owned(), "-32700 null"),
            ("Content-Length: many\r\n".to_owned(), "-32700 null"),
            ("Content-Type: x\r\n\r\n".to_owned(), "-32700 null"),
            ("Content-Length: 1000000000\r\n\r\n".to_owned(), "-32600 null"),
            ("Content-Length: 18446744073709551615\r\n\r\n".to_owned(), "-32600 null"),
        ] {
            assert_eq!(all((bad.clone() + &next + &next).as_bytes()), [code, "next", "next"], "{bad:.40}");
        }
        let long = format!("Content-Length: {}\r\n\r\n{}", MAX_MESSAGE + 1, "x".repeat(MAX_MESSAGE as usize + 1));
        assert_eq!(all((long + &next).as_bytes()), ["-32600 null", "next"]);
        let answers =
            message(r#"{"id": null, "error": {"code": 1, "message": "m"}}"#) + &message(r#"{"id": 1, "result": 5}"#);
        assert_eq!(
            all((answers + "content-type: x\ncontent-length: 14\n\n{\"method\":\"x\"}").as_bytes()),
            ["response", "x"]
        );
        assert_eq!(all(b"Content-Length: 50\r\n\r\n{\"method\": \"cut\""), Vec::<String>::new());
    }
}
