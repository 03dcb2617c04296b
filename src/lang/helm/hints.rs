//! The likely fix for an error, by the message of Go.

/// Returns the fix for an error when a template runs.
pub(crate) fn of(message: &str) -> Option<String> {
    if let Some((name, counts)) =
        message.strip_prefix("wrong number of args for ").and_then(|rest| rest.split_once(": want "))
    {
        return Some(arguments(name, counts));
    }
    if let Some((_, types)) = message.split_once(": incompatible types for comparison: ") {
        return Some(comparison(types));
    }
    if let Some((_, index)) = message.split_once("index out of range: ") {
        return Some(format!("test the length first: `{{{{ if gt (len …) {index} }}}}`"));
    }
    if message.ends_with("invalid type for comparison") {
        return Some("compare numbers or texts; `deepEqual` compares lists and maps".to_owned());
    }
    if message.ends_with(" is not a method but has arguments") {
        return Some("a function stands before its arguments: `eq A B`, `and A B`, `default \"x\" A`".to_owned());
    }
    let missing = message.split_once("template: no template ").map(|(_, rest)| rest);
    let missing = missing.or_else(|| message.strip_prefix("template ").filter(|rest| rest.ends_with(" not defined")));
    missing.map(|rest| template(rest.split('"').nth(1).unwrap_or("name")))
}

/// Returns the fix for arguments of a wrong type: what was wanted and what was found.
pub(crate) fn argument(wanted: &str, found: Option<&str>) -> String {
    match (wanted, found) {
        (_, None) => "give it a value, or write `default` before it".to_owned(),
        ("string", _) => "`toString` makes a text of a value, and `toYaml` or `toJson` of a list or a map".to_owned(),
        ("int" | "int64" | "float64", Some("string")) => {
            "`int`, `int64` and `float64` make a number of a text".to_owned()
        }
        (wanted, Some(found)) if wanted.starts_with("[]") => format!("give a list in place of the {}", kind(found)),
        (wanted, Some(found)) if wanted.starts_with("map[") => format!("give a map in place of the {}", kind(found)),
        (wanted, Some(found)) => format!("give a {} in place of the {}", kind(wanted), kind(found)),
    }
}

/// Returns the name of a type of Go in plain words.
fn kind(ty: &str) -> &str {
    match ty {
        "int" | "int64" | "float64" | "uint32" => "number",
        "bool" => "boolean",
        _ if ty.starts_with("[]") => "list",
        _ if ty.starts_with("map[") => "map",
        _ => ty,
    }
}

fn arguments(name: &str, counts: &str) -> String {
    if name == "include" {
        return "write `include \"name\" .`: the last argument is the `.` of that template".to_owned();
    }
    let wanted = counts.split(" got ").next().unwrap_or("");
    let plural = if wanted == "1" { "" } else { "s" };
    format!("give `{name}` {wanted} argument{plural}, separated by spaces; what is before `|` is the last one")
}

fn comparison(types: &str) -> String {
    match types.split_once(" and ") {
        Some((a, b)) if (a == "string") != (b == "string") => {
            "convert one of them: `int` makes a number of a text, and `toString` a text of a number".to_owned()
        }
        _ => "convert one of them, with `int`, `float64` or `toString`".to_owned(),
    }
}

fn template(name: &str) -> String {
    if name.contains('/') || [".tpl", ".yaml", ".yml", ".txt"].iter().any(|end| name.ends_with(end)) {
        return "write the name that a `define` gives, not that of a file".to_owned();
    }
    format!("define it: `{{{{ define \"{name}\" }}}}` … `{{{{ end }}}}`, for example in `templates/_helpers.tpl`")
}

/// What other languages name, and what Go's templates have in its place.
const NAMES: &[(&[&str], &str)] = &[
    (&["elif", "elseif", "elsif"], "write `{{ else if … }}`"),
    (&["endif", "endfor", "endrange", "endwith", "fi", "done", "endblock", "enddefine"], "write `{{ end }}`"),
    (&["for", "foreach", "each", "while"], "write `{{ range … }}` … `{{ end }}`"),
    (&["set", "let", "var"], "write `{{ $name := … }}`"),
    (&["macro"], "write `{{ define \"name\" }}` … `{{ end }}`"),
    (&["import", "extends", "render"], "write `{{ include \"name\" . }}` for what a `define` names"),
    (&["switch", "case", "unless"], "write `{{ if … }}` … `{{ else if … }}` … `{{ end }}`"),
    (&["null", "None", "none", "undefined"], "write `nil`"),
    (&["True"], "write `true`"),
    (&["False"], "write `false`"),
    (&["length", "size"], "write `len`"),
    (&["equals", "is"], "write `eq A B`"),
    (&["uppercase"], "write `upper`"),
    (&["lowercase"], "write `lower`"),
    (&["to_yaml", "toyaml"], "write `toYaml`"),
    (&["to_json", "tojson"], "write `toJson`"),
    (&["escape", "e"], "write `quote`"),
    (&["this", "self"], "write `.`"),
];

/// The objects that templates of charts have below `.`.
pub(crate) const OBJECTS: [&str; 7] = ["Capabilities", "Chart", "Files", "Release", "Subcharts", "Template", "Values"];

/// Returns the fix for an unknown function `name` in a file.
fn function(name: &str, source: &str) -> Option<String> {
    if let Some((_, hint)) = NAMES.iter().find(|(names, _)| names.contains(&name)) {
        return Some((*hint).to_owned());
    }
    if OBJECTS.contains(&name) {
        return Some(format!("write `.{name}`"));
    }
    let of_tera = source.contains("{% ").then_some(" (and `{{ if … }}`, `{{ range … }}` for tags in `{% … %}`)");
    Some(format!("write `.Values.{name}` for a value{}, or `\"{name}\"` for a text", of_tera.unwrap_or("")))
}

/// Returns `true` for a name that has a better fix than a function with a similar name.
pub(crate) fn is_habit(name: &str) -> bool {
    OBJECTS.contains(&name) || NAMES.iter().any(|(names, _)| names.contains(&name))
}

/// Returns the fix for a syntax error with this message at `at` of a file.
pub(crate) fn syntax(message: &str, source: &str, at: usize) -> Option<String> {
    let (before, rest) = source.split_at_checked(at)?;
    if let Some(name) = message.strip_prefix("function ").and_then(|rest| rest.split('"').nth(1)) {
        return function(name, source);
    }
    if let Some(name) = message.strip_prefix("undefined variable").and_then(|rest| rest.split('$').nth(1)) {
        return Some(variable(name.trim_end_matches('"'), source));
    }
    unfinished(message).or_else(|| operator(message, before, rest))
}

/// Returns the fix for what has no end, or ends without a beginning.
fn unfinished(message: &str) -> Option<String> {
    let hint = match message {
        "unclosed comment" | "comment ends before closing delimiter" => "close the comment with `*/}}`",
        "unexpected right paren" => "remove it, or add the `(` that it closes",
        "unterminated quoted string" => "add the closing \"",
        "unterminated raw quoted string" => "add the closing `",
        "unterminated character constant" => "write texts in double quotes",
        _ if message.starts_with("malformed character constant") => "write texts in double quotes",
        _ if message.starts_with("unexpected {{end}}") => {
            "remove it, or add the `{{ if … }}`, `{{ range … }}` or `{{ with … }}` that it ends"
        }
        "expected end; found {{else}}" => "remove it: a block has one `{{ else }}`, after each `{{ else if … }}`",
        "unexpected <define> in command" => {
            "move it out of the block around it: templates are defined at the top level of a file"
        }
        _ if message.starts_with("unexpected {{else}}") => "remove it, or add the `{{ if … }}` before it",
        _ if message.starts_with("{{break}} outside") || message.starts_with("{{continue}} outside") => {
            "it belongs between `{{ range … }}` and `{{ end }}`"
        }
        _ if message.starts_with("missing value for ") => "write a value, such as `.Values.name`, after the word",
        _ if message.starts_with("non executable command in pipeline") => "write a function after `|`, such as `quote`",
        _ => return None,
    };
    Some(hint.to_owned())
}

/// The operators of other languages, each with the function in its place.
const OPERATORS: &[(&str, &str)] = &[
    ("/*", "a comment begins right after the braces: `{{/* … */}}`"),
    ("==", "a function compares: write `eq A B`"),
    ("!=", "a function compares: write `ne A B`"),
    ("<=", "a function compares: write `le A B`"),
    (">=", "a function compares: write `ge A B`"),
    ("&&", "write `and A B`"),
    ("||", "write `or A B`"),
    ("=", "write `eq A B` to compare, and `$name := value` to declare a variable"),
    ("!", "write `not A`"),
    ("<", "a function compares: write `lt A B`"),
    (">", "a function compares: write `gt A B`"),
    ("+", "a function adds: write `add A B`"),
    ("-", "a function subtracts: write `sub A B`"),
    ("*", "a function multiplies: write `mul A B`"),
    ("/", "a function divides: write `div A B`"),
    ("%", "write `mod A B`"),
    ("?", "write `ternary A B CONDITION`, or `{{ if … }}`"),
    ("[", "write `index LIST 0`, and `list A B` for a list"),
    ("{", "there are no braces in an action: write `dict \"key\" value` for a map"),
    ("}", "an action ends with `}}`"),
    (",", "arguments are separated by spaces: `default \"x\" .Values.name`"),
    (":", "write `$name := value` to declare a variable"),
];

/// Returns the fix for an operator, and for the parentheses of a call.
fn operator(message: &str, before: &str, rest: &str) -> Option<String> {
    let call = "arguments are separated by spaces, without parentheses: `default \"x\" .Values.name`";
    if message.starts_with("unexpected \"(\" in operand") {
        return Some(call.to_owned());
    }
    if let Some(character) = message.strip_prefix("bad character U+") {
        let word_end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.')).unwrap_or(rest.len());
        return match character.get(..4)? {
            "002D" => Some(hyphen(rest.get(..word_end)?, rest.get(word_end..)?)),
            "003D" if before.ends_with('(') => Some(call.to_owned()),
            "0028" => Some(call.to_owned()),
            _ => operator("unexpected", before, rest.get(word_end..)?),
        };
    }
    let applies = message.starts_with("unexpected ")
        || message.starts_with("illegal number syntax")
        || message.starts_with("expected :=")
        || message == "unexpected"
        || message.starts_with("missing command")
        || message.starts_with("bad number syntax");
    let is_declared = !message.starts_with("expected :=") || rest.starts_with([':', '=']);
    let found = OPERATORS.iter().find(|(operator, _)| rest.starts_with(operator)).filter(|_| applies && is_declared);
    found.map(|(_, hint)| (*hint).to_owned())
}

/// Returns the expression for a path with a `-` in a name: `.Values` is before it, and `my-app.name` in it.
fn hyphen(before: &str, behind: &str) -> String {
    let end = behind.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '-')).unwrap_or(behind.len());
    let path = format!("{before}{}", behind.get(..end).unwrap_or(""));
    let names: Vec<String> =
        path.split('.').filter(|name| !name.is_empty()).map(|name| format!("\"{name}\"")).collect();
    format!("`-` cannot be in a field: write `index` with the names, such as `index .Values {}`", names.join(" "))
}

/// Returns the fix for the unknown variable `$name`.
fn variable(name: &str, source: &str) -> String {
    let declared = source.match_indices(":=").filter_map(|(at, _)| {
        let before = source.get(..at)?.trim_end();
        before.get(before.rfind('$')? + 1..).filter(|name| name.chars().all(|c| c == '_' || c.is_alphanumeric()))
    });
    match dropforge_base::diagnostics::nearest(name, declared) {
        Some(near) if near != name => format!("did you mean `${near}`?"),
        Some(_) => format!(
            "`${name}` exists only in the block that declares it: declare it before the block, and write `${name} = …` in it"
        ),
        None => format!("declare it before: `{{{{ ${name} := … }}}}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_go_have_a_fix() {
        for (message, hint) in [
            ("wrong number of args for include: want 2 got 1", "include \"name\" ."),
            ("wrong number of args for replace: want 3 got 2", "give `replace` 3 arguments"),
            ("error calling eq: incompatible types for comparison: string and int", "`toString`"),
            ("error calling index: index out of range: 3", "gt (len …) 3"),
            ("template \"a\" not defined", "`{{ define \"a\" }}`"),
            (
                "error calling include: template: no template \"_a.tpl\" associated with template \"gotpl\"",
                "not that of a file",
            ),
        ] {
            assert!(of(message).is_some_and(|found| found.contains(hint)), "{message}: {:?}", of(message));
        }
        assert_eq!(of("nil pointer evaluating interface {}.a"), None);
    }
}
