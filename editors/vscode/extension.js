// Starts `dropforge lsp` for the workspace and picks the cluster whose values it shows.
const vscode = require('vscode');
const { ExecuteCommandRequest, LanguageClient, RevealOutputChannelOn } = require('vscode-languageclient/node');

/** Commands of the server. The client registers those of servers, so ours has another name. */
const LIST = 'dropforge.listClusters';
const SELECT = 'dropforge.selectCluster';

/** Files of languages that are not ours, which the server reads, too: HCL, and values whose unsaved texts count. */
const OTHERS = ['**/*.{hcl,tf}', '**/values*.{yaml,yml}'];

/** @type {LanguageClient | undefined} */
let client;

/** The settings, as the server takes them. */
function settings() {
  const of = vscode.workspace.getConfiguration('dropforge');
  return { values: of.get('values', []), fleet: of.get('fleet', []), cluster: of.get('cluster') || null };
}

/** @param {vscode.ExtensionContext} context */
function create(context) {
  const command = vscode.workspace.getConfiguration('dropforge').get('path', 'dropforge');
  /** @type {{ id: string }[]} */
  const languages = context.extension.packageJSON.contributes.languages;
  const ours = languages.map(({ id }) => ({ scheme: 'file', language: id }));
  return new LanguageClient(
    'dropforge',
    'dropforge',
    { command, args: ['lsp'], options: { cwd: vscode.workspace.workspaceFolders?.[0]?.uri.fsPath } },
    {
      documentSelector: [...ours, ...OTHERS.map((pattern) => ({ scheme: 'file', pattern }))],
      initializationOptions: settings(),
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

/** @param {string} command @param {unknown[]} args */
function execute(command, ...args) {
  return client?.sendRequest(ExecuteCommandRequest.type, { command, arguments: args });
}

/** Chooses one of the clusters of the project of the active file. */
async function pickCluster() {
  /** @type {string[]} */
  const clusters = (await execute(LIST, vscode.window.activeTextEditor?.document.uri.toString())) ?? [];
  if (clusters.length === 0) {
    vscode.window.showInformationMessage('dropforge: the project has no fleet. Set `dropforge.fleet`.');
    return;
  }
  const cluster = await vscode.window.showQuickPick(clusters, { placeHolder: 'Cluster whose values are shown' });
  if (cluster !== undefined) await execute(SELECT, cluster);
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
