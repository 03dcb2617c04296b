// Go templates with the functions of Helm. An action that is not closed ends before the next one.
export default {
  id: 'helm',
  title: 'Helm and Go templates',
  extension: 'gotmpl',
  closed: ['comment.block.helm', 'meta.tag.helm'],
  repository: {
    template: { patterns: [{ include: '#comment' }, { include: '#action' }] },
    comment: {
      name: 'comment.block.helm',
      begin: '\\{\\{(?:-\\s)?/\\*',
      end: '\\*/(?:\\s-)?\\}\\}',
    },
    action: {
      name: 'meta.tag.helm',
      begin: '\\{\\{(?:-(?=\\s))?',
      beginCaptures: { 0: { name: 'punctuation.section.embedded.begin.helm' } },
      end: '((?:(?<=\\s)-)?\\}\\})|(?=\\{\\{)',
      endCaptures: { 1: { name: 'punctuation.section.embedded.end.helm' } },
      patterns: [{ include: '#pipeline' }],
    },
    pipeline: {
      patterns: [
        {
          match: '\\b(define|block)\\s+("(?:[^"\\\\]|\\\\.)*")',
          captures: {
            1: { name: 'keyword.control.helm' },
            2: { name: 'entity.name.function.helm' },
          },
        },
        {
          name: 'string.quoted.double.helm',
          begin: '"',
          end: '"|$',
          patterns: [
            {
              name: 'constant.character.escape.helm',
              match: '\\\\(?:[abfnrtv\\\\"]|[0-7]{3}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})',
            },
            { name: 'invalid.illegal.escape.helm', match: '\\\\.' },
          ],
        },
        { name: 'string.quoted.raw.helm', begin: '`', end: '`' },
        { name: 'constant.character.helm', match: "'(?:[^'\\\\]|\\\\.[^']*)'" },
        {
          name: 'keyword.control.helm',
          match: '(?<![.$\\w])(?:if|else|end|with|range|break|continue|define|template|block)\\b',
        },
        { name: 'constant.language.helm', match: '(?<![.$\\w])(?:true|false|nil)\\b' },
        {
          name: 'constant.numeric.helm',
          match:
            '(?<![\\w.])[-+]?(?:0[xX][0-9A-Fa-f_]+|0[oO][0-7_]+|0[bB][01_]+' +
            '|(?:[0-9][0-9_]*(?:\\.[0-9_]*)?|\\.[0-9][0-9_]*)(?:[eE][-+]?[0-9_]+)?)i?\\b',
        },
        { name: 'variable.other.helm', match: '\\$\\w*' },
        {
          match: '(?<![\\w.)])(\\.)(Values|Release|Chart|Capabilities|Files|Template|Subcharts)\\b',
          captures: {
            1: { name: 'punctuation.accessor.helm' },
            2: { name: 'variable.language.helm' },
          },
        },
        {
          match: '(\\.)([\\p{L}_][\\p{L}\\p{N}_]*)',
          captures: {
            1: { name: 'punctuation.accessor.helm' },
            2: { name: 'variable.other.property.helm' },
          },
        },
        { name: 'variable.language.helm', match: '\\.' },
        { name: 'support.function.helm', match: '[\\p{L}_][\\p{L}\\p{N}_]*' },
        { name: 'keyword.operator.helm', match: ':=|=|\\|' },
        { name: 'punctuation.separator.helm', match: ',' },
        { name: 'punctuation.brackets.helm', match: '[()]' },
      ],
    },
  },
};
