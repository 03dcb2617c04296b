// Writes `syntaxes/`, and the languages and grammars in `package.json`. With `--check`, fails if `package.json` changes.
//
// A template's host language is the extension before the template's: `app.yaml.tera`. Each pair is a language of its own,
// whose grammar is the host's with the template's tags injected everywhere: tags may stand in strings and comments.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import cel from './grammars/cel.mjs';
import celYaml from './grammars/cel-yaml.mjs';
import hcl from './grammars/hcl.mjs';
import helm from './grammars/helm.mjs';
import tera from './grammars/tera.mjs';
import tower from './grammars/tower.mjs';
import yaml from './grammars/yaml.mjs';

const HOSTS = [
  { id: 'yaml', title: 'YAML', scope: yaml.scopeName, extensions: ['yaml', 'yml'] },
  { id: 'json', title: 'JSON', scope: 'source.json', extensions: ['json'] },
  { id: 'html', title: 'HTML', scope: 'text.html.basic', extensions: ['html', 'htm'] },
  { id: 'xml', title: 'XML', scope: 'text.xml', extensions: ['xml'] },
  { id: 'ini', title: 'INI', scope: 'source.ini', extensions: ['ini', 'conf', 'cfg'] },
  { id: 'toml', title: 'TOML', scope: 'source.toml', extensions: ['toml'] },
  { id: 'shell', title: 'shell script', scope: 'source.shell', extensions: ['sh', 'bash'] },
  { id: 'markdown', title: 'Markdown', scope: 'text.html.markdown', extensions: ['md'] },
];
const YAML = HOSTS[0];
// The templates of a chart. Other templates may stand there, too: a longer pattern wins.
const CHART = ['yaml', 'yml', 'tpl'].map((extension) => `**/templates/**/*.${extension}`);

/** The extensions of a template of a host: `.yaml.tera`, and `.tera.yaml` where the name of the language may stand inside. */
function extensions({ id, extension, infix = extension }, host) {
  const behind = host.extensions.map((of) => `.${of}.${extension}`);
  return id === 'helm' ? behind : [...behind, ...host.extensions.map((of) => `.${infix}.${of}`)];
}

/** The patterns by which names of YAML templates win over those of charts. */
function inCharts(names) {
  return names.filter((name) => /\.ya?ml$/.test(name)).map((name) => `**/templates/**/*${name}`);
}

function language(id, title, names, configuration, patterns) {
  const filenamePatterns = [...patterns, ...inCharts(names)];
  const found = filenamePatterns.length > 0 && { filenamePatterns };
  return { id, aliases: [title], extensions: names, ...found, configuration: `./languages/${configuration}.json` };
}

/** The selector of an injection everywhere but in `closed` scopes. */
function injection(scopeName, closed) {
  return `L:${scopeName}${closed.map((scope) => ` - ${scope}`).join('')}`;
}

/** The grammar of a template in text, or in a host. */
function template({ id, title, closed, repository }, host) {
  const scopeName = host ? `text.${id}.${host.id}` : `text.${id}`;
  if (!host) return { name: title, scopeName, patterns: [{ include: '#template' }], repository };
  return {
    name: `${title} in ${host.title}`,
    scopeName,
    injections: { [injection(scopeName, closed)]: { patterns: [{ include: `text.${id}#template` }] } },
    patterns: [{ include: host.scope }],
  };
}

/** The grammar of CEL in YAML: YAML with expressions and directives injected. */
function yamlGrammar({ id, title, closed, repository }) {
  const scopeName = `source.${id}`;
  const injections = { [injection(scopeName, closed)]: { patterns: [{ include: '#template' }] } };
  return { name: title, scopeName, injections, patterns: [{ include: YAML.scope }], repository };
}

function contributions() {
  const all = [];
  for (const of of [tera, helm, hcl, tower]) {
    const { id, title, extension } = of;
    const notes = id === 'helm' ? ['**/templates/NOTES.txt'] : [];
    all.push([language(id, title, [`.${extension}`], id, notes), template(of)]);
    for (const host of HOSTS) {
      const patterns = id === 'helm' && host === YAML ? CHART : [];
      const names = extensions(of, host);
      const hosted = language(`${id}-${host.id}`, `${title} (${host.title})`, names, id, patterns);
      all.push([hosted, template(of, host)]);
    }
  }
  const { id, title, repository } = cel;
  const expression = { name: title, scopeName: 'source.cel', patterns: [{ include: '#expression' }], repository };
  all.push([language(id, title, ['.cel'], id, []), expression]);
  all.push([language(celYaml.id, celYaml.title, ['.cel.yaml', '.cel.yml'], celYaml.id, []), yamlGrammar(celYaml)]);
  return all;
}

const all = contributions();
rmSync('syntaxes', { recursive: true, force: true });
mkdirSync('syntaxes');
writeFileSync('syntaxes/yaml.tmLanguage.json', JSON.stringify(yaml));
for (const [{ id }, grammar] of all) writeFileSync(`syntaxes/${id}.tmLanguage.json`, JSON.stringify(grammar));

const before = readFileSync('package.json', 'utf8');
const manifest = JSON.parse(before);
manifest.contributes.languages = all.map(([language]) => language);
const grammar = (id, { scopeName }) => ({ scopeName, path: `./syntaxes/${id}.tmLanguage.json` });
manifest.contributes.grammars = [
  grammar('yaml', yaml),
  ...all.map(([{ id }, of]) => ({ language: id, ...grammar(id, of) })),
];
const after = `${JSON.stringify(manifest, null, 2)}\n`;
if (after !== before) writeFileSync('package.json', after);
if (after !== before && process.argv.includes('--check')) {
  console.error('`package.json` was out of date: run `npm run build` and commit it');
  process.exit(1);
}
