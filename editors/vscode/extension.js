// Starts `dropforge lsp` for the workspace and picks the cluster whose values it shows.
const vscode = require('vscode');
const { ExecuteCommandRequest, LanguageClient, RevealOutputChannelOn } = require('vscode-languageclient/node');

/** The command of the server. The client registers the commands of servers, so ours has another name. */
const SELECT = 'dropforge.selectCluster';

/** @type {LanguageClient | undefined} */
let client;

/** The settings, as the server takes them. */
function settings() {
  const of = vscode.workspace.getConfiguration('dropforge');
  return { values: of.get('values', []), fleet: of.get('fleet') || null, cluster: of.get('cluster') || null };
}

/** @param {vscode.ExtensionContext} context */
function create(context) {
  const command = vscode.workspace.getConfiguration('dropforge').get('path', 'dropforge');
  /** @type {{ id: string }[]} */
  const languages = context.extension.packageJSON.contributes.languages;
  return new LanguageClient(
    'dropforge',
    'dropforge',
    { command, args: ['lsp'], options: { cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath } },
    {
      documentSelector: languages.map(({ id }) => ({ scheme: 'file', language: id })),
      initializationOptions: settings(),
      // Values, schemas and fleets that other programs change.
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher('**/*.{yaml,yml,json,ndjson,toml,tfvars,csv}') },
      revealOutputChannelOn: RevealOutputChannelOn.Never,
    },
  );
}

/** @param {vscode.ExtensionContext} context */
async function start(context) {
  await client?.stop();
  client = create(context);
  try {
    await client.start();
  } catch (error) {
    const hint = 'Install dropforge with the feature `lsp`, or set `dropforge.path`.';
    vscode.window.showErrorMessage(`dropforge: cannot start the language server: ${error}. ${hint}`);
  }
}

async function pickCluster() {
  const now = vscode.workspace.getConfiguration('dropforge').get('cluster', '');
  const cluster = await vscode.window.showInputBox({ prompt: 'Cluster whose values are shown', value: now });
  if (cluster === undefined) return;
  await client?.sendRequest(ExecuteCommandRequest.type, { command: SELECT, arguments: [cluster] });
}

/** @param {vscode.ConfigurationChangeEvent} event @param {vscode.ExtensionContext} context */
async function changed(event, context) {
  if (event.affectsConfiguration('dropforge.path')) return start(context);
  if (event.affectsConfiguration('dropforge')) {
    await client?.sendNotification('workspace/didChangeConfiguration', { settings: settings() });
  }
}

/** @param {vscode.ExtensionContext} context */
async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand('dropforge.pickCluster', pickCluster),
    vscode.commands.registerCommand('dropforge.restart', () => start(context)),
    vscode.workspace.onDidChangeConfiguration((event) => changed(event, context)),
  );
  await start(context);
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
