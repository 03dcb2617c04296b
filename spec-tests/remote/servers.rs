//! Servers that tests start: each in a directory of its own, on a port that the system chooses, ended with the test.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A running server.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
    _dir: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        // `timeout` passes the signal on.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
    }
}

/// Returns the folder of the installed servers.
fn installed() -> PathBuf {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| root.join(dir));
    let servers = target.join("remote-servers");
    assert!(servers.join("installed").is_file(), "no servers: run `spec-tests/remote/install`");
    servers
}

impl Server {
    /// Starts a program, which ends after half an hour at the latest, and waits until it prints a port after `marker`.
    fn start(program: &Path, args: &[&str], envs: &[(&str, &Path)], dir: TempDir, marker: &str) -> Self {
        let log = dir.path().join("log");
        let file = File::create(&log).expect("a log");
        let mut command = Command::new("timeout");
        command
            .args(["--kill-after=1", "1800"])
            .arg(program)
            .args(args)
            .envs(envs.iter().copied())
            .current_dir(dir.path());
        command.stdin(Stdio::null()).stdout(file.try_clone().expect("a log")).stderr(file);
        let mut child = command.spawn().expect("the server starts");
        let began = Instant::now();
        loop {
            let text = fs::read_to_string(&log).unwrap_or_default();
            if let Some(port) = port_behind(&text, marker) {
                return Self { child, address: SocketAddr::from(([127, 0, 0, 1], port)), _dir: dir };
            }
            if began.elapsed() > Duration::from_secs(120) || child.try_wait().is_ok_and(|status| status.is_some()) {
                let _ = child.kill();
                panic!("{} does not listen: {text}", program.display());
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Returns the S3 server of a group of tests, which use different prefixes. It starts with the first of them and ends with
    /// the last one that runs: its start takes as long as many a test.
    pub fn shared_s3(group: &'static str) -> Arc<Self> {
        static RUNNING: Mutex<BTreeMap<&str, Weak<Server>>> = Mutex::new(BTreeMap::new());
        let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(group).and_then(Weak::upgrade).unwrap_or_else(|| {
            let server = Arc::new(Self::s3());
            running.insert(group, Arc::downgrade(&server));
            server
        })
    }

    /// Starts an S3 server with the bucket `fleet`.
    pub fn s3() -> Self {
        let python = installed().join("python");
        let args = ["-m", "moto.server", "-H", "127.0.0.1", "-p", "0"];
        let dir = tempfile::tempdir().expect("a directory");
        let server = Self::start(Path::new("python3"), &args, &[("PYTHONPATH", &python)], dir, "http://127.0.0.1:");
        let head = request(server.address, "PUT /fleet HTTP/1.1\r\nHost: s3\r\nContent-Length: 0\r\n");
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        server
    }

    /// Starts an Azure server with the container `fleet`.
    pub fn azure() -> Self {
        let main = installed().join("node_modules/azurite/dist/src/blob/main.js");
        let dir = tempfile::tempdir().expect("a directory");
        let main = main.display().to_string();
        let args = [main.as_str(), "--blobHost", "127.0.0.1", "--blobPort", "0", "--location", ".", "--silent"];
        let args = [&args[..], &["--skipApiVersionCheck"]].concat();
        let server = Self::start(Path::new("node"), &args, &[], dir, "successfully listens on http://127.0.0.1:");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../spec-tests/remote/container.py");
        let made = Command::new("python3").args([script, &server.address.to_string()]).status().expect("python3");
        assert!(made.success(), "no container");
        server
    }

    /// Starts an OCI registry. `auth` asks for the user `me` with the password `secret`.
    pub fn registry(auth: bool) -> Self {
        let program = installed().join("registry/docker-registry");
        let dir = tempfile::tempdir().expect("a directory");
        let auth = if auth { "auth: {htpasswd: {realm: r, path: ./htpasswd}}\n" } else { "" };
        // bcrypt of `secret`.
        let password = "me:$2y$05$mk1Eg1lAzdddyddZamZIgeQH.hI1hJwoE/T0IcmJFi5Csvb5YAgJO\n";
        let config = format!(
            "version: 0.1\nlog: {{level: info, accesslog: {{disabled: true}}}}\n{auth}\
             storage: {{filesystem: {{rootdirectory: ./data}}}}\nhttp: {{addr: \"127.0.0.1:0\"}}\n"
        );
        fs::write(dir.path().join("config.yml"), config).expect("a configuration");
        fs::write(dir.path().join("htpasswd"), password).expect("a password file");
        Self::start(&program, &["serve", "config.yml"], &[], dir, "listening on 127.0.0.1:")
    }
}

/// Returns the number after `marker`.
fn port_behind(text: &str, marker: &str) -> Option<u16> {
    let (_, rest) = text.split_once(marker)?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    // Without a character after it the number may be incomplete.
    if digits.len() == rest.len() { None } else { digits.parse().ok() }
}

/// Sends a request without a body and returns the response.
pub fn request(address: SocketAddr, head: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    write!(stream, "{head}Connection: close\r\n\r\n").expect("sent");
    let mut text = Vec::new();
    stream.read_to_end(&mut text).expect("a response");
    String::from_utf8_lossy(&text).into_owned()
}
