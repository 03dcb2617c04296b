// CEL. `embedded` is for `${ … }` in YAML, where `\"` may open a string.
const ESCAPE =
  '\\\\(?:[abfnrtv\\\\?"\'`]|[0-3][0-7]{2}|[xX][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})';
const string = (prefix, begin, end, patterns) => ({
  name: 'string.quoted.cel',
  begin: prefix + begin,
  end,
  patterns,
});
const escapes = [
  { name: 'constant.character.escape.cel', match: ESCAPE },
  { name: 'invalid.illegal.escape.cel', match: '\\\\.' },
];
// One quote closes on its line, three may span lines.
const strings = [
  ...['"""', "'''"].map((quotes) => string('\\b(?:[bB]?[rR])', quotes, quotes, [])),
  ...['"""', "'''"].map((quotes) => string('(?:\\b[bB])?', quotes, quotes, escapes)),
  ...['"', "'"].map((quote) => string('\\b(?:[bB]?[rR])', quote, `${quote}|$`, [])),
  ...['"', "'"].map((quote) => string('(?:\\b[bB])?', quote, `${quote}|$`, escapes)),
];
const braces = (open, close) => ({
  begin: open,
  end: close,
  captures: { 0: { name: 'punctuation.brackets.cel' } },
  patterns: [{ include: '#expression' }],
});

export const repository = {
  expression: {
    patterns: [
      { name: 'comment.line.cel', match: '//.*$' },
      string('', '\\\\"', '\\\\"|$', []),
      ...strings,
      { name: 'constant.language.cel', match: '(?<![.\\w])(?:true|false|null)\\b' },
      {
        name: 'constant.numeric.cel',
        match: '(?<![\\w.])(?:0x[0-9A-Fa-f]+[uU]?|[0-9]*\\.?[0-9]+(?:[eE][-+]?[0-9]+)?[uU]?)\\b',
      },
      { name: 'keyword.operator.word.cel', match: '(?<![.\\w])in\\b' },
      {
        name: 'keyword.control.macro.cel',
        match:
          '\\b(?:has|all|exists|exists_one|existsOne|filter|map|transformList|transformMap|transformMapEntry|optMap' +
          '|optFlatMap|bind)(?=\\()',
      },
      { name: 'support.function.cel', match: '\\b[A-Za-z_]\\w*(?=\\()' },
      { name: 'variable.other.property.cel', match: '(?<=\\.|\\.\\?)(?:[A-Za-z_]\\w*|`[\\w. /-]+`)' },
      { name: 'variable.other.cel', match: '\\b[A-Za-z_]\\w*' },
      { name: 'keyword.operator.cel', match: '\\|\\||&&|==|!=|<=|>=|[-+*/%<>!?:]' },
      { name: 'punctuation.separator.cel', match: '[.,]' },
      braces('\\{', '\\}'),
      braces('\\[', '\\]'),
      braces('\\(', '\\)'),
    ],
  },
};

export default { id: 'cel', title: 'CEL', extension: 'cel', repository };
