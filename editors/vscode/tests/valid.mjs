// Checks the grammars against every template that renders in the suite (`spec-tests/LANGUAGE/*.cases`) and in `examples/`:
// nothing in it may be coloured as an error, and no tag may stay open.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname } from 'node:path';

const require = createRequire(import.meta.url);
const { OnigScanner, OnigString, loadWASM } = require('vscode-oniguruma');
const { INITIAL, Registry, parseRawGrammar } = require('vscode-textmate');
const ROOT = '../..';
const SCOPES = {
  tera: 'text.tera', helm: 'text.helm', hcl: 'text.hcl-template', tower: 'text.tower', cel: 'source.cel', 'cel-yaml': 'source.cel-yaml',
};
const EXTENSIONS = { '.tera': 'text.tera.yaml', '.tpl': 'text.helm.yaml', '.tftpl': 'text.hcl-template', '.tower': 'text.tower' };

/** The templates of the cases that have an output, with their places. */
function* cases(language) {
  const folder = `${ROOT}/spec-tests/${language}`;
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.cases'))) {
    for (const text of readFileSync(`${folder}/${file}`, 'utf8').split(/^=== /m).slice(1)) {
      const name = `${language}/${file}: ${text.split('\n', 1)[0]}`;
      const sections = text.split(/^--- /m).slice(1);
      if (!sections.some((section) => section.startsWith('output'))) continue;
      const [first] = sections.filter((section) => section.startsWith('template'));
      yield [name, SCOPES[language], first.slice(first.indexOf('\n') + 1)];
    }
  }
}

/** The templates in `examples/`. */
function* examples() {
  for (const name of readdirSync(`${ROOT}/examples`, { recursive: true })) {
    const isChart = /\/templates\/.*\.yaml$/.test(name) && name.startsWith('helm/');
    const scope = name.endsWith('.cel.yaml') ? 'source.cel-yaml' : isChart ? 'text.helm.yaml' : EXTENSIONS[extname(name)];
    if (scope) yield [name, scope, readFileSync(`${ROOT}/examples/${name}`, 'utf8')];
  }
}

function registry() {
  const files = ['syntaxes', 'tests/hosts'].flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`));
  const grammars = new Map(files.map((file) => parseRawGrammar(readFileSync(file, 'utf8'), file)).map((of) => [of.scopeName, of]));
  const onigLib = loadWASM(readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm')).buffer).then(() => ({
    createOnigScanner: (patterns) => new OnigScanner(patterns),
    createOnigString: (text) => new OnigString(text),
  }));
  return new Registry({ onigLib, loadGrammar: async (scope) => grammars.get(scope) });
}

/** The faults of one text. */
function faults(grammar, text) {
  let stack = INITIAL;
  const found = [];
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, stack);
    stack = ruleStack;
    const wrong = tokens.filter(({ scopes }) => scopes.some((scope) => scope.startsWith('invalid.')));
    found.push(...wrong.map(({ startIndex, endIndex }) => `\`${line.slice(startIndex, endIndex)}\` in \`${line}\``));
  }
  return stack.depth > 1 ? [...found, 'a tag stays open'] : found;
}

const all = [...Object.keys(SCOPES).flatMap((language) => [...cases(language)]), ...examples()];
const known = registry();
let failed = 0;
for (const [name, scope, text] of all) {
  const found = faults(await known.loadGrammar(scope), text);
  failed += found.length;
  for (const fault of found) console.error(`${name}: ${fault}`);
}
console.log(`${all.length} templates that render, ${failed} faults of grammars`);
process.exit(failed || all.length < 500 ? 1 : 0);
