//! Looks up words in the text of a document without reading all of it.

/// Returns the text at a dotted `path` of a YAML document. `None` says nothing: a full reader has to look.
///
/// Only the usual notation is known: block maps with plain keys, and a value that is one plain or quoted word. The
/// document has to be valid.
///
/// ```
/// use dropforge::value::word_at;
/// let document = "kind: Service\nmetadata:\n  labels: {a: b}\n  name: web\n";
/// assert_eq!(word_at(document, "metadata.name"), Some("web"));
/// assert_eq!(word_at(document, "metadata.labels.a"), None);
/// ```
pub fn word_at<'t>(document: &'t str, path: &str) -> Option<&'t str> {
    let (mut rest, mut parent) = (document, None);
    let mut keys = path.split('.').peekable();
    while let Some(key) = keys.next() {
        let entry = entry(rest, parent, key)?;
        if keys.peek().is_none() {
            return word(entry);
        }
        let (column, value, below) = entry;
        if !without_comment(value).is_empty() {
            return None;
        }
        (rest, parent) = (below, Some(column));
    }
    None
}

/// An entry of a block map: its column, the rest of its line, and the lines below.
type KeyLine<'t> = (usize, &'t str, &'t str);

/// Returns the entry `key` of the map that begins in `text`, deeper than the column `parent`.
fn entry<'t>(text: &'t str, parent: Option<usize>, key: &str) -> Option<KeyLine<'t>> {
    let (mut rest, mut column) = (text, None);
    while !rest.is_empty() {
        let (line, behind) = first_line(rest);
        rest = behind;
        let indent = line.bytes().take_while(|byte| *byte == b' ').count();
        let content = line.get(indent..).unwrap_or("");
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if column.is_none() && (parent.is_some_and(|parent| indent <= parent) || !begins_with_key(content)) {
            return None;
        }
        let own = *column.get_or_insert(indent);
        if indent < own || content.starts_with('\t') {
            return None;
        }
        let value = content.strip_prefix(key).and_then(|rest| rest.strip_prefix(':'));
        if let Some(value) = value.filter(|value| indent == own && (value.is_empty() || value.starts_with(' '))) {
            return Some((own, value, rest));
        }
    }
    None
}

/// Splits off the first line, without its end.
fn first_line(text: &str) -> (&str, &str) {
    let (line, rest) = match memchr::memchr(b'\n', text.as_bytes()) {
        Some(end) => (text.get(..end).unwrap_or(""), text.get(end + 1..).unwrap_or("")),
        None => (text, ""),
    };
    (line.strip_suffix('\r').unwrap_or(line), rest)
}

/// Returns `true` if the line begins with a plain key.
fn begins_with_key(line: &str) -> bool {
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-');
    let (key, rest) = line.as_bytes().split_at(line.bytes().take_while(is_key).count());
    key.first().is_some_and(u8::is_ascii_alphanumeric) && matches!(rest, [b':'] | [b':', b' ', ..])
}

/// Returns the value of an entry if it is one word.
fn word<'t>((column, value, below): KeyLine<'t>) -> Option<&'t str> {
    let value = without_comment(value);
    let quoted = ['"', '\''].into_iter().find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
    let word = quoted.unwrap_or(value);
    let is_word = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-'));
    let is_text = word.starts_with(|c: char| c.is_ascii_alphabetic())
        && !["null", "true", "false"].iter().any(|other| word.eq_ignore_ascii_case(other));
    if !is_word || !(is_text || (quoted.is_some() && !word.is_empty())) {
        return None;
    }
    (quoted.is_some() || !goes_on(column, below)).then_some(word)
}

/// Returns `true` if lines below may belong to the value.
fn goes_on(parent: usize, below: &str) -> bool {
    let mut column = 0;
    for byte in below.bytes() {
        match byte {
            b' ' | b'\t' => column += 1,
            b'\n' | b'\r' => column = 0,
            _ => return column > parent,
        }
    }
    false
}

/// Returns the rest of a line without spaces around it and a comment.
fn without_comment(value: &str) -> &str {
    let bytes = value.as_bytes();
    let is_comment =
        |at: &usize| at.checked_sub(1).is_none_or(|before| matches!(bytes.get(before), Some(b' ' | b'\t')));
    let end = memchr::memchr_iter(b'#', bytes).find(is_comment).unwrap_or(bytes.len());
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let (start, value) = (value.bytes().take_while(is_space).count(), value.get(..end).unwrap_or(""));
    let behind = value.bytes().rev().take_while(is_space).count();
    value.get(start..value.len() - behind).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_block_maps() {
        let text = "# c\n\nkind: Pod # c\r\nmetadata: # c\n  annotations:\n    name: no\n    text: |\n      name: no\n  name: \"web-1\"\nspec:\n- name: a\n  kind: b\n";
        assert_eq!(word_at(text, "kind"), Some("Pod"));
        assert_eq!(word_at(text, "metadata.name"), Some("web-1"));
        assert_eq!(word_at(text, "metadata.annotations.name"), Some("no"));
        for path in ["metadata", "metadata.kind", "spec.name", "kind.a", "absent", "metadata.annotations.text"] {
            assert_eq!(word_at(text, path), None, "{path}");
        }
    }

    #[test]
    fn everything_else_is_left_to_a_reader() {
        let texts = [
            "{kind: Pod}",
            "- kind: Pod\n",
            "kind: two words\n",
            "kind: Pod\n  more\n",
            "kind: Pod\n\n  more\n",
            "kind: 012\n",
            "kind: null\n",
            "kind: True\n",
            "kind: &a Pod\n",
            "kind: !!str Pod\n",
            "kind: |\n  Pod\n",
            "kind:\n  Pod\n",
            "kind: \"Po\\u0064\"\n",
            "kind: 'a''b'\n",
            "kind: \"\"\n",
            "kind:\n",
            "? kind\n: Pod\n",
            "\"kind\": Pod\n",
            "kind : Pod\n",
            "--- \nkind: Pod\n",
            "a: 1\n  kind: Pod\n",
        ];
        for text in texts {
            assert_eq!(word_at(text, "kind"), None, "{text}");
        }
        assert_eq!(word_at("a:\nkind: '012'\n", "kind"), Some("012"));
        assert_eq!(word_at("a: 1\nb:\n\tkind: x\n", "b.kind"), None);
        assert_eq!(word_at("", "kind"), None);
    }

    #[test]
    fn a_reader_finds_the_same() {
        let text = "kind: A\nm:\n  a:\n  - x: 1\n  b: c\nn:\n- m: 1\no: {m: 2}\n";
        let source = dropforge_base::text::Source::new("t", text);
        let data = crate::yaml::read_data(&source, &dropforge_base::limits::Limits::default()).unwrap();
        for path in ["kind", "m", "m.a", "m.b", "n", "n.m", "o", "o.m"] {
            let found = data.at_path(path).and_then(crate::Data::as_str);
            assert!(word_at(text, path).is_none() || word_at(text, path) == found, "{path}");
        }
        assert_eq!(word_at(text, "m.b"), Some("c"));
    }
}
