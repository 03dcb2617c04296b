//! `dropforge functions`: the functions, filters and tests of the template languages.

use crate::exit::{Exit, Failed};
use crate::options::Languages;
use crate::output::{print, wrapped};
use clap::Args;
use dropforge::bytecode::ImportKind;
use dropforge::diagnostics::{Code, Diagnostic};
use dropforge::dialect::tera::builtins as tera;
use dropforge::engine::{Dialect, Engine};
use dropforge::function::{Assigned, Builtin, Default, HostParams, Overload, Param, Params, Positional, ResultType};
use dropforge::value::Type;
use serde_json::{Value, json};

/// List the functions, filters and tests of the languages
///
///     dropforge functions --lang tera
///     dropforge functions to_yaml
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct FunctionsArgs {
    /// Document all functions, filters and tests of this name
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// List those of one language
    #[arg(long, value_name = "LANG", value_parser = Languages(&Dialect::ALL))]
    lang: Option<Dialect>,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    /// Print the page of the documentation: all functions, as Markdown
    #[arg(long, conflicts_with_all = ["name", "lang", "json"])]
    markdown: bool,
}

/// Runs the command.
pub(crate) fn run(args: &FunctionsArgs) -> Result<Exit, Failed> {
    let engine = Engine::new();
    if args.markdown {
        print(markdown(&all(&engine, args.lang)))?;
        return Ok(Exit::Ok);
    }
    let found = named(&engine, args.lang, args.name.as_deref())?;
    print(match args.json {
        true => format!("{:#}\n", found.iter().map(|(lang, builtin)| to_json(*lang, builtin)).collect::<Value>()),
        false => text_of(&found, args.name.is_some()),
    })?;
    Ok(Exit::Ok)
}

/// Returns a list of the functions of a language, or the documentation of those with a name.
///
/// # Errors
/// `usage` for an unknown name.
#[cfg(feature = "console")]
pub(crate) fn text(lang: Dialect, name: Option<&str>) -> Result<String, Box<Diagnostic>> {
    let engine = Engine::new();
    Ok(text_of(&named(&engine, Some(lang), name)?, name.is_some()))
}

fn text_of(found: &[(Dialect, &Builtin)], documents: bool) -> String {
    match documents {
        true => pages_of(found),
        false => found.iter().map(|(lang, builtin)| line(*lang, builtin)).collect(),
    }
}

/// Returns all functions, or those with a name.
///
/// # Errors
/// `usage` for an unknown name.
fn named<'e>(
    engine: &'e Engine,
    lang: Option<Dialect>,
    name: Option<&str>,
) -> Result<Vec<(Dialect, &'e Builtin)>, Box<Diagnostic>> {
    let mut found = all(engine, lang);
    let Some(name) = name else { return Ok(found) };
    if !found.iter().any(|(_, builtin)| builtin.name == name) {
        return Err(unknown(name, &found));
    }
    found.retain(|(_, builtin)| builtin.name == name);
    Ok(found)
}

/// Returns the functions of one or all languages. Those of `cel-yaml` are those of `cel`, and `tower` has none.
pub(crate) fn all(engine: &Engine, lang: Option<Dialect>) -> Vec<(Dialect, &Builtin)> {
    let langs = match lang {
        Some(lang) => vec![lang],
        None => vec![Dialect::Tera, Dialect::Helm, Dialect::Hcl, Dialect::Cel],
    };
    let of = |lang: Dialect| {
        let marks = if lang == Dialect::Tera { tera::marks() } else { &[] };
        let listed = engine.registry(lang).iter().map(|builtin| &**builtin).chain(marks);
        let mut listed: Vec<_> = listed.filter(|builtin| ImportKind::FUNCTIONS.contains(&builtin.kind)).collect();
        listed.sort_unstable_by_key(|builtin| (builtin.kind, &builtin.name));
        listed.into_iter().map(move |builtin| (lang, builtin))
    };
    langs.into_iter().flat_map(of).collect()
}

/// Returns the documentation of all functions, filters and tests of a name.
pub(crate) fn pages(name: &str) -> Option<String> {
    let engine = Engine::new();
    let found: Vec<_> = all(&engine, None).into_iter().filter(|(_, builtin)| builtin.name == name).collect();
    (!found.is_empty()).then(|| pages_of(&found))
}

/// Returns the names of all functions, filters and tests.
pub(crate) fn names() -> Vec<String> {
    let engine = Engine::new();
    all(&engine, None).into_iter().map(|(_, builtin)| builtin.name.to_string()).collect()
}

fn pages_of(found: &[(Dialect, &Builtin)]) -> String {
    found.iter().map(|(lang, builtin)| page(*lang, builtin)).collect::<Vec<_>>().join("\n")
}

fn unknown(name: &str, all: &[(Dialect, &Builtin)]) -> Box<Diagnostic> {
    let names = || all.iter().map(|(_, builtin)| &*builtin.name);
    let error = Diagnostic::new(Code::Usage, format!("there is no function, filter or test `{name}`"));
    // Names of other spellings (`toYaml`) are near without case and underscores.
    let plain = |name: &str| name.replace('_', "").to_lowercase();
    match names().find(|known| plain(known) == plain(name)) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error.with_help("`dropforge functions` lists them").with_suggestion(name, names()),
    }
}

/// Returns `true` if the function is not in Tera itself.
fn is_beyond_tera(lang: Dialect, builtin: &Builtin) -> bool {
    let same = |other: &Builtin| other.kind == builtin.kind && other.name == builtin.name;
    lang == Dialect::Tera && tera::plus_tables().into_iter().flatten().any(same)
}

fn line(lang: Dialect, builtin: &Builtin) -> String {
    let signature = signatures(builtin).join("; ");
    format!("{:<5} {:<8} {signature}  {}\n", lang.id(), builtin.kind.name(), builtin.doc)
}

pub(crate) fn page(lang: Dialect, builtin: &Builtin) -> String {
    let mut text = format!("{} `{}` ({})\n\n", builtin.kind.name(), builtin.name, lang.id());
    signatures(builtin).iter().for_each(|signature| text.push_str(&format!("  {signature}\n")));
    text.push_str(&format!("\n{}\n", builtin.doc));
    let needs: Vec<_> = builtin.needs.names().map(|name| format!("--allow {name}")).collect();
    if !needs.is_empty() {
        text.push_str(&format!("Needs `{}`.\n", needs.join(" ")));
    }
    if is_beyond_tera(lang, builtin) {
        text.push_str("Not in Tera itself: `--tera plain` leaves it out.\n");
    }
    text.push_str(if builtin.examples.is_empty() { "" } else { "\nExamples:\n\n" });
    for (source, result) in &*builtin.examples {
        text.push_str(&format!("  {}\n  → {}\n\n", source.replace('\n', "\n  "), result.replace('\n', "\n    ")));
    }
    wrapped(&(text.trim_end().to_owned() + "\n"))
}

fn to_json(lang: Dialect, builtin: &Builtin) -> Value {
    let examples = builtin.examples.iter().map(|(source, result)| json!({"source": source, "result": result}));
    json!({
        "language": lang.id(),
        "kind": builtin.kind.name(),
        "name": builtin.name,
        "signatures": signatures(builtin),
        "doc": builtin.doc,
        "needs": builtin.needs.names().collect::<Vec<_>>(),
        "beyond_tera": is_beyond_tera(lang, builtin),
        "examples": examples.collect::<Vec<_>>(),
    })
}

/// Returns the ways to call a function.
pub(crate) fn signatures(builtin: &Builtin) -> Vec<String> {
    if let Some(params) = builtin.host_params() {
        return vec![of_host(builtin, params)];
    }
    match &builtin.params {
        Params::Named(params) => vec![with_names(builtin, params)],
        Params::Open => vec![format!("{}(…)", builtin.name)],
        Params::Positional(positional) => vec![with_positions(builtin, positional)],
        Params::Overloaded(overloads) => overloads.iter().map(|overload| overloaded(builtin, overload)).collect(),
        Params::Assigned(assigned) => vec![with_targets(builtin, assigned)],
    }
}

/// Returns the form of a call of a function of the embedding program.
fn of_host(builtin: &Builtin, params: &HostParams) -> String {
    let subject = match builtin.kind {
        ImportKind::Filter => "value | ",
        ImportKind::Test => "value is ",
        _ => "",
    };
    let params = params.to_string();
    let brackets = !params.is_empty() || builtin.kind == ImportKind::Function;
    let params = if brackets { format!("({params})") } else { params };
    format!("{subject}{}{params}", builtin.name)
}

/// Returns the form of a call with named arguments. Filters and tests have a subject; the arguments of tests have places.
fn with_names(builtin: &Builtin, params: &[Param]) -> String {
    let name = &builtin.name;
    let call = |params: &[Param]| {
        let args: Vec<String> = params.iter().filter(|param| param.name != "excess").map(argument).collect();
        if args.is_empty() { name.to_string() } else { format!("{name}({})", args.join(", ")) }
    };
    match (builtin.kind, params) {
        (ImportKind::Filter, [subject, rest @ ..]) => format!("{} | {}", subject.name, call(rest)),
        (ImportKind::Test, [subject, rest @ ..]) => format!("{} is {}", subject.name, call(rest)),
        _ if params.is_empty() => format!("{name}()"),
        _ => call(params),
    }
}

fn argument(param: &Param) -> String {
    let name = param.name;
    match param.default {
        Default::Required => name.to_owned(),
        Default::Absent => format!("{name}?"),
        Default::Bool(truth) => format!("{name}={truth}"),
        Default::Int(n) => format!("{name}={n}"),
        Default::Str(text) => format!("{name}='{}'", text.as_str()),
    }
}

/// Returns the form of a call whose arguments are separated by spaces.
fn with_targets(builtin: &Builtin, assigned: &Assigned) -> String {
    let params = assigned.params.iter().map(|target| target.name().to_owned());
    let rest = assigned.rest.iter().map(|target| format!("...{}", target.name()));
    std::iter::once(builtin.name.to_string()).chain(params).chain(rest).collect::<Vec<_>>().join(" ")
}

fn with_positions(builtin: &Builtin, positional: &Positional) -> String {
    let mut params: Vec<String> =
        positional.params.iter().map(|param| format!("{}: {}", param.name, type_name(&param.ty))).collect();
    params.extend(positional.rest.iter().map(|rest| format!("...{}: {}", rest.name, type_name(&rest.ty))));
    let result = match &positional.result {
        ResultType::Is(ty) => type_name(ty),
        _ => "any".to_owned(),
    };
    format!("{}({}) → {result}", builtin.name, params.join(", "))
}

fn overloaded(builtin: &Builtin, overload: &Overload) -> String {
    let types: Vec<String> = overload.params.iter().map(ToString::to_string).collect();
    match (overload.member, types.split_first()) {
        (true, Some((receiver, rest))) => {
            format!("{receiver}.{}({}) → {}", builtin.name, rest.join(", "), overload.result)
        }
        _ => format!("{}({}) → {}", builtin.name, types.join(", "), overload.result),
    }
}

/// Returns a type in the notation of type constraints.
fn type_name(ty: &Type<'_>) -> String {
    let of = |name: &str, element: &Type<'_>| format!("{name}({})", type_name(element));
    match ty {
        Type::Dynamic => "any".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Number => "number".to_owned(),
        Type::String => "string".to_owned(),
        Type::List(element) => of("list", element),
        Type::Set(element) => of("set", element),
        Type::Map(element) => of("map", element),
        Type::Tuple(types) => format!("tuple([{}])", types.iter().map(type_name).collect::<Vec<_>>().join(", ")),
        Type::Object(_) => "object".to_owned(),
        Type::Capsule(name) => (*name).to_owned(),
    }
}

/// Returns the page of these functions, a section for each language.
fn markdown(all: &[(Dialect, &Builtin)]) -> String {
    let mut page = "# Functions\n\n\
        The functions, filters and tests of all languages, each with an example and its result. A result `E0…` is the \
        code of an [error](errors.md). `dropforge help NAME` prints one of them, and `dropforge functions --json` all. \
        This page is generated: `dropforge functions --markdown`.\n"
        .to_owned();
    let mut last = None;
    for (lang, builtin) in all {
        let section = (*lang, builtin.kind);
        if last != Some(section) {
            page.push_str(&heading(*lang, builtin));
            last = Some(section);
        }
        page.push_str(&entry(*lang, builtin));
    }
    page
}

/// The text below the heading of CEL.
const CEL: &str = "\nMacros such as `has`, `all` and `math.greatest` are not listed: the compiler writes them with other functions, some \
    of which have signs in their names, such as `math.@max`. `_+_` is the operator `+`.\n";

fn heading(lang: Dialect, builtin: &Builtin) -> String {
    let name = match lang {
        Dialect::Tera => "Tera",
        Dialect::Helm => "Helm charts and Go templates",
        Dialect::Hcl => "HCL",
        // Those of CEL in YAML are those of CEL, and intents have none.
        _ => "CEL and CEL in YAML",
    };
    format!("\n## {name}: {}s\n{}", builtin.kind.name(), if name.starts_with("CEL") { CEL } else { "" })
}

fn entry(lang: Dialect, builtin: &Builtin) -> String {
    let mut entry = format!("\n### {}\n\n", code(&builtin.name));
    let signatures: Vec<String> = signatures(builtin).iter().map(|signature| code(signature)).collect();
    entry.push_str(&format!("{}\n\n{}\n", signatures.join("<br>\n"), prose(&builtin.doc)));
    let needs: Vec<String> = builtin.needs.names().map(|name| code(&format!("--allow {name}"))).collect();
    if !needs.is_empty() {
        entry.push_str(&format!("Needs {}.\n", needs.join(" and ")));
    }
    if is_beyond_tera(lang, builtin) {
        entry.push_str("Not in Tera itself.\n");
    }
    let examples = builtin.examples.iter().map(|(source, result)| format!("{source}\n→ {result}\n"));
    let examples = examples.collect::<Vec<_>>().join("\n");
    if !examples.is_empty() {
        let fence = if examples.contains("```") { "````" } else { "```" };
        entry.push_str(&format!("\n{fence}text\n{examples}{fence}\n"));
    }
    entry
}

/// Returns a text as code of Markdown.
fn code(text: &str) -> String {
    if text.contains('`') { format!("`` {text} ``") } else { format!("`{text}`") }
}

/// Returns a sentence without marks of HTML outside code.
fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let escaped = parts.map(|(at, part)| if at % 2 == 0 { part.replace('<', "&lt;") } else { part.to_owned() });
    escaped.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_the_embedding_program_are_listed_with_their_parameters() {
        let shown = |builtin: Builtin| signatures(&builtin).join("; ");
        let cut = |text: &str, at: usize, end: Option<String>| format!("{text}{at}{end:?}");
        assert_eq!(
            shown(Builtin::host(ImportKind::Filter, "cut(at, end)", cut)),
            "value | cut(at: size, end?: string)"
        );
        assert_eq!(shown(Builtin::host(ImportKind::Test, "odd", |n: i64| n % 2 == 1)), "value is odd");
        assert_eq!(shown(Builtin::host(ImportKind::Function, "now", || 1)), "now()");
        let any = |_: &dropforge::function::HostArgs| 1;
        assert_eq!(shown(Builtin::host(ImportKind::Function, "any", any)), "any(…)");
    }
}
