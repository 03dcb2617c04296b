// Tera. Strings have no escapes. A tag that is not closed ends before the next tag, so that it colours nothing else.
const end = (mark) => `(-?${mark})|(?=\\{[{%#])`;
const marks = (inner) => ({ patterns: [{ include: '#expression' }], ...inner });
const string = (quote) => ({
  name: 'string.quoted.tera',
  begin: quote,
  end: quote,
});

export default {
  id: 'tera',
  title: 'Tera',
  extension: 'tera',
  // No tag begins inside these.
  closed: ['comment.block.tera', 'meta.tag.tera', 'meta.raw.tera'],
  repository: {
    template: { patterns: ['#comment', '#raw', '#statement', '#value'].map((include) => ({ include })) },
    comment: { name: 'comment.block.tera', begin: '\\{#-?', end: '#\\}' },
    raw: {
      name: 'meta.raw.tera',
      begin: '(\\{%-?)\\s*(raw)\\s*(-?%\\})',
      end: '(\\{%-?)\\s*(endraw)\\s*(-?%\\})',
      captures: {
        1: { name: 'punctuation.section.embedded.tera' },
        2: { name: 'keyword.control.tera' },
        3: { name: 'punctuation.section.embedded.tera' },
      },
    },
    statement: marks({
      name: 'meta.tag.tera',
      begin:
        '(\\{%-?)\\s*(?:(block|endblock|macro|endmacro)\\s+([A-Za-z_]\\w*)|(set|set_global)\\s+([A-Za-z_]\\w*)' +
        '|(if|elif|else|endif|for|endfor|break|continue|set|set_global|filter|endfilter|block|endblock|macro|endmacro' +
        '|include|extends|import)\\b|([A-Za-z_]\\w*))?',
      beginCaptures: {
        1: { name: 'punctuation.section.embedded.begin.tera' },
        2: { name: 'keyword.control.tera' },
        3: { name: 'entity.name.function.tera' },
        4: { name: 'keyword.control.tera' },
        5: { name: 'variable.other.assignment.tera' },
        6: { name: 'keyword.control.tera' },
        7: { name: 'invalid.illegal.tag.tera' },
      },
      end: end('%\\}'),
      endCaptures: { 1: { name: 'punctuation.section.embedded.end.tera' } },
    }),
    value: marks({
      name: 'meta.tag.tera',
      begin: '\\{\\{-?',
      beginCaptures: { 0: { name: 'punctuation.section.embedded.begin.tera' } },
      end: end('\\}\\}'),
      endCaptures: { 1: { name: 'punctuation.section.embedded.end.tera' } },
    }),
    expression: {
      patterns: [
        string('"'),
        string("'"),
        string('`'),
        {
          match: '(\\|)\\s*([A-Za-z_]\\w*)?',
          captures: {
            1: { name: 'keyword.operator.pipe.tera' },
            2: { name: 'support.function.filter.tera' },
          },
        },
        {
          match: '\\b(is)\\s+(?:(not)\\s+)?([A-Za-z_]\\w*)',
          captures: {
            1: { name: 'keyword.operator.word.tera' },
            2: { name: 'keyword.operator.word.tera' },
            3: { name: 'support.function.test.tera' },
          },
        },
        { name: 'keyword.other.tera', match: '\\bignore\\s+missing\\b' },
        { name: 'keyword.operator.word.tera', match: '\\b(?:and|or|not|in|is|as)\\b' },
        { name: 'constant.language.tera', match: '\\b(?:[Tt]rue|[Ff]alse)\\b' },
        { name: 'constant.numeric.tera', match: '(?<![\\w.])[0-9]+(?:\\.[0-9]+)?\\b' },
        {
          match: '\\b([A-Za-z_]\\w*)(::)([A-Za-z_]\\w*)',
          captures: {
            1: { name: 'entity.name.namespace.tera' },
            2: { name: 'punctuation.separator.namespace.tera' },
            3: { name: 'entity.name.function.tera' },
          },
        },
        { name: 'support.function.tera', match: '\\b[A-Za-z_]\\w*(?=\\()' },
        { name: 'variable.parameter.tera', match: '\\b[A-Za-z_]\\w*(?=\\s*=(?!=))' },
        { name: 'variable.language.tera', match: '\\b(?:loop|self|super|__tera_context)\\b' },
        { name: 'variable.other.property.tera', match: '(?<=\\.)[A-Za-z0-9_]+' },
        { name: 'variable.other.tera', match: '\\b[A-Za-z_]\\w*' },
        { name: 'keyword.operator.tera', match: '==|!=|<=|>=|[-+*/%~<>=]' },
        { name: 'punctuation.separator.tera', match: '[.,]' },
        { name: 'punctuation.brackets.tera', match: '[()\\[\\]]' },
      ],
    },
  },
};
