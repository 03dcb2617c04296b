// Intents: `${params.x}`. Nothing escapes `${`, and nothing nests.
export default {
  id: 'tower',
  title: 'Intent',
  extension: 'tower',
  closed: ['meta.reference.tower'],
  repository: {
    template: {
      patterns: [
        {
          name: 'meta.reference.tower',
          match: '(\\$\\{)([a-z_][a-z0-9_]*)((?:\\.[a-z_][a-z0-9_]*)*)(\\})',
          captures: {
            1: { name: 'punctuation.section.embedded.begin.tower' },
            2: { name: 'variable.language.tower' },
            3: { name: 'variable.other.property.tower' },
            4: { name: 'punctuation.section.embedded.end.tower' },
          },
        },
        { name: 'invalid.illegal.reference.tower', match: '\\$\\{[^}\\s]*\\}?' },
      ],
    },
  },
};
