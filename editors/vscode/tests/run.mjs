// Runs the grammar tests. Little grammars stand in for the hosts that the editor brings.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';

const at = (folder) => readdirSync(folder).map((name) => `${folder}/${name}`);
const hosts = at('tests/hosts').flatMap((file) => ['--grammar', file]);
const tool = 'node_modules/.bin/vscode-tmgrammar-test';
const run = spawnSync(tool, ['--config', 'package.json', ...hosts, ...at('tests/grammars')], { stdio: 'inherit' });
process.exit(run.status ?? 1);
