//! The thread that checks.
//!
//! A change is checked in steps: the syntax of the changed file if the rest takes long, the file alone, and what it belongs to
//! when no more changes come. That runs on a thread of its own, so the next change need not wait for it. A project that is
//! checked in a moment is checked at each change. Checks of outdated texts are dropped. Values for hints are found when nothing
//! else is left to do.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use lsp_server::{Message, Notification, Request};
use lsp_types::notification::{Notification as _, PublishDiagnostics, ShowMessage};
use lsp_types::request::{InlayHintRefreshRequest, Request as _};
use lsp_types::{Diagnostic as Finding, MessageType, NumberOrString, PublishDiagnosticsParams, ShowMessageParams};

use super::check::{CheckedHome, FindingsByFile, Ready};
use super::content::{DocumentText, Shift, uri_of};
use super::hints::shown_values;
use super::home::{Home, Homes, Language};
use super::world::{Shared, ShownValues, Snapshot};
use super::{STACK, guarded};
use dropforge::engine::Memo;
use dropforge::limits::Deadline;

/// The time without changes after which a project is checked.
const PAUSE: Duration = Duration::from_millis(150);
/// The time that a check of a project may take to be run at each change.
const SHORT: Duration = Duration::from_millis(12);
/// The time that a check of one file may take to be run without a search for syntax errors before it.
const AT_ONCE: Duration = Duration::from_millis(60);

/// The codes of syntax errors begin like this.
const SYNTAX: &str = "E01";

/// A message to the thread.
pub(super) enum CheckJob {
    /// A document was opened or changed.
    Changed(PathBuf, Snapshot),
    /// Anything may have changed.
    All(Snapshot),
    /// A document was closed.
    Closed(PathBuf, Snapshot),
    /// A check beside this thread has ended.
    Checked(Box<CheckedHome>),
}

/// The state of the thread.
pub(super) struct Worker {
    pub(super) messages: Messages,
    pub(super) shared: Arc<Shared>,
    /// `true` if the client can be asked to request hints again.
    pub(super) refreshes: bool,
    /// Receives the checks that end beside this thread, which lasts as long as the process.
    jobs: Sender<CheckJob>,
    /// The number of jobs from outside.
    received: u64,
    /// `true` while a check runs beside this thread.
    is_checking: bool,
    homes: Homes,
    ready: HashMap<Home, Ready>,
    /// What the check of each open file has kept for the next one.
    memos: HashMap<PathBuf, Memo>,
    /// The diagnostics of each home by file.
    published: BTreeMap<Home, BTreeMap<PathBuf, Published>>,
    dirty: BTreeSet<Home>,
    /// Checked homes whose values for hints are not known yet.
    unshown: BTreeSet<Home>,
    /// Jobs that were received and not begun.
    inbox: VecDeque<CheckJob>,
    /// `true` if what is dirty is checked without a pause.
    is_urgent: bool,
    requests: i32,
}

/// Sends messages to the client.
pub(super) type Messages = Box<dyn Fn(Message) + Send>;

/// The text of a file, and its diagnostics.
type Published = (Option<Arc<DocumentText>>, Vec<Finding>);

impl Worker {
    /// Creates the state.
    pub(super) fn new(messages: Messages, shared: Arc<Shared>, jobs: Sender<CheckJob>, refreshes: bool) -> Self {
        Self {
            messages,
            shared,
            refreshes,
            jobs,
            received: 0,
            is_checking: false,
            homes: Homes::default(),
            ready: HashMap::new(),
            memos: HashMap::new(),
            published: BTreeMap::new(),
            dirty: BTreeSet::new(),
            unshown: BTreeSet::new(),
            inbox: VecDeque::new(),
            is_urgent: false,
            requests: 0,
        }
    }

    /// Runs jobs until there are no more senders.
    pub(super) fn run(mut self, jobs: &Receiver<CheckJob>) {
        let mut latest: Option<Snapshot> = None;
        loop {
            let has_more = !self.is_checking && (!self.dirty.is_empty() || !self.unshown.is_empty());
            let job = match latest.as_ref().filter(|_| has_more) {
                _ if !self.inbox.is_empty() => self.inbox.pop_front().ok_or(RecvTimeoutError::Timeout),
                None => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(_) => jobs.recv_timeout(PAUSE),
            };
            let first = match (job, &latest) {
                (Ok(job), _) => job,
                (Err(RecvTimeoutError::Timeout), Some(snapshot)) => {
                    let snapshot = snapshot.clone();
                    match self.dirty.is_empty() {
                        true => self.show_all(&snapshot, jobs),
                        false => self.check_beside(&snapshot),
                    }
                    continue;
                }
                (Err(_), _) => return,
            };
            // Only the last form of each document is checked.
            let (mut changed, mut snapshot) = (BTreeSet::new(), None);
            let others = std::mem::take(&mut self.inbox);
            for job in std::iter::once(first).chain(others).chain(jobs.try_iter()) {
                snapshot = self.note(job, &mut changed).or(snapshot);
            }
            let Some(snapshot) = snapshot else { continue };
            changed.iter().for_each(|path| self.changed(path, &snapshot, jobs));
            latest = Some(snapshot.clone());
            if std::mem::take(&mut self.is_urgent) {
                self.check_dirty(&snapshot, jobs);
            }
        }
    }

    /// Takes note of a job.
    fn note(&mut self, job: CheckJob, changed: &mut BTreeSet<PathBuf>) -> Option<Snapshot> {
        self.received += u64::from(!matches!(job, CheckJob::Checked(_)));
        Some(match job {
            CheckJob::Checked(checked) => {
                self.checked(*checked);
                return None;
            }
            CheckJob::Changed(path, snapshot) => {
                changed.insert(path);
                snapshot
            }
            CheckJob::All(snapshot) => {
                self.homes.clear();
                self.ready.clear();
                self.dirty.extend(self.published.keys().cloned());
                for path in snapshot.documents.keys() {
                    let home = self.home(path, &snapshot);
                    self.dirty.insert(home);
                }
                self.is_urgent = true;
                snapshot
            }
            CheckJob::Closed(path, snapshot) => {
                changed.remove(&path);
                self.shared.forget(&path);
                self.memos.remove(&path);
                let home = self.home(&path, &snapshot);
                if matches!(home, Home::Alone(..)) {
                    self.publish(&home, BTreeMap::new(), &snapshot);
                    self.published.remove(&home);
                } else {
                    self.dirty.insert(home);
                }
                snapshot
            }
        })
    }

    fn home(&mut self, path: &Path, snapshot: &Snapshot) -> Home {
        self.homes.of(path, &snapshot.root, &snapshot.settings)
    }

    /// Checks a changed document.
    fn changed(&mut self, path: &Path, snapshot: &Snapshot, jobs: &Receiver<CheckJob>) {
        let home = self.home(path, snapshot);
        if matches!(home, Home::Alone(..)) && home.language(path) == Language::Other {
            return self.mark_dirty(&home, path, snapshot);
        }
        let Some(ready) = self.ready.get(&home).filter(|ready| ready.took > SHORT) else {
            self.check(&home, snapshot);
            return self.mark_dirty(&home, path, snapshot);
        };
        if home.language(path) != Language::Other {
            let is_slow = ready.took_alone.get() > AT_ONCE;
            if is_slow {
                let found = guarded(|| ready.syntax_errors(path, snapshot)).ok().flatten();
                self.publish_quick(&home, path, found, snapshot);
            }
            if !is_slow || !self.has_news(jobs) {
                self.check_alone(&home, path, snapshot);
            }
        }
        self.mark_dirty(&home, path, snapshot);
        self.dirty.insert(home);
    }

    /// Checks one file alone.
    fn check_alone(&mut self, home: &Home, path: &Path, snapshot: &Snapshot) {
        let Some(ready) = self.ready.get(home) else { return };
        let memo = self.memos.entry(path.to_owned()).or_default();
        let start = Instant::now();
        let found = guarded(|| ready.check(path, snapshot, memo)).ok().flatten();
        ready.took_alone.set(start.elapsed());
        let memo = memo.clone();
        self.publish_quick(home, path, found, snapshot);
        memo.free();
    }

    /// Returns `true` if there is another job, so that what is known of a text may be outdated.
    fn has_news(&mut self, jobs: &Receiver<CheckJob>) -> bool {
        self.inbox.extend(jobs.try_iter());
        self.inbox.iter().any(|job| !matches!(job, CheckJob::Checked(_)))
    }

    /// Takes note of other files that may include or read a changed one.
    fn mark_dirty(&mut self, own: &Home, path: &Path, snapshot: &Snapshot) {
        for open in snapshot.documents.keys() {
            let home = self.home(open, snapshot);
            let is_near = open.parent().is_some_and(|folder| path.starts_with(folder));
            if home != *own && is_near {
                self.dirty.insert(home);
            }
        }
    }

    /// Checks the homes that may have changed, until there is a job.
    fn check_dirty(&mut self, snapshot: &Snapshot, jobs: &Receiver<CheckJob>) {
        while let Some(home) = self.dirty.pop_first() {
            if matches!(&home, Home::Alone(path, _) if home.language(path) == Language::Other) {
                continue;
            }
            self.check(&home, snapshot);
            if self.has_news(jobs) {
                return;
            }
        }
    }

    /// Checks a home.
    fn check(&mut self, home: &Home, snapshot: &Snapshot) {
        self.dirty.remove(home);
        self.keep(CheckedHome::new(home.clone(), snapshot.clone(), self.received, &self.shared));
    }

    /// Begins to check a home that may have changed, beside this thread.
    fn check_beside(&mut self, snapshot: &Snapshot) {
        let is_other = |home: &Home| matches!(home, Home::Alone(path, _) if home.language(path) == Language::Other);
        self.dirty.retain(|home| !is_other(home));
        let Some(home) = self.dirty.pop_first() else { return };
        let (sender, shared, number) = (self.jobs.clone(), self.shared.clone(), self.received);
        let (own, snapshot) = (home.clone(), snapshot.clone());
        let run = move || drop(sender.send(CheckJob::Checked(CheckedHome::new(own, snapshot, number, &shared).into())));
        self.is_checking = thread::Builder::new().stack_size(STACK).spawn(run).is_ok();
        if !self.is_checking {
            self.dirty.insert(home);
        }
    }

    /// Takes the results of a check beside this thread, unless they are outdated, and begins the next one.
    fn checked(&mut self, checked: CheckedHome) {
        self.is_checking = false;
        if checked.jobs != self.received {
            // A file that is checked alone may be closed.
            self.dirty.extend(Some(checked.home).filter(|home| self.published.contains_key(home)));
            return;
        }
        let snapshot = checked.snapshot.clone();
        self.keep(checked);
        self.check_beside(&snapshot);
    }

    /// Publishes the results of a check.
    fn keep(&mut self, checked: CheckedHome) {
        let CheckedHome { home, snapshot, found, .. } = checked;
        let (found, ready) = match found {
            Ok(found) => found,
            Err(panic) => return self.show_message(format!("a bug in dropforge: {panic}")),
        };
        self.publish(&home, found, &snapshot);
        match ready {
            Some(ready) => self.ready.insert(home.clone(), ready),
            None => self.ready.remove(&home),
        };
        self.unshown.insert(home);
    }

    /// Shows a message to the user.
    fn show_message(&self, message: String) {
        let params = ShowMessageParams { typ: MessageType::WARNING, message };
        (self.messages)(Message::Notification(Notification::new(ShowMessage::METHOD.to_owned(), params)));
    }

    /// Finds the values for hints, until there is a job.
    fn show_all(&mut self, snapshot: &Snapshot, jobs: &Receiver<CheckJob>) {
        while let Some(home) = self.unshown.pop_first() {
            let deadline = Arc::new(Deadline::after(super::values::TIME));
            self.shared.begin(deadline.clone());
            let found = if self.has_news(jobs) { Vec::new() } else { self.show(&home, snapshot, &deadline) };
            if self.has_news(jobs) {
                // The render may have ended early.
                self.unshown.insert(home);
                return;
            }
            for (path, values) in found {
                self.shared.keep_shown(path, values);
            }
            self.ask_for_refresh();
        }
    }

    /// Finds the values that expressions of open documents have.
    fn show(&self, home: &Home, snapshot: &Snapshot, deadline: &Arc<Deadline>) -> Vec<(PathBuf, ShownValues)> {
        let Some(ready) = self.ready.get(home) else { return Vec::new() };
        let own = snapshot.documents.keys().filter(|path| self.homes.known(path) == Some(home)).cloned();
        let own: Vec<PathBuf> = own.collect();
        guarded(|| shown_values(ready, &own, snapshot, deadline)).unwrap_or_default()
    }

    /// Asks the client to request hints again.
    fn ask_for_refresh(&mut self) {
        if self.refreshes {
            self.requests += 1;
            let id = format!("hints-{}", self.requests).into();
            let method = InlayHintRefreshRequest::METHOD.to_owned();
            (self.messages)(Message::Request(Request { id, method, params: serde_json::Value::Null }));
        }
    }

    /// Publishes what was found in one file. Without anything new, the places of what is known are moved.
    fn publish_quick(&mut self, home: &Home, path: &Path, found: Option<Vec<Finding>>, snapshot: &Snapshot) {
        let Some((_, _, content)) = snapshot.documents.get(path) else { return };
        let known = self.published.get(home).and_then(|files| files.get(path)).cloned().unwrap_or_default();
        let findings = found.unwrap_or_else(|| moved(&known, content));
        self.published.entry(home.clone()).or_default().insert(path.to_owned(), (Some(content.clone()), findings));
        self.send(path, snapshot);
    }

    /// Publishes what was found in a home, and nothing for files in which nothing was found any more.
    fn publish(&mut self, home: &Home, found: FindingsByFile, snapshot: &Snapshot) {
        let of = |(path, findings): (PathBuf, Vec<Finding>)| {
            let content = snapshot.documents.get(&path).map(|(_, _, content)| content.clone());
            (path, (content, findings))
        };
        let new: BTreeMap<_, _> = found.into_iter().map(of).collect();
        let old = self.published.insert(home.clone(), new.clone()).unwrap_or_default();
        let open = snapshot.documents.keys().filter(|path| self.homes.known(path) == Some(home)).cloned();
        let paths: BTreeSet<PathBuf> = old.into_keys().chain(new.into_keys()).chain(open).collect();
        paths.iter().for_each(|path| self.send(path, snapshot));
    }

    /// Sends the diagnostics of a file.
    fn send(&self, path: &Path, snapshot: &Snapshot) {
        let open = snapshot.documents.get(path);
        let Some(uri) = open.map_or_else(|| uri_of(path), |(uri, ..)| Some(uri.clone())) else { return };
        let of_homes = self.published.values().filter_map(|files| files.get(path));
        let diagnostics = of_homes.flat_map(|(_, findings)| findings.clone()).collect();
        let params = PublishDiagnosticsParams { uri, diagnostics, version: open.map(|(_, version, _)| *version) };
        (self.messages)(Message::Notification(Notification::new(PublishDiagnostics::METHOD.to_owned(), params)));
    }
}

/// Returns diagnostics at their places in a changed text without syntax errors, without those in what was changed.
fn moved((old, known): &Published, content: &DocumentText) -> Vec<Finding> {
    let Some(old) = old else { return known.clone() };
    let shift = Shift::between(old.text(), content.text());
    let is_syntax =
        |finding: &&Finding| matches!(&finding.code, Some(NumberOrString::String(code)) if code.starts_with(SYNTAX));
    let place = |finding: &Finding| {
        let span = old.span(finding.range);
        Some(Finding { range: content.range(shift.forward(span)?), ..finding.clone() })
    };
    known.iter().filter(|finding| !is_syntax(finding)).filter_map(place).collect()
}
