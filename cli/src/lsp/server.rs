//! The loop of the server.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    Cancel, DidChangeConfiguration, DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument,
    DidOpenTextDocument, DidSaveTextDocument, Exit as ExitNotification, Notification as _, ShowMessage,
};
use lsp_types::request::Request as _;
use lsp_types::{
    CancelParams, CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions,
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWatchedFilesRegistrationOptions,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, ExecuteCommandOptions, ExecuteCommandParams,
    FileSystemWatcher, GlobPattern, HoverProviderCapability, InitializeParams, InlayHintOptions,
    InlayHintServerCapabilities, MessageType, NumberOrString, OneOf, Registration, RegistrationParams, RenameOptions,
    SaveOptions, ServerCapabilities, ShowMessageParams, TextDocumentSyncCapability, TextDocumentSyncKind,
    TextDocumentSyncOptions, TextDocumentSyncSaveOptions, WorkDoneProgressOptions, request as requests,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::content::{canonical, path_of};
use super::home::Settings;
use super::worker::{CheckJob, Worker};
use super::world::World;
use super::{STACK, completion, guarded, hints, hover, navigation, stdio};
use crate::exit::Exit;
use crate::stderr::Stderr;

/// The files that may change what is found: templates, values, schemas, fleets and projects.
const WATCHED: &str =
    "**/*.{tera,gotmpl,tpl,tftpl,hcl,tf,tofu,tfvars,cel,tower,txt,yaml,yml,json,ndjson,toml,csv,tsv,env}";

/// The time without messages after which names are looked for.
const IDLE: Duration = Duration::from_millis(30);

/// Maximum time to wait until the last messages are written.
const PATIENCE: Duration = Duration::from_millis(500);

/// Chooses the cluster whose values are shown.
const SELECT_CLUSTER: &str = "dropforge.selectCluster";
/// Returns the names of the clusters of a document's project.
const LIST_CLUSTERS: &str = "dropforge.listClusters";

/// Serves a client on standard input and output until it ends the session.
pub(super) fn run(stderr: &Stderr) -> Exit {
    let (connection, written) = stdio::connect();
    let exit = match start(&connection) {
        Ok(mut server) => server.serve(),
        Err(error) => {
            stderr.warning(&format!("the client did not begin a session: {error}"));
            Exit::Error
        }
    };
    drop(connection);
    // The last answers, unless a check still has the connection.
    let _ = written.recv_timeout(PATIENCE);
    exit
}

/// Begins a session.
fn start(connection: &Connection) -> Result<Server<'_>, Box<dyn std::error::Error>> {
    let (id, params) = connection.initialize_start()?;
    let params: InitializeParams = serde_json::from_value(params)?;
    let root = root(&params);
    // Paths of settings and messages are relative to the root.
    let _ = std::env::set_current_dir(&root);
    let settings = Settings::read(params.initialization_options.as_ref().unwrap_or(&Value::Null));
    let info = json!({"name": "dropforge", "version": env!("CARGO_PKG_VERSION")});
    connection.initialize_finish(id, json!({"capabilities": capabilities(), "serverInfo": info}))?;
    let world = World::new(root, settings.clone().unwrap_or_default());
    let client = params.capabilities.workspace.unwrap_or_default();
    let refreshes = client.inlay_hint.and_then(|hints| hints.refresh_support).unwrap_or(false);
    let watches = client.did_change_watched_files.and_then(|files| files.dynamic_registration).unwrap_or(false);
    let (jobs, received) = mpsc::channel();
    let sender = connection.sender.clone();
    // A client that is gone receives nothing.
    let messages = Box::new(move |message| drop(sender.send(message)));
    let worker = Worker::new(messages, world.shared.clone(), jobs.clone(), refreshes);
    thread::Builder::new().stack_size(STACK).spawn(move || worker.run(&received))?;
    let server = Server {
        connection,
        world,
        jobs,
        queue: VecDeque::new(),
        changed: None,
        knows_cluster: false,
        is_shut_down: false,
    };
    settings.err().into_iter().for_each(|error| server.show(error));
    if watches {
        server.send(Message::Request(watch()?));
    }
    Ok(server)
}

/// Returns the folder of the workspace.
fn root(params: &InitializeParams) -> PathBuf {
    let folder = params.workspace_folders.as_ref().and_then(|folders| path_of(&folders.first()?.uri));
    #[allow(deprecated)] // clients before folders send only this
    let root = folder.or_else(|| path_of(params.root_uri.as_ref()?));
    let here = || std::env::current_dir().unwrap_or_default();
    canonical(&root.filter(|root| root.is_dir()).unwrap_or_else(here))
}

/// Returns the request for notifications of changed files.
fn watch() -> Result<Request, serde_json::Error> {
    let watcher = FileSystemWatcher { glob_pattern: GlobPattern::String(WATCHED.to_owned()), kind: None };
    let options = DidChangeWatchedFilesRegistrationOptions { watchers: vec![watcher] };
    let method = DidChangeWatchedFiles::METHOD.to_owned();
    let one = Registration { id: "files".to_owned(), method, register_options: Some(serde_json::to_value(options)?) };
    let params = RegistrationParams { registrations: vec![one] };
    Ok(Request::new("files".to_owned().into(), requests::RegisterCapability::METHOD.to_owned(), params))
}

fn capabilities() -> ServerCapabilities {
    let triggers = [".", "|", "\"", "'", "/", ":", "$", "{", " "].map(str::to_owned).to_vec();
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Options(TextDocumentSyncOptions {
            open_close: Some(true),
            change: Some(TextDocumentSyncKind::INCREMENTAL),
            save: Some(TextDocumentSyncSaveOptions::SaveOptions(SaveOptions { include_text: Some(false) })),
            ..TextDocumentSyncOptions::default()
        })),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(triggers),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: WorkDoneProgressOptions::default(),
        })),
        document_symbol_provider: Some(OneOf::Left(true)),
        workspace_symbol_provider: Some(OneOf::Left(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        inlay_hint_provider: Some(OneOf::Right(InlayHintServerCapabilities::Options(InlayHintOptions::default()))),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: [SELECT_CLUSTER, LIST_CLUSTERS].map(str::to_owned).to_vec(),
            ..ExecuteCommandOptions::default()
        }),
        ..ServerCapabilities::default()
    }
}

/// A session.
struct Server<'c> {
    connection: &'c Connection,
    world: World,
    jobs: Sender<CheckJob>,
    /// Messages that were received but not handled.
    queue: VecDeque<Message>,
    /// A document whose names were not looked for since it changed.
    changed: Option<PathBuf>,
    /// `true` if the cluster of the settings was looked for.
    knows_cluster: bool,
    is_shut_down: bool,
}

/// The error of a request.
type RequestError = (ErrorCode, String);

impl Server<'_> {
    /// Handles messages until the session ends.
    fn serve(&mut self) -> Exit {
        loop {
            let Some(message) = self.queue.pop_front().or_else(|| self.receive()) else { return Exit::Error };
            match message {
                Message::Request(request) => self.request(request),
                Message::Notification(one) if one.method == ExitNotification::METHOD => {
                    return if self.is_shut_down { Exit::Ok } else { Exit::Error };
                }
                Message::Notification(one) => self.notification(one),
                // The client has nothing to tell about refreshed hints.
                Message::Response(_) => {}
            }
        }
    }

    /// Waits for a message. The names in a changed document are found while none arrives, so that they are known when it has
    /// syntax errors.
    fn receive(&mut self) -> Option<Message> {
        if let Some(path) = self.changed.take() {
            match self.connection.receiver.recv_timeout(IDLE) {
                Ok(message) => {
                    self.changed = Some(path);
                    return Some(message);
                }
                Err(error) if error.is_timeout() => self.world.analyse_beside(path),
                Err(_) => return None,
            }
        }
        self.connection.receiver.recv().ok()
    }

    fn request(&mut self, request: Request) {
        let id = request.id.clone();
        let answer = if self.is_cancelled(&id) {
            Err((ErrorCode::RequestCanceled, "the request was cancelled".to_owned()))
        } else if self.is_shut_down {
            Err((ErrorCode::InvalidRequest, "the server is shutting down".to_owned()))
        } else {
            guarded(|| self.answer(request))
                .unwrap_or_else(|panic| Err((ErrorCode::InternalError, format!("a bug in dropforge: {panic}"))))
        };
        let response = match answer {
            Ok(result) => Response::new_ok(id, result),
            Err((code, message)) => Response::new_err(id, code as i32, message),
        };
        self.send(Message::Response(response));
    }

    /// Returns `true` if the client has cancelled a request before it was handled.
    fn is_cancelled(&mut self, id: &RequestId) -> bool {
        self.queue.extend(self.connection.receiver.try_iter());
        let is_it = |message: &Message| match message {
            Message::Notification(one) if one.method == Cancel::METHOD => {
                let params = serde_json::from_value::<CancelParams>(one.params.clone());
                params.is_ok_and(|params| match params.id {
                    NumberOrString::Number(number) => *id == RequestId::from(number),
                    NumberOrString::String(text) => *id == RequestId::from(text),
                })
            }
            _ => false,
        };
        self.queue.iter().any(is_it)
    }

    fn send(&self, message: Message) {
        // A client that is gone receives nothing; the loop then ends.
        let _ = self.connection.sender.send(message);
    }

    /// Shows a message to the user.
    fn show(&self, message: String) {
        let params = ShowMessageParams { typ: MessageType::WARNING, message };
        self.send(Message::Notification(Notification::new(ShowMessage::METHOD.to_owned(), params)));
    }

    fn answer(&mut self, request: Request) -> Result<Value, RequestError> {
        let Request { method, params, .. } = request;
        let world = &mut self.world;
        match method.as_str() {
            requests::Shutdown::METHOD => {
                self.is_shut_down = true;
                Ok(Value::Null)
            }
            requests::HoverRequest::METHOD => to_json(hover::hover(world, &read(params)?)),
            requests::Completion::METHOD => to_json(completion::complete(world, &read(params)?)),
            requests::GotoDefinition::METHOD => to_json(navigation::definition(world, &read(params)?)),
            requests::References::METHOD => to_json(navigation::references(world, &read(params)?)),
            requests::PrepareRenameRequest::METHOD => to_json(navigation::prepare_rename(world, &read(params)?)),
            requests::Rename::METHOD => to_json(navigation::rename(world, &read(params)?).map_err(refused)?),
            requests::DocumentSymbolRequest::METHOD => to_json(navigation::document_symbols(world, &read(params)?)),
            requests::WorkspaceSymbolRequest::METHOD => to_json(navigation::workspace_symbols(world, &read(params)?)),
            requests::Formatting::METHOD => to_json(navigation::format(world, &read(params)?)),
            requests::CodeActionRequest::METHOD => to_json(navigation::actions(&read(params)?)),
            requests::InlayHintRequest::METHOD => to_json(hints::hints(world, &read(params)?)),
            requests::ExecuteCommand::METHOD => self.command(read(params)?),
            _ => Err((ErrorCode::MethodNotFound, format!("dropforge has no `{method}`"))),
        }
    }

    fn command(&mut self, params: ExecuteCommandParams) -> Result<Value, RequestError> {
        let first = params.arguments.first().unwrap_or(&Value::Null);
        match params.command.as_str() {
            SELECT_CLUSTER => {
                let name = first.as_str().map(str::to_owned);
                name.iter().try_for_each(|name| self.world.check_cluster(name)).map_err(refused)?;
                self.world.settings.cluster = name;
                self.tell(CheckJob::All);
                Ok(Value::Null)
            }
            LIST_CLUSTERS => {
                let path = first.as_str().and_then(|uri| path_of(&uri.parse().ok()?));
                let path = path.unwrap_or_else(|| self.world.root.join(crate::project::FILE));
                let home = self.world.home(&path);
                to_json(&self.world.values(&home).clusters)
            }
            other => Err((ErrorCode::InvalidParams, format!("dropforge has no command `{other}`"))),
        }
    }

    fn notification(&mut self, one: Notification) {
        let method = one.method.clone();
        let handled = guarded(|| self.handle(one));
        if let Err(panic) = handled {
            self.show(format!("a bug in dropforge: `{method}`: {panic}"));
        }
    }

    fn handle(&mut self, Notification { method, params }: Notification) {
        match method.as_str() {
            DidOpenTextDocument::METHOD => self.opened(params),
            DidChangeTextDocument::METHOD => self.changed(params),
            DidCloseTextDocument::METHOD => self.closed(params),
            DidChangeConfiguration::METHOD => self.configured(params),
            DidSaveTextDocument::METHOD | DidChangeWatchedFiles::METHOD => {
                self.world.forget_homes();
                self.tell(CheckJob::All);
            }
            _ => {}
        }
    }

    /// Sends a new form of the documents to the thread that checks.
    fn tell(&self, job: impl FnOnce(super::world::Snapshot) -> CheckJob) {
        self.world.shared.interrupt();
        // The thread ends only with the process.
        let _ = self.jobs.send(job(self.world.snapshot()));
    }

    fn tell_change(&self, path: &Path) {
        self.tell(|snapshot| CheckJob::Changed(path.to_owned(), snapshot));
    }

    fn opened(&mut self, params: Value) {
        let Ok(DidOpenTextDocumentParams { text_document: new }) = serde_json::from_value(params) else { return };
        let Some(path) = path_of(&new.uri) else { return };
        self.world.open(path.clone(), new.uri, new.version, new.text);
        self.tell_change(&path);
        self.world.analysis(&path);
        self.look_for_cluster();
    }

    /// Warns once of a cluster in the settings that no project has. A project with clusters may still be opened.
    fn look_for_cluster(&mut self) {
        let Some(name) = self.world.settings.cluster.clone().filter(|_| !self.knows_cluster) else { return };
        self.knows_cluster = self.world.clusters().is_none_or(|names| !names.is_empty());
        if self.knows_cluster
            && let Err(error) = self.world.check_cluster(&name)
        {
            self.show(format!("the setting `cluster` of dropforge: {error}"));
        }
    }

    fn changed(&mut self, params: Value) {
        let Ok(params) = serde_json::from_value::<DidChangeTextDocumentParams>(params) else { return };
        let Some(path) = path_of(&params.text_document.uri) else { return };
        let Some(document) = self.world.documents.get_mut(&path) else { return };
        document.content = document.content.changed(params.content_changes).into();
        document.version = params.text_document.version;
        self.tell_change(&path);
        self.changed = Some(path);
    }

    fn closed(&mut self, params: Value) {
        let Ok(params) = serde_json::from_value::<DidCloseTextDocumentParams>(params) else { return };
        let Some(path) = path_of(&params.text_document.uri) else { return };
        if self.world.documents.remove(&path).is_some() {
            self.tell(|snapshot| CheckJob::Closed(path, snapshot));
        }
    }

    fn configured(&mut self, params: Value) {
        let Ok(params) = serde_json::from_value::<DidChangeConfigurationParams>(params) else { return };
        match Settings::read(&params.settings) {
            // Some clients tell only that something has changed.
            Ok(_) if params.settings.is_null() => {}
            Ok(settings) => self.world.settings = settings,
            Err(error) => return self.show(error),
        }
        self.world.forget_homes();
        self.tell(CheckJob::All);
        self.knows_cluster = false;
        self.look_for_cluster();
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, RequestError> {
    serde_json::from_value(params).map_err(|error| (ErrorCode::InvalidParams, error.to_string()))
}

fn to_json(value: impl serde::Serialize) -> Result<Value, RequestError> {
    serde_json::to_value(value).map_err(|error| (ErrorCode::InternalError, error.to_string()))
}

fn refused(message: String) -> RequestError {
    (ErrorCode::RequestFailed, message)
}
