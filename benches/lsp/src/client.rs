//! A client of the language server over standard input and output.

use std::io::BufReader;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use lsp_server::{Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A session with one open file.
pub struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    uri: String,
    text: String,
    version: i64,
    requests: i32,
    /// Keeps the files until the end.
    _folder: TempDir,
}

impl Client {
    /// Writes files to a new folder, starts a server there and opens the file `name` with `text`.
    pub fn start(command: &str, files: &[(&str, &str)], name: &str, text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files.iter().copied().chain([(name, text)]) {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        let root = folder.path().canonicalize().expect("a path");
        let mut command = Command::new(std::path::absolute(command).expect("a path"));
        let command = command.arg("lsp").current_dir(&root).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let root = format!("file://{}", root.display());
        let (uri, text) = (format!("{root}/{name}"), text.to_owned());
        let mut client = Self { child, input, output, uri, text, version: 1, requests: 0, _folder: folder };
        client.request("initialize", json!({"processId": null, "rootUri": root, "capabilities": {}}));
        client.notify("initialized", json!({}));
        let document = json!({"uri": client.uri, "languageId": "x", "version": 1, "text": client.text});
        client.notify("textDocument/didOpen", json!({ "textDocument": document }));
        assert_eq!(client.diagnostics(), 0, "errors in the generated file");
        client
    }

    /// Returns the text of the open file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Replaces `removed` bytes at `at`.
    pub fn change(&mut self, at: usize, removed: usize, new: &str) {
        let range = json!({"start": self.position(at), "end": self.position(at + removed)});
        self.text.replace_range(at..at + removed, new);
        self.version += 1;
        let document = json!({"uri": self.uri, "version": self.version});
        let changes = json!([{"range": range, "text": new}]);
        self.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    }

    /// Waits for diagnostics of the current text, with or without an error.
    pub fn wait_for_diagnostics(&mut self, error: bool) {
        while (self.diagnostics() > 0) != error {}
    }

    /// Returns the number of the next diagnostics of the current text.
    fn diagnostics(&mut self) -> usize {
        loop {
            let Message::Notification(Notification { method, params }) = self.receive() else { continue };
            if method == "textDocument/publishDiagnostics" && params["version"] == self.version {
                return params["diagnostics"].as_array().map_or(0, Vec::len);
            }
        }
    }

    /// Asks about a place.
    ///
    /// # Panics
    /// Panics if there is no answer to tell.
    pub fn ask(&mut self, method: &str, at: usize) {
        let params = json!({"textDocument": {"uri": self.uri}, "position": self.position(at)});
        let result = self.request(&format!("textDocument/{method}"), params);
        let items = result.get("items").and_then(Value::as_array);
        assert!(!result.is_null() && items.is_none_or(|items| !items.is_empty()), "{method}: {result}");
    }

    /// Returns the position of a byte. The texts are ASCII.
    fn position(&self, at: usize) -> Value {
        let before = &self.text[..at];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        json!({"line": before.matches('\n').count(), "character": at - start})
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send(Notification { method: method.to_owned(), params }.into());
    }

    /// Sends a request and returns its result.
    fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        self.send(Request { id: id.clone(), method: method.to_owned(), params }.into());
        loop {
            if let Message::Response(response) = self.receive()
                && response.id == id
            {
                return response.response_result.expect("no error");
            }
        }
    }

    fn send(&mut self, message: Message) {
        message.write(&mut self.input).expect("the server reads");
    }

    fn receive(&mut self) -> Message {
        Message::read(&mut self.output).expect("a message").expect("the server runs")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
