//! Logs of the service on standard error: text, or a JSON object per line.
//!
//! A thread of its own writes them, so that a reader that stalls does not stop requests. Lines that it cannot take are
//! counted, and the count is logged.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use chrono::{SecondsFormat, Utc};
use clap::ValueEnum;
use serde_json::{Map, Value as Json};

use dropforge_catalog::server::{Exchange, Log};

use super::ServeArgs;
use crate::stderr::Stderr;

/// Lines that wait for the writer. Further ones are dropped.
const QUEUE: usize = 8192;
/// Maximum time that the end of the service waits for the writer.
const FLUSH: Duration = Duration::from_secs(2);

/// The level of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Level {
    /// Requests that failed
    Error,
    /// Requests that were turned away, and doubtful settings
    Warn,
    /// Every request
    Info,
    /// Also probes and metrics
    Debug,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warn => "warn",
            Level::Info => "info",
            Level::Debug => "debug",
        }
    }

    fn of(exchange: &Exchange<'_>) -> Self {
        match (exchange.status, exchange.path) {
            _ if exchange.cut_off => Level::Error,
            (503, _) => Level::Warn,
            (500.., _) => Level::Error,
            (_, "/healthz" | "/readyz" | "/metrics") => Level::Debug,
            _ => Level::Info,
        }
    }
}

enum Message {
    Line(String),
    /// Answered once all earlier lines are written.
    Flush(SyncSender<()>),
}

/// Writes logs.
#[derive(Debug, Clone)]
pub(crate) struct Logger {
    is_json: bool,
    level: Level,
    lines: SyncSender<Message>,
    dropped: Arc<AtomicU64>,
}

impl Logger {
    /// Starts the thread that writes.
    pub(crate) fn start(args: &ServeArgs, stderr: &Stderr) -> Self {
        let usual = if stderr.verbose { Level::Info } else { Level::Warn };
        let (lines, waiting) = sync_channel(QUEUE);
        thread::spawn(move || write(&waiting));
        Self { is_json: args.log_format, level: args.log_level.unwrap_or(usual), lines, dropped: Arc::default() }
    }

    /// A log of requests.
    pub(crate) fn requests(&self) -> Log {
        let logger = self.clone();
        Log::new(move |exchange| logger.exchange(exchange))
    }

    /// Logs an event in the life of the service. As text it is a note on standard error.
    pub(crate) fn event(&self, level: Level, message: &str, stderr: &Stderr) {
        match (self.is_json, level) {
            (false, Level::Warn) => stderr.warning(message),
            (false, _) => stderr.note(message),
            (true, _) => self.send(self.line(level, message)),
        }
    }

    fn line(&self, level: Level, message: &str) -> String {
        match self.is_json {
            false => format!("{} {} {message}\n", now(), level.name()),
            true => json_line(level, message, []),
        }
    }

    fn exchange(&self, exchange: &Exchange<'_>) {
        let level = Level::of(exchange);
        if level > self.level {
            return;
        }
        self.send(match self.is_json {
            false => text_line(level, exchange),
            true => {
                let message = if exchange.cut_off { "response cut off" } else { "request" };
                json_line(level, message, fields(exchange))
            }
        });
    }

    fn send(&self, line: String) {
        match self.dropped.swap(0, Ordering::Relaxed) {
            0 => {}
            count => {
                let message = format!("{count} log lines were dropped: their reader is too slow");
                self.offer(self.line(Level::Warn, &message), count);
            }
        }
        self.offer(line, 1);
    }

    /// Queues a line that stands for `count` lines if it is dropped.
    fn offer(&self, line: String, count: u64) {
        if self.lines.try_send(Message::Line(line)).is_err() {
            self.dropped.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// Waits until all lines are written, but not for a reader that stalls.
    pub(crate) fn flush(&self) {
        let (sender, written) = sync_channel(1);
        if self.lines.try_send(Message::Flush(sender)).is_ok() {
            let _ = written.recv_timeout(FLUSH);
        }
    }
}

fn write(waiting: &Receiver<Message>) {
    while let Ok(message) = waiting.recv() {
        match message {
            // There is nowhere to report a failure to.
            Message::Line(line) => drop(std::io::stderr().lock().write_all(line.as_bytes())),
            Message::Flush(done) => drop(done.send(())),
        }
    }
}

fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true)
}

fn json_line(level: Level, message: &str, fields: impl IntoIterator<Item = (&'static str, Option<Json>)>) -> String {
    let head = [("time", now()), ("level", level.name().to_owned()), ("message", message.to_owned())];
    let head = head.into_iter().map(|(name, value)| (name.to_owned(), Json::String(value)));
    let fields = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    format!("{}\n", Json::Object(head.chain(fields).collect::<Map<_, _>>()))
}

/// The fields of a request. None of them holds a query, a body or a secret.
fn fields(exchange: &Exchange<'_>) -> [(&'static str, Option<Json>); 12] {
    let Exchange { id, method, path, status, took, cause, origin, address, object, .. } = *exchange;
    [
        ("request_id", Some(id.into())),
        ("method", Some(method.into())),
        ("path", Some(path.into())),
        ("status", Some(status.into())),
        ("duration_us", u64::try_from(took.as_micros()).ok().map(Into::into)),
        ("address", address.map(|address| address.to_string().into())),
        ("key", origin.and_then(|origin| origin.key_name.as_deref()).map(Into::into)),
        ("key_id", origin.and_then(|origin| origin.key_id).map(|id| id.to_string().into())),
        ("role", origin.and_then(|origin| origin.role).map(|role| role.name().into())),
        ("generator_id", origin.and_then(|origin| origin.generator_id).map(|id| id.to_string().into())),
        ("object", object.map(|id| id.to_string().into())),
        ("cause", cause.map(Into::into)),
    ]
}

fn text_line(level: Level, exchange: &Exchange<'_>) -> String {
    let Exchange { id, method, path, status, took, cause, cut_off, origin, address, object } = *exchange;
    let mut line = format!("{} {} {method} {path} {status} {}us {id}", now(), level.name(), took.as_micros());
    let key = origin.and_then(|origin| {
        let id = || origin.generator_id.or(origin.key_id).map(|id| id.to_string());
        origin.key_name.clone().or_else(id)
    });
    if cut_off {
        line.push_str(" response cut off");
    }
    let parts = [
        ("from", address.map(|address| address.to_string())),
        ("key", key),
        ("object", object.map(|id| id.to_string())),
        ("cause", cause.map(str::to_owned)),
    ];
    for (name, value) in parts {
        if let Some(value) = value {
            // Names may contain line breaks.
            line.push_str(&format!(" {name}={}", value.escape_debug()));
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(status: u16, path: &str) -> Exchange<'_> {
        let took = Duration::from_micros(7);
        let (id, method) = ("r-1", "GET");
        let (cause, cut_off, origin, address, object) = (None, false, None, None, None);
        Exchange { id, method, path, status, took, cause, cut_off, origin, address, object }
    }

    #[test]
    fn levels_follow_the_status_and_the_path() {
        for (status, path, level) in [
            (200, "/api/v1/templates", Level::Info),
            (404, "/x", Level::Info),
            (500, "/healthz", Level::Error),
            (503, "/readyz", Level::Warn),
            (200, "/metrics", Level::Debug),
        ] {
            assert_eq!(Level::of(&exchange(status, path)), level, "{status} {path}");
            let cut_off = Exchange { cut_off: true, ..exchange(status, path) };
            assert_eq!(Level::of(&cut_off), Level::Error, "{status} {path}");
        }
    }

    #[test]
    fn lines_cannot_be_forged_by_names() {
        let origin = dropforge_catalog::Origin { key_name: Some("a\nb\"".to_owned()), ..Default::default() };
        let one = Exchange { origin: Some(&origin), ..exchange(200, "/x") };
        let text = text_line(Level::Info, &one);
        assert!(text.ends_with(" info GET /x 200 7us r-1 key=a\\nb\\\"\n"), "{text}");
        let json: Json = serde_json::from_str(&json_line(Level::Info, "request", fields(&one))).unwrap();
        assert_eq!((&json["key"], &json["duration_us"], json.get("object")), (&"a\nb\"".into(), &7.into(), None));
    }

    #[test]
    fn a_reader_that_stalls_costs_lines_and_nothing_else() {
        let (lines, waiting) = sync_channel(2);
        let logger = Logger { is_json: true, level: Level::Info, lines, dropped: Arc::default() };
        for _ in 0..10 {
            logger.exchange(&exchange(200, "/x"));
        }
        logger.flush();
        assert_eq!(waiting.try_iter().count(), 2);
        assert_eq!(logger.dropped.load(Ordering::Relaxed), 8);
        logger.exchange(&exchange(200, "/x"));
        let Ok(Message::Line(line)) = waiting.recv() else { panic!("no line") };
        assert!(line.contains("8 log lines were dropped"), "{line}");
    }
}
