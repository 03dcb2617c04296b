// Colours for JSON, YAML and Tera: a text as tokens, `[kind, text]`, in lines. Unknown text has the kind "".

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\n]|'')*'`;
const NUMBER = String.raw`-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b`;

/** Rules in order: a kind and its pattern. The first that matches at a place wins. */
const RULES = {
  json: rules([["key", String.raw`"(?:[^"\\\n]|\\.)*"(?=\s*:)`], ["string", STRING], ["number", NUMBER], ["word", String.raw`\b(?:true|false|null)\b`]]),
  yaml: rules([
    ["comment", String.raw`(?<=^|\s)#.*`],
    ["key", String.raw`(?<=^|[\s{,-])(?:"[^"\n]*"|'[^'\n]*'|[\w./$][\w./ $-]{0,60}?)(?=:(?:\s|$))`],
    ["string", STRING],
    ["mark", String.raw`^(?:---|\.\.\.)|(?<=\s)(?:[&*]\w+|!!?\w*|[|>][+-]?(?=\s*$))`],
    ["number", String.raw`(?<=[\s[,:])-?\d+(?:\.\d+)?(?=[\s,\]}]|$)`],
    ["word", String.raw`(?<=[\s[,:])(?:true|false|null|~)(?=[\s,\]}]|$)`],
  ]),
  inside: rules([
    ["mark", String.raw`\{\{-?|-?\}\}|\{%-?|-?%\}`],
    ["string", `${STRING}|\`[^\`]*\``],
    ["number", NUMBER],
    ["word", String.raw`\b(?:if|elif|else|endif|for|in|endfor|set|set_global|block|endblock|extends|include|import|as|macro|endmacro|filter|endfilter|raw|endraw|and|or|not|is|true|false)\b`],
    ["key", String.raw`(?<=\|\s*)\w+`],
  ]),
};

const CLOSING = { "{{": "}}", "{%": "%}", "{#": "#}" };

function rules(list) {
  return { kinds: list.map(([kind]) => kind), pattern: new RegExp(list.map(([, pattern]) => `(${pattern})`).join("|"), "gm") };
}

/** Adds the tokens of a text to `found`. */
function tokens(text, { kinds, pattern }, found = []) {
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > end) found.push(["", text.slice(end, match.index)]);
    found.push([kinds[match.slice(1).findIndex((group) => group !== undefined)], match[0]]);
    end = match.index + match[0].length;
  }
  found.push(["", text.slice(end)]);
  return found;
}

/** YAML with expressions, statements and comments in braces. */
function tera(text) {
  const found = [];
  const opening = /\{[{%#]/g;
  let end = 0;
  for (let match = opening.exec(text); match; match = opening.exec(text)) {
    const close = text.indexOf(CLOSING[match[0]], match.index + 2);
    if (close < 0) break;
    const inside = text.slice(match.index, close + 2);
    tokens(text.slice(end, match.index), RULES.yaml, found);
    if (match[0] === "{#") found.push(["comment", inside]);
    else tokens(inside, RULES.inside, found);
    end = close + 2;
    opening.lastIndex = end;
  }
  return tokens(text.slice(end), RULES.yaml, found);
}

/** The lines of a text, each a list of tokens. */
export function coloured(text, language) {
  const all = language === "tera" ? tera(text) : RULES[language] ? tokens(text, RULES[language]) : [["", text]];
  const lines = [[]];
  for (const [kind, part] of all) {
    for (const [index, piece] of part.split("\n").entries()) {
      if (index > 0) lines.push([]);
      if (piece) lines.at(-1).push([kind, piece]);
    }
  }
  return lines;
}
