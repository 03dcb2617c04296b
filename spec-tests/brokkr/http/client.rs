//! A minimal client that can send invalid requests and shows the exact response.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value as Json;

/// Longer than any response takes, so that a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A response.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Json {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.text()))
    }

    /// The code of an error.
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_else(|| panic!("no code: {}", self.text())).to_owned()
    }

    /// Checks the status and code of an error.
    #[track_caller]
    pub fn is(&self, status: u16, code: &str) -> &Self {
        assert_eq!((self.status, self.code().as_str()), (status, code), "{}", self.text());
        self
    }

    #[track_caller]
    pub fn has(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }
}

/// Opens a connection.
pub fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends bytes and reads one response.
pub fn exchange(address: SocketAddr, bytes: &[u8]) -> Reply {
    let mut stream = connect(address);
    // A server that rejects a body early still sends a response.
    let _ = stream.write_all(bytes);
    read(&mut stream).expect("an answer")
}

/// Reads one response. Returns `None` if the connection ends before it begins.
pub fn read(stream: &mut TcpStream) -> Option<Reply> {
    let mut input = Input { stream, bytes: Vec::new() };
    let head = input.until(b"\r\n\r\n")?;
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.split("\r\n").filter(|line| !line.is_empty());
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<_> = lines
        .map(|line| line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned())).unwrap())
        .collect();
    let mut reply = Reply { status, headers, body: Vec::new() };
    reply.body = input.body(&reply);
    Some(reply)
}

struct Input<'a> {
    stream: &'a mut TcpStream,
    bytes: Vec<u8>,
}

impl Input<'_> {
    /// Reads more bytes. Returns `None` at the end.
    fn more(&mut self) -> Option<()> {
        let mut chunk = [0; 16 << 10];
        match self.stream.read(&mut chunk) {
            Ok(0) => None,
            Ok(read) => {
                self.bytes.extend_from_slice(&chunk[..read]);
                Some(())
            }
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("no answer: {error}"),
        }
    }

    /// Returns everything up to and including `mark`.
    fn until(&mut self, mark: &[u8]) -> Option<Vec<u8>> {
        loop {
            if let Some(at) = self.bytes.windows(mark.len()).position(|window| window == mark) {
                return Some(self.bytes.drain(..at + mark.len()).collect());
            }
            self.more()?;
        }
    }

    fn exactly(&mut self, length: usize) -> Vec<u8> {
        while self.bytes.len() < length {
            self.more().expect("the whole body");
        }
        self.bytes.drain(..length).collect()
    }

    fn body(&mut self, reply: &Reply) -> Vec<u8> {
        if reply.status == 204 || reply.status == 304 {
            return Vec::new();
        }
        if let Some(length) = reply.header("content-length") {
            return self.exactly(length.parse().unwrap());
        }
        assert_eq!(reply.header("transfer-encoding"), Some("chunked"), "{reply:?}");
        let mut body = Vec::new();
        loop {
            let line = self.until(b"\r\n").expect("a chunk");
            let length = usize::from_str_radix(std::str::from_utf8(&line).unwrap().trim(), 16).unwrap();
            let chunk = self.exactly(length + 2);
            if length == 0 {
                return body;
            }
            body.extend_from_slice(&chunk[..length]);
        }
    }
}
