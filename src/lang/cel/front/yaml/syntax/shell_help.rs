//! Help for parameter expansions of shells, such as `${PORT:-8080}`, in documents whose `${…}` are expressions.

use dropforge_base::diagnostics::{Diagnostic, Expansion, Operation};

/// Adds the expression for a parameter expansion to a syntax error at it.
pub(super) fn add(error: &mut Diagnostic) {
    let Some(label) = error.labels.first_mut() else { return };
    let source = label.source.clone();
    let Some(found) = Expansion::before(&source, label.span.start) else { return };
    if found.span.end <= label.span.start {
        label.span = found.span;
    }
    error.help = Some(format!("`{}` is an expansion of a shell; {}", source.slice(found.span), instead(&found)));
}

/// Says what to write instead of an expansion.
fn instead(Expansion { name, operation, .. }: &Expansion<'_>) -> String {
    match *operation {
        Operation::Default(value) => format!("write `${{has({name}) ? {name} : {value:?}}}`"),
        Operation::Alternative(value) => format!("write `${{has({name}) ? {value:?} : \"\"}}`"),
        Operation::Required => format!("write `${{{name}}}`: a value that is missing is an error"),
        Operation::Length => format!("write `${{size({name})}}`"),
        Operation::WithoutSuffix(pattern) => match pattern.strip_suffix('*') {
            Some(mark) if !mark.is_empty() => {
                format!("write `${{{name}.substring(0, {name}.lastIndexOf({mark:?}))}}`")
            }
            _ => format!("write `${{{name}.replace({pattern:?}, \"\")}}`"),
        },
        Operation::WithoutPrefix(pattern) => match pattern.strip_prefix('*') {
            Some(mark) if !mark.is_empty() => {
                format!("write `${{{name}.substring({name}.indexOf({mark:?}) + {})}}`", mark.chars().count())
            }
            _ => format!("write `${{{name}.replace({pattern:?}, \"\")}}`"),
        },
        Operation::Slice(from, None) => format!("write `${{{name}.substring({from})}}`"),
        Operation::Slice(from, Some(count)) => format!("write `${{{name}.substring({from}, {from} + {count})}}`"),
        Operation::Upper => format!("write `${{{name}.upperAscii()}}`"),
        Operation::Lower => format!("write `${{{name}.lowerAscii()}}`"),
    }
}
