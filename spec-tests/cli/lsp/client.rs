//! A client of the language server over standard input and output.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Sandbox;

/// The time after which a test fails.
const PATIENCE: Duration = Duration::from_secs(25);

pub struct Client {
    pub sandbox: Sandbox,
    child: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages that were received and not asked for yet.
    waiting: Vec<Value>,
    requests: i64,
    versions: i64,
    /// The versions of the open files.
    open: HashMap<String, i64>,
    texts: HashMap<String, String>,
}

impl Client {
    /// Starts a server in a sandbox without options.
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self::start(Sandbox::with(files), json!(null))
    }

    /// Starts a server in a sandbox and begins a session.
    pub fn start(sandbox: Sandbox, options: Value) -> Self {
        let mut client = Self::spawn(sandbox);
        let hints = json!({"refreshSupport": true});
        let params = json!({
            "processId": null,
            "rootUri": client.uri(""),
            "capabilities": {"workspace": {"inlayHint": hints, "didChangeWatchedFiles": {"dynamicRegistration": true}}},
            "initializationOptions": options,
        });
        let result = client.request("initialize", params);
        assert_eq!(result["serverInfo"]["name"], "dropforge");
        client.notify("initialized", json!({}));
        client.wait("a request to watch files", |message| message["method"] == "client/registerCapability");
        client
    }

    /// Starts a server without a session.
    pub fn spawn(sandbox: Sandbox) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dropforge"));
        let command = command.arg("lsp").current_dir(sandbox.path("")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, messages) = mpsc::channel();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let (waiting, open, texts) = (Vec::new(), HashMap::new(), HashMap::new());
        Self { sandbox, child, input, messages, waiting, requests: 0, versions: 0, open, texts }
    }

    /// Returns the URI of a file of the sandbox.
    pub fn uri(&self, name: &str) -> String {
        let path = self.sandbox.path("").canonicalize().unwrap().join(name);
        let text = path.to_str().unwrap().trim_end_matches('/').replace('%', "%25").replace(' ', "%20");
        format!("file://{text}")
    }

    /// Sends the text of a message with its header.
    pub fn send_text(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        input.flush().unwrap();
    }

    /// Sends bytes that need not be a message.
    pub fn send_raw(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// Waits for the error of a message that could not be read.
    pub fn error_without_id(&mut self) -> Value {
        self.wait("an error", |message| message["id"].is_null() && message["error"].is_object())["error"].clone()
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = json!("2.0");
        self.send_text(&message.to_string());
    }

    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"method": method, "params": params}));
    }

    /// Sends a request. Returns its id.
    pub fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.requests += 1;
        self.send(json!({"id": self.requests, "method": method, "params": params}));
        self.requests
    }

    /// Returns the response to a request.
    pub fn response(&mut self, id: i64) -> Value {
        self.wait(&format!("the response to {id}"), |message| message["id"] == id && message.get("method").is_none())
    }

    /// Sends a request and returns its result.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        let response = self.response(id);
        assert!(response.get("error").is_none(), "{response}");
        response["result"].clone()
    }

    /// Waits for a message, and drops older diagnostics of the same file.
    fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(at) = self.waiting.iter().position(&wanted) {
                let newer = self.waiting.split_off(at + 1);
                let found = self.waiting.pop().unwrap();
                let file =
                    |message: &Value| message["params"].get("diagnostics").map(|_| message["params"]["uri"].clone());
                self.waiting.retain(|older| file(older).is_none() || file(older) != file(&found));
                self.waiting.extend(newer);
                return found;
            }
            match self.messages.recv_timeout(PATIENCE) {
                Ok(message) => self.waiting.push(message),
                Err(error) => panic!("no {what}: {error}; there were {:#?}", self.waiting),
            }
        }
    }

    /// Opens a file that is in the sandbox.
    pub fn open(&mut self, name: &str) {
        let text = self.sandbox.read(name);
        self.open_as(name, &text);
    }

    /// Opens a file with this text.
    pub fn open_as(&mut self, name: &str, text: &str) {
        self.versions += 1;
        self.open.insert(name.to_owned(), self.versions);
        self.texts.insert(name.to_owned(), text.to_owned());
        let uri = self.uri(name);
        let document = json!({"uri": uri, "languageId": "x", "version": self.versions, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": document}));
    }

    /// Replaces the only `old` in an open file by `new`. Returns the version.
    pub fn replace(&mut self, name: &str, old: &str, new: &str) -> i64 {
        let (start, end) = (self.at(name, old), self.end_of(name, old));
        let text = self.texts[name].replacen(old, new, 1);
        self.texts.insert(name.to_owned(), text);
        self.change(name, json!([{"range": {"start": start, "end": end}, "text": new}]))
    }

    /// Sends changes. Returns the version.
    pub fn change(&mut self, name: &str, changes: Value) -> i64 {
        self.versions += 1;
        self.open.insert(name.to_owned(), self.versions);
        let document = json!({"uri": self.uri(name), "version": self.versions});
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
        self.versions
    }

    pub fn close(&mut self, name: &str) {
        self.open.remove(name);
        self.notify("textDocument/didClose", json!({"textDocument": {"uri": self.uri(name)}}));
    }

    /// Returns the position of the start of `part` in the text of an open file, or of one on disk.
    pub fn at(&self, name: &str, part: &str) -> Value {
        self.position(name, part, 0)
    }

    fn end_of(&self, name: &str, part: &str) -> Value {
        self.position(name, part, part.len())
    }

    #[track_caller]
    fn position(&self, name: &str, part: &str, behind: usize) -> Value {
        let text = self.texts.get(name).cloned().unwrap_or_else(|| self.sandbox.read(name));
        let at = text.find(part).unwrap_or_else(|| panic!("no {part:?} in {text:?}")) + behind;
        let (line, start) = (text[..at].matches('\n').count(), text[..at].rfind('\n').map_or(0, |at| at + 1));
        json!({"line": line, "character": text[start..at].encode_utf16().count()})
    }

    /// Returns the text of a range.
    pub fn slice(&self, name: &str, range: &Value) -> String {
        let text = self.texts.get(name).cloned().unwrap_or_else(|| self.sandbox.read(name));
        let offset = |position: &Value| {
            let line = position["line"].as_u64().unwrap() as usize;
            let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
            let mut units = position["character"].as_u64().unwrap() as usize;
            let rest = text[start..].char_indices();
            let end = rest.take_while(|(_, c)| units.checked_sub(c.len_utf16()).map(|left| units = left).is_some());
            start + end.last().map_or(0, |(at, c)| at + c.len_utf8())
        };
        text[offset(&range["start"])..offset(&range["end"])].to_owned()
    }

    /// Sends a request about a place: `part`, at the byte `behind` of it.
    #[track_caller]
    pub fn ask(&mut self, method: &str, name: &str, part: &str, behind: usize) -> Value {
        let position = self.position(name, part, behind);
        let document = json!({"uri": self.uri(name)});
        let context = json!({"includeDeclaration": true, "triggerKind": 1});
        let params = json!({"textDocument": document, "position": position, "context": context});
        self.request(&format!("textDocument/{method}"), params)
    }

    /// Returns the text of the hover over the second byte of `part`.
    #[track_caller]
    pub fn hover(&mut self, name: &str, part: &str) -> String {
        let result = self.ask("hover", name, part, 1);
        result["contents"]["value"].as_str().unwrap_or("").to_owned()
    }

    /// Returns the labels of the completion after `part`.
    #[track_caller]
    pub fn complete(&mut self, name: &str, part: &str) -> Vec<String> {
        let result = self.ask("completion", name, part, part.len());
        let items = result["items"].as_array().cloned().unwrap_or_default();
        items.iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns places as `file:text of the range`.
    pub fn places(&self, result: &Value) -> Vec<String> {
        let root = self.uri("") + "/";
        let place = |place: &Value| {
            let name = place["uri"].as_str().unwrap().strip_prefix(&root).unwrap().to_owned();
            format!("{name}:{}:{}", place["range"]["start"]["line"], self.slice(&name, &place["range"]))
        };
        let mut all: Vec<_> = result.as_array().unwrap().iter().map(place).collect();
        all.sort();
        all
    }

    /// Returns the definitions of the name at the second byte of `part`.
    #[track_caller]
    pub fn definition(&mut self, name: &str, part: &str) -> Vec<String> {
        let result = self.ask("definition", name, part, 1);
        self.places(&result)
    }

    /// Returns the references to the name at the second byte of `part`.
    #[track_caller]
    pub fn references(&mut self, name: &str, part: &str) -> Vec<String> {
        let result = self.ask("references", name, part, 1);
        self.places(&result)
    }

    /// Returns the text of every file after a rename of the name at the first byte of `part`.
    #[track_caller]
    pub fn rename(&mut self, name: &str, part: &str, new: &str) -> Vec<(String, String)> {
        let position = self.at(name, part);
        let document = json!({"uri": self.uri(name)});
        let params = json!({"textDocument": document, "position": position, "newName": new});
        let result = self.request("textDocument/rename", params);
        self.edited(&result)
    }

    /// Returns the texts of files after an edit of the workspace.
    pub fn edited(&self, edit: &Value) -> Vec<(String, String)> {
        let root = self.uri("") + "/";
        let mut all = Vec::new();
        for (uri, edits) in edit["changes"].as_object().unwrap() {
            let name = uri.strip_prefix(&root).unwrap().to_owned();
            let mut text = self.texts.get(&name).cloned().unwrap_or_else(|| self.sandbox.read(&name));
            let mut edits = edits.as_array().unwrap().clone();
            edits.sort_by_key(|edit| {
                let start = &edit["range"]["start"];
                (start["line"].as_u64(), start["character"].as_u64())
            });
            for edit in edits.iter().rev() {
                let start =
                    self.slice(&name, &json!({"start": {"line": 0, "character": 0}, "end": edit["range"]["start"]}));
                let old = self.slice(&name, &edit["range"]);
                text.replace_range(start.len()..start.len() + old.len(), edit["newText"].as_str().unwrap());
            }
            all.push((name, text));
        }
        all.sort();
        all
    }

    /// Waits until the diagnostics of the newest version of a file are as wanted, and returns them.
    pub fn diagnostics(&mut self, name: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let (uri, version) = (self.uri(name), self.open.get(name).copied());
        let is_it = |message: &Value| {
            message["method"] == "textDocument/publishDiagnostics"
                && message["params"]["uri"] == uri
                && message["params"]["version"].as_i64() == version
                && wanted(message["params"]["diagnostics"].as_array().unwrap())
        };
        let message = self.wait(&format!("diagnostics of {name}"), is_it);
        message["params"]["diagnostics"].as_array().unwrap().clone()
    }

    /// Waits for a message to the user.
    pub fn message(&mut self) -> String {
        let message = self.wait("message", |message| message["method"] == "window/showMessage");
        message["params"]["message"].as_str().unwrap().to_owned()
    }

    /// Waits for diagnostics with these codes, sorted.
    pub fn codes(&mut self, name: &str, wanted: &[&str]) -> Vec<Value> {
        self.diagnostics(name, |found| {
            let mut codes: Vec<_> = found.iter().map(|one| one["code"].as_str().unwrap()).collect();
            codes.sort_unstable();
            codes == wanted
        })
    }

    /// Waits until the server has values for hints, and returns the hints of a file as `expression hint`.
    pub fn hints(&mut self, name: &str) -> Vec<String> {
        self.wait("hints", |message| message["method"] == "workspace/inlayHint/refresh");
        self.hints_now(name)
    }

    /// Waits until the hints of a file have this text.
    pub fn hints_with(&mut self, name: &str, part: &str) -> Vec<String> {
        loop {
            let hints = self.hints(name);
            if hints.iter().any(|hint| hint.contains(part)) {
                return hints;
            }
        }
    }

    pub fn hints_now(&mut self, name: &str) -> Vec<String> {
        let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 100_000, "character": 0}});
        let params = json!({"textDocument": {"uri": self.uri(name)}, "range": range});
        let result = self.request("textDocument/inlayHint", params);
        let hint = |hint: &Value| {
            let line = hint["position"]["line"].clone();
            let start = json!({"line": line, "character": 0});
            let before = self.slice(name, &json!({"start": start, "end": hint["position"]}));
            format!("{before} {}", hint["label"].as_str().unwrap())
        };
        result.as_array().map(|hints| hints.iter().map(hint).collect()).unwrap_or_default()
    }

    /// Ends the session. Fails unless the server exits with `code`.
    pub fn end(mut self, code: i32) {
        self.request("shutdown", json!(null));
        self.notify("exit", json!(null));
        self.expect_exit(code);
    }

    pub fn expect_exit(mut self, code: i32) {
        drop(self.input.take());
        assert_eq!(self.child.wait().unwrap().code(), Some(code));
    }

    /// Closes the server's input without a word.
    pub fn hang_up(&mut self) {
        drop(self.input.take());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads one message.
fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", bytes)) => length = bytes.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let mut bytes = vec![0; length];
    output.read_exact(&mut bytes).ok()?;
    Some(serde_json::from_slice(&bytes).unwrap())
}
