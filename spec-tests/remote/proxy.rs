//! A proxy with faults, between a client and a server.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A fault of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Pass the request and the response on.
    None,
    /// Answer 503 without passing the request on.
    Busy,
    /// Pass the request on, and answer 500.
    BusyAfter,
    /// Close the connection without passing the request on.
    Reset,
    /// Pass the request on, and close the connection.
    ResetAfter,
    /// Pass the request on, and answer nothing for a long time.
    Hang,
    /// Pass the response on byte by byte.
    Slow,
    /// Pass on only the first half of the response.
    Cut,
}

impl Fault {
    pub const ALL: [Fault; 8] = [
        Fault::None,
        Fault::Busy,
        Fault::BusyAfter,
        Fault::Reset,
        Fault::ResetAfter,
        Fault::Hang,
        Fault::Slow,
        Fault::Cut,
    ];
}

/// The time for which a request hangs. Clients have to give up earlier.
pub const HANG: Duration = Duration::from_millis(1_500);

/// A proxy on a port of its own. It ends with this value.
pub struct Proxy {
    pub address: SocketAddr,
    end: Arc<AtomicBool>,
    /// The number of requests by fault, in the order of [`Fault::ALL`].
    pub faults: Arc<[AtomicUsize; 8]>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.end.store(true, Ordering::SeqCst);
        // Wakes the thread.
        let _ = TcpStream::connect(self.address);
    }
}

impl Proxy {
    /// Passes requests on to `server`. `fault` gets the number of the request and its first line.
    pub fn start(server: SocketAddr, fault: impl Fn(usize, &str) -> Fault + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let (end, faults) = (Arc::new(AtomicBool::new(false)), Arc::new(<[AtomicUsize; 8]>::default()));
        let (stop, counts, fault, number) =
            (end.clone(), faults.clone(), Arc::new(fault), Arc::new(AtomicUsize::new(0)));
        let puts = Arc::new(Mutex::new(()));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let (counts, fault, number, puts) = (counts.clone(), fault.clone(), number.clone(), puts.clone());
                thread::spawn(move || {
                    let choose = |line: &str| {
                        let chosen = fault(number.fetch_add(1, Ordering::SeqCst), line);
                        let at = Fault::ALL.iter().position(|one| *one == chosen).unwrap_or(0);
                        counts[at].fetch_add(1, Ordering::SeqCst);
                        chosen
                    };
                    // A client that goes away is no error of the proxy.
                    let _ = serve(client, server, &puts, choose);
                });
            }
        });
        Self { address, end, faults }
    }

    /// Returns how many requests had a fault.
    pub fn faulty(&self) -> usize {
        self.faults.iter().skip(1).map(|count| count.load(Ordering::SeqCst)).sum()
    }
}

/// Sends a request and returns the response.
fn exchange(server: SocketAddr, request: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut upstream = TcpStream::connect(server)?;
    upstream.write_all(request)?;
    let mut response = Vec::new();
    upstream.read_to_end(&mut response)?;
    Ok(response)
}

/// Serves one request. The connection is closed after it.
fn serve(
    mut client: TcpStream,
    server: SocketAddr,
    puts: &Mutex<()>,
    choose: impl Fn(&str) -> Fault,
) -> std::io::Result<()> {
    client.set_read_timeout(Some(Duration::from_secs(20)))?;
    let Some(request) = read_request(&mut client)? else { return Ok(()) };
    let line = String::from_utf8_lossy(request.split(|byte| *byte == b'\r').next().unwrap_or_default()).into_owned();
    let fault = choose(&line);
    match fault {
        Fault::Busy => return answer(&mut client, "503 Slow Down"),
        Fault::Reset => return client.shutdown(Shutdown::Both),
        _ => {}
    }
    let response = {
        // moto checks the condition of a put and then writes, in two steps. Stores do both at once, which matters for locks
        // and manifests. (Other puts that waited here would arrive after the end of a run that was killed.)
        let _one = (line.starts_with("PUT") && line.contains("/.dropforge")).then(|| puts.lock());
        exchange(server, &request)?
    };
    match fault {
        Fault::BusyAfter => answer(&mut client, "500 Internal Server Error"),
        Fault::ResetAfter => client.shutdown(Shutdown::Both),
        Fault::Hang => {
            thread::sleep(HANG);
            client.shutdown(Shutdown::Both)
        }
        Fault::Slow => response.chunks(response.len() / 40 + 1).try_for_each(|piece| {
            thread::sleep(Duration::from_millis(2));
            client.write_all(piece)
        }),
        Fault::Cut => client.write_all(&response[..response.len() / 2]),
        _ => client.write_all(&response),
    }
}

fn answer(client: &mut TcpStream, status: &str) -> std::io::Result<()> {
    write!(client, "HTTP/1.1 {status}\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy")
}

/// Reads a request with its body, which has a length. The server is asked to close the connection.
pub fn read_request(client: &mut TcpStream) -> std::io::Result<Option<Vec<u8>>> {
    let (mut bytes, mut piece) = (Vec::new(), [0; 16 << 10]);
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
        match client.read(&mut piece)? {
            0 => return Ok(None),
            read => bytes.extend_from_slice(&piece[..read]),
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let header = |name: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned()).next()
    };
    let length = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while bytes.len() < head + length {
        match client.read(&mut piece)? {
            0 => return Ok(None),
            read => bytes.extend_from_slice(&piece[..read]),
        }
    }
    let kept = text.lines().filter(|line| !line.is_empty() && !line.to_ascii_lowercase().starts_with("connection:"));
    let mut request: String = kept.map(|line| format!("{line}\r\n")).collect();
    request.push_str("Connection: close\r\n\r\n");
    Ok(Some([request.as_bytes(), &bytes[head..head + length]].concat()))
}
