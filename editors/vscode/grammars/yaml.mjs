// YAML as the host of templates. The editor's own grammar checks indentation and calls lines beside tags invalid.
const SCALAR = '(?<![^\\s{\\[,])';
// Also right behind a tag.
const AFTER = '(?<![^\\s{}\\[,])';
const END = '(?=\\s*(?:$|[,}\\]])|\\s#)';

export default {
  name: 'YAML with templates',
  scopeName: 'source.yaml.template',
  patterns: [
    { name: 'comment.line.yaml', begin: '(?:^|(?<=\\s))#', end: '$' },
    { name: 'entity.other.document.yaml', match: '^(?:---|\\.\\.\\.)(?=\\s|$)' },
    {
      name: 'entity.name.tag.yaml',
      match: `${AFTER}(?:"[^"\\\\{}$%]*"|'[^'{}$%]*'|[^\\s"'#&*!|>@\`{}\\[\\],:?-][^{}\\[\\],:#]*?|-[^\\s{}\\[\\],:#]*)(?=\\s*:(?:\\s|$))`,
    },
    {
      name: 'string.quoted.double.yaml',
      begin: `${SCALAR}"`,
      end: '"',
      patterns: [{ name: 'constant.character.escape.yaml', match: '\\\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.|$)' }],
    },
    {
      name: 'string.quoted.single.yaml',
      begin: `${SCALAR}'`,
      end: "'(?!')",
      patterns: [{ name: 'constant.character.escape.yaml', match: "''" }],
    },
    { name: 'keyword.control.block-scalar.yaml', match: `${SCALAR}[|>][-+0-9]{0,2}(?=\\s*(?:$|#))` },
    { name: 'constant.language.yaml', match: `${SCALAR}(?:true|false|null|~)${END}` },
    { name: 'constant.numeric.yaml', match: `${AFTER}[-+]?[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?${END}` },
    { name: 'variable.other.alias.yaml', match: `${SCALAR}[&*][^\\s,{}\\[\\]]+` },
    { name: 'storage.type.tag.yaml', match: `${SCALAR}![^\\s,{}\\[\\]]*` },
    { name: 'punctuation.separator.yaml', match: '[,{}\\[\\]]|:(?=\\s|$)|-(?=\\s)' },
  ],
};
