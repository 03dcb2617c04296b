// HCL templates: text with `${ … }` and `%{ … }`. The brace that balances a sequence closes it. Strings hold sequences.
const sequence = (mark, first) => ({
  name: 'meta.sequence.hcl',
  begin: `${mark}\\{~?${first ? `\\s*(?:${first}\\b)?` : ''}`,
  beginCaptures: {
    0: { name: 'punctuation.section.embedded.begin.hcl' },
    1: { name: 'keyword.control.hcl' },
  },
  end: '(~?\\})|(?=[$%]\\{)',
  endCaptures: { 1: { name: 'punctuation.section.embedded.end.hcl' } },
  patterns: [{ include: '#expression' }],
});
const braces = (open, close) => ({
  begin: open,
  end: `${close}|(?=[$%]\\{)`,
  captures: { 0: { name: 'punctuation.brackets.hcl' } },
  patterns: [{ include: '#expression' }],
});

export default {
  id: 'hcl-template',
  title: 'HCL template',
  extension: 'tftpl',
  // `app.hcl.yaml` is a template, `main.hcl` a configuration.
  infix: 'hcl',
  closed: ['meta.sequence.hcl'],
  repository: {
    template: {
      patterns: [
        { name: 'constant.character.escape.hcl', match: '\\$\\$\\{|%%\\{' },
        sequence('\\$'),
        sequence('%', '(if|else|endif|for|endfor)'),
      ],
    },
    expression: {
      patterns: [
        {
          name: 'string.quoted.double.hcl',
          begin: '"',
          end: '"|$',
          patterns: [
            {
              name: 'constant.character.escape.hcl',
              match: '\\\\(?:[nrt"\\\\]|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8})',
            },
            { name: 'invalid.illegal.escape.hcl', match: '\\\\.' },
            { include: '#template' },
          ],
        },
        {
          name: 'string.unquoted.heredoc.hcl',
          begin: '<<-?([A-Za-z_][\\w-]*)\\s*$',
          end: '^\\s*(\\1)\\s*$',
          captures: { 1: { name: 'keyword.other.heredoc.hcl' } },
          patterns: [{ include: '#template' }],
        },
        { name: 'comment.line.hcl', match: '(?:#|//).*$' },
        { name: 'comment.block.hcl', begin: '/\\*', end: '\\*/' },
        { name: 'keyword.control.hcl', match: '(?<![.\\w-])(?:for|in|if|else|endif|endfor)(?![\\w-])' },
        { name: 'constant.language.hcl', match: '(?<![.\\w-])(?:true|false|null)(?![\\w-])' },
        { name: 'constant.numeric.hcl', match: '(?<![\\w-])[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?\\b' },
        { name: 'support.function.hcl', match: '[A-Za-z_][\\w-]*(?:::[A-Za-z_][\\w-]*)*(?=\\()' },
        { name: 'variable.other.property.hcl', match: '(?<=\\.)[A-Za-z_][\\w-]*' },
        { name: 'variable.other.hcl', match: '[A-Za-z_][\\w-]*' },
        { name: 'keyword.operator.hcl', match: '\\.\\.\\.|=>|==|!=|<=|>=|&&|\\|\\||[-+*/%<>=!?:]' },
        { name: 'punctuation.separator.hcl', match: '[.,]' },
        braces('\\{', '\\}'),
        braces('\\[', '\\]'),
        braces('\\(', '\\)'),
      ],
    },
  },
};
