// Included by the tests of several crates, which name the types of diagnostics by different paths.

/// The maximum length of a source line to show.
const LINE: usize = 16_384;

/// Formats errors like the reference: the message, the source line, and a mark below the column.
pub fn excerpts(errors: &Diagnostics) -> String {
    let all: Vec<_> = errors.iter().map(excerpt).collect();
    all.join("\n")
}

fn excerpt(error: &Diagnostic) -> String {
    let Some(label) = error.primary() else { return format!("ERROR: {}", error.message) };
    let (at, name) = (label.position(), label.source.name());
    let mut text = format!("ERROR: {name}:{at}: {}", error.message);
    let line = label.source.line(at.line);
    if line.is_empty() || line.len() > LINE {
        return text;
    }
    let column = (at.column as usize).saturating_sub(1);
    let wide = |c: Option<char>| c.is_some_and(|c| c.len_utf8() > 1);
    let dots: String = line.chars().take(column).map(|c| if wide(Some(c)) { '．' } else { '.' }).collect();
    let mark = if wide(line.chars().nth(column)) { '＾' } else { '^' };
    text.push_str(&format!("\n | {}\n | {dots}{mark}", line.replace('\t', " ")));
    text
}
