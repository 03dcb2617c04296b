//! A running service for tests of operations.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value as Json;

use crate::support::{Outcome, Sandbox, outcome};

/// The administrator key of all these services.
pub const KEY: &str = "brokkr_BRabcdef_ABCDEFGHIJKLMNOPQRSTUVWX";

/// Longer than any event takes, so that a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A service, which is killed at the end of the test.
pub struct Service {
    child: Child,
    pub url: String,
    lines: Mutex<Receiver<String>>,
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Service {
    /// Starts `dropforge serve` on the catalog `catalog.db`.
    pub fn start(sandbox: &Sandbox, more: &[&str]) -> Self {
        let mut command = sandbox.command(&[&["serve", "--init-key-file", "admin.key"], more].concat());
        if !more.contains(&"--config") {
            command.args(["--listen", "127.0.0.1:0", "--db", "catalog.db"]);
        }
        sandbox.write("admin.key", KEY);
        Self::of(command)
    }

    /// Starts a service by its command.
    pub fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        std::thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let mut service = Self { child, url: String::new(), lines: Mutex::new(lines) };
        let line = service.line(|line| line.contains("listening on "));
        let url = line.split("listening on ").nth(1).unwrap();
        service.url = url.split('"').next().unwrap().to_owned();
        service
    }

    /// Waits for a line of standard error.
    pub fn line(&self, is: impl Fn(&str) -> bool) -> String {
        let lines = self.lines.lock().unwrap();
        let mut seen = Vec::new();
        loop {
            match lines.recv_timeout(PATIENCE) {
                Ok(line) if is(&line) => return line,
                Ok(line) => seen.push(line),
                Err(error) => panic!("{error}: {seen:#?}"),
            }
        }
    }

    /// Waits for a JSON line of standard error.
    pub fn json(&self, is: impl Fn(&Json) -> bool) -> Json {
        let parse = |line: &str| serde_json::from_str::<Json>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        parse(&self.line(|line| is(&parse(line))))
    }

    /// Runs `dropforge catalog` as a client of this service.
    pub fn catalog(&self, sandbox: &Sandbox, args: &[&str]) -> Outcome {
        let mut command = sandbox.command(&[&["catalog"], args].concat());
        command.env("DROPFORGE_SERVER", &self.url).env("DROPFORGE_KEY", KEY);
        outcome(command)
    }

    /// Stops the service by a signal and returns the rest of its output.
    pub fn stop(mut self) -> String {
        let id = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        let ended = (0..600).find_map(|_| {
            std::thread::sleep(PATIENCE / 600);
            self.child.try_wait().unwrap()
        });
        assert!(ended.expect("the service still runs").success());
        self.lines.lock().unwrap().iter().collect::<Vec<_>>().join("\n")
    }
}
