//! Strict CSV by RFC 4180.
//!
//! This is our own parser because the crate `csv` accepts stray quotes, which the reference refuses.

/// Parses records. Empty lines are skipped; all records must have as many fields as the first. A quoted field may contain
/// commas, line breaks, and doubled quotes.
///
/// # Errors
/// A message with the line number.
pub fn records(text: &str) -> Result<Vec<Vec<String>>, String> {
    let mut records: Vec<Vec<String>> = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n")) {
            (rest, line) = (behind, line + 1);
            continue;
        }
        let start = line;
        let mut record = Vec::new();
        loop {
            let (field, end) = field(&mut rest, &mut line)?;
            record.push(field);
            if end {
                break;
            }
        }
        if let Some(first) = records.first().filter(|first| first.len() != record.len()) {
            return Err(format!("line {start} has {} fields, not {} as the first", record.len(), first.len()));
        }
        records.push(record);
    }
    Ok(records)
}

/// Parses a field. Returns `true` if it is the last of its record.
fn field(rest: &mut &str, line: &mut usize) -> Result<(String, bool), String> {
    let Some(mut inside) = rest.strip_prefix('"') else { return plain(rest, line) };
    let (start, mut out) = (*line, String::new());
    loop {
        let (before, behind) =
            inside.split_once('"').ok_or_else(|| format!("the quotation mark in line {start} is not closed"))?;
        *line += before.matches('\n').count();
        out.push_str(&before.replace("\r\n", "\n"));
        let Some(more) = behind.strip_prefix('"') else {
            let end = after(behind, rest, line);
            return end
                .map(|end| (out, end))
                .ok_or_else(|| format!("something follows a quotation mark in line {line}"));
        };
        out.push('"');
        inside = more;
    }
}

fn plain(rest: &mut &str, line: &mut usize) -> Result<(String, bool), String> {
    let end = rest.find([',', '\n']).unwrap_or(rest.len());
    let (field, behind) = rest.split_at(end);
    let field = if behind.starts_with(',') { field } else { field.strip_suffix('\r').unwrap_or(field) };
    if field.contains('"') {
        return Err(format!("a quotation mark stands inside a field in line {line}"));
    }
    let end = after(behind, rest, line).unwrap_or(true);
    Ok((field.to_owned(), end))
}

/// Skips the end of a field. Returns `true` if the record ends, too, and `None` if something else follows.
fn after<'t>(behind: &'t str, rest: &mut &'t str, line: &mut usize) -> Option<bool> {
    if let Some(more) = behind.strip_prefix(',') {
        *rest = more;
        return Some(false);
    }
    if behind.is_empty() || behind == "\r" {
        *rest = "";
        return Some(true);
    }
    *rest = behind.strip_prefix('\n').or_else(|| behind.strip_prefix("\r\n"))?;
    *line += 1;
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::records;

    #[test]
    fn fields_with_and_without_quotation_marks() {
        let read = records("a,b\r\n\n\"x, \"\"y\"\"\r\nz\",\n,\"\"\n").unwrap();
        assert_eq!(read, [["a", "b"], ["x, \"y\"\nz", ""], ["", ""]]);
        assert_eq!(records("").unwrap(), Vec::<Vec<String>>::new());
        assert_eq!(records("a,").unwrap(), [["a", ""]]);
    }

    #[test]
    fn invalid_csv_is_refused() {
        for bad in ["a,b\n1", "a\"b", "\"a", "\"a\"b", "\"a\" ,b"] {
            assert!(records(bad).is_err(), "{bad}");
        }
    }
}
