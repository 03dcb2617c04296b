// CEL in YAML: directives are keys, `${ … }` holds an expression, and `$if`, `$assert` and `$for` hold bare ones.
import { repository } from './cel.mjs';

const DIRECTIVE = 'schema|let|assert|msg|if|then|else|for|do|include|with';
const KEY = '(?:^|(?<=[\\s{,\\[-]))';
const bare = (quote, end, own = []) => ({
  begin: `${KEY}(["']?\\$(?:if|assert|for)["']?)\\s*(:)\\s*${quote}`,
  beginCaptures: { 1: { name: 'keyword.control.directive.cel-yaml' }, 2: { name: 'punctuation.separator.key.cel-yaml' } },
  end,
  contentName: 'meta.embedded.cel',
  patterns: [...own, { include: '#expression' }],
});

export default {
  id: 'cel-yaml',
  title: 'CEL in YAML',
  closed: ['comment', 'meta.embedded.cel', 'meta.tag.cel-yaml'],
  repository: {
    ...repository,
    template: {
      patterns: [
        bare('"', '"'),
        // A doubled quote is a quote of the expression.
        bare("'", "'(?!')", [{ name: 'string.quoted.cel', begin: "''", end: "''" }]),
        // A plain scalar: a comma or bracket that nothing opened ends it in a flow collection.
        bare('(?=[^\\s"\'|>&*!#{\\[])', '$|(?=\\s#)|(?=[,}\\]])'),
        {
          name: 'keyword.control.directive.cel-yaml',
          match: `${KEY}["']?\\$(?:${DIRECTIVE})["']?(?=\\s*:(?:\\s|$))`,
        },
        { name: 'constant.character.escape.cel-yaml', match: `\\$\\$\\{|${KEY}\\$\\$(?=\\w)` },
        {
          name: 'meta.tag.cel-yaml',
          begin: '\\$\\{',
          beginCaptures: { 0: { name: 'punctuation.section.embedded.begin.cel-yaml' } },
          end: '\\}|(?=\\$\\{)',
          endCaptures: { 0: { name: 'punctuation.section.embedded.end.cel-yaml' } },
          contentName: 'meta.embedded.cel',
          patterns: [{ include: '#expression' }],
        },
      ],
    },
  },
};
