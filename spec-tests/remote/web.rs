//! A web server of a test.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::proxy::read_request;

/// A request.
pub struct Request {
    /// The first line and the headers.
    pub head: String,
}

impl Request {
    /// Returns the path without a query.
    pub fn path(&self) -> &str {
        let target = self.head.split(' ').nth(1).unwrap_or("");
        target.split('?').next().unwrap_or(target)
    }
}

/// An answer.
#[derive(Clone)]
pub struct Answer {
    status: String,
    headers: String,
    body: Vec<u8>,
    /// The length in the head, if it is another one.
    promised: Option<usize>,
    is_raw: bool,
}

impl Answer {
    pub fn ok(body: Vec<u8>) -> Self {
        Self { status: "200 OK".to_owned(), headers: String::new(), body, promised: None, is_raw: false }
    }

    pub fn status(status: &str, body: &str) -> Self {
        Self { status: status.to_owned(), ..Self::ok(body.as_bytes().to_vec()) }
    }

    /// Returns an answer that may be no HTTP.
    pub fn raw(body: Vec<u8>) -> Self {
        Self { is_raw: true, ..Self::ok(body) }
    }

    /// Returns an answer whose head has another length.
    pub fn promising(self, length: usize) -> Self {
        Self { promised: Some(length), ..self }
    }

    pub fn header(self, line: &str) -> Self {
        Self { headers: format!("{}{line}\r\n", self.headers), ..self }
    }

    fn send(&self, stream: &mut TcpStream) {
        if !self.is_raw {
            let length = self.promised.unwrap_or(self.body.len());
            let (status, headers) = (&self.status, &self.headers);
            let _ =
                write!(stream, "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n");
        }
        let _ = stream.write_all(&self.body);
        let _ = stream.shutdown(Shutdown::Write);
    }
}

/// A running server. It ends with this value.
pub struct Web {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    ends: Arc<AtomicBool>,
}

impl Web {
    pub fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (heads, ends) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (answer, seen, end) = (Arc::new(answer), heads.clone(), ends.clone());
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                if end.load(Ordering::SeqCst) {
                    return;
                }
                let (answer, seen) = (answer.clone(), seen.clone());
                thread::spawn(move || {
                    let Ok(Some(bytes)) = read_request(&mut stream) else { return };
                    let head = String::from_utf8_lossy(&bytes).into_owned();
                    seen.lock().expect("heads").push(head.clone());
                    answer(&Request { head }).send(&mut stream);
                });
            }
        });
        Self { address, heads, ends }
    }

    /// Serves files by their paths.
    pub fn files(files: BTreeMap<String, Vec<u8>>) -> Self {
        Self::start(move |request| match files.get(request.path()) {
            Some(bytes) => Answer::ok(bytes.clone()),
            None => Answer::status("404 Not Found", "no such file"),
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the heads of all requests.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().expect("heads").clone()
    }

    /// Forgets the requests so far.
    pub fn forget(&self) {
        self.heads.lock().expect("heads").clear();
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect(self.address);
    }
}
