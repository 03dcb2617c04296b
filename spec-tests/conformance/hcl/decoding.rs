//! Decoding rows: specifications, merged bodies, and user-defined functions.

use dropforge::diagnostics::Diagnostic;
use dropforge::dialect::hcl::body::{
    Body, BodySchema, Content, Context, File, Location, Reference, ReferenceStep, expand, user_functions,
};
use dropforge::dialect::hcl::decode::{Collection, Keyed, Spec, SpecFile};
use dropforge::dialect::hcl::values::json::Json;
use dropforge::dialect::hcl::{Expression, builtins};
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, Inputs, Type};
use dropforge::vm::Space;

use super::encoding::{Check, Row, diagnostics, numbers, range, same, ty, value, want};
use super::evaluation::{functions, variables};

/// The parts that decoding a row needs.
struct Bench {
    limits: Limits,
    space: Space,
    spec_space: Space,
    file: File,
    spec_file: Option<File>,
}

impl Bench {
    fn new(row: &Row<'_>) -> Check<Self> {
        let limits = Limits::default();
        let input = String::from_utf8(row.input()?).map_err(|_| "the input is not UTF-8")?;
        let registry = functions(row.get("functions"))?;
        let file = File::native(&Source::new("input", input), &registry, &limits);
        let spec_file = row
            .get("spec_src")
            .and_then(Json::as_text)
            .map(|text| SpecFile::parse(&Source::new("spec", text), &limits));
        Ok(Self { file, spec_file, limits, space: Space::new(), spec_space: Space::new() })
    }

    fn context<'r>(&'r self, row: &Row<'_>) -> Check<Context<'r>> {
        let context = Context::new(&self.space, &self.limits);
        match row.get("variables") {
            Some(json) => Ok(context.with_variables(variables(self.space.arena(), Some(json))?)),
            None if row.get("functions").is_some() && !row.flag("ctx_nil") => Ok(context.evaluating()),
            None => Ok(context),
        }
    }

    /// Parses the specification of a row. Returns `None` if it has errors.
    fn spec<'r>(&'r self, row: &Row<'_>, faults: &mut Vec<Box<Diagnostic>>) -> Check<Option<Spec<'r>>> {
        let Some(file) = &self.spec_file else { return spec(self.space.arena(), row.field("spec")?).map(Some) };
        faults.extend(file.diagnostics().iter().cloned());
        let context = Context::new(&self.spec_space, &self.limits);
        Ok(SpecFile::read(file, &context, faults).map(|read| read.spec))
    }
}

/// Decodes a body by a specification.
pub fn decodes(row: &Row<'_>) -> Check {
    let bench = Bench::new(row)?;
    let context = bench.context(row)?;
    let mut faults = Vec::new();
    let Some(spec) = bench.spec(row, &mut faults)? else { return said(row, &faults) };
    if row.flag("spec_error") {
        return said(row, &faults);
    }
    faults.extend(bench.file.diagnostics().iter().cloned());
    let mut checks = Vec::new();
    if let Some(implied) = row.get("implied_type") {
        let (wanted, got) = (ty(bench.space.arena(), implied)?, spec.implied_type(&context, &mut Vec::new()));
        checks.push(equal("implied type", &wanted, &got));
    }
    let body = bench.file.body();
    for (field, content) in [("dynblock_variables", true), ("dynblock_expand_variables", false)] {
        if let Some(wanted) = row.get(field) {
            checks.push(traversals(field, wanted, &spec.dynamic_variables(&body, content), &context));
        }
    }
    if let Some(wanted) = row.get("refs") {
        checks.push(traversals("refs", wanted, &spec.variables(&body), &context));
    }
    let body = if row.flag("dynblock") { expand(body, &context) } else { body };
    let got = spec.decode(&body, &context, &mut faults);
    checks.push(said(row, &faults));
    checks.push(want(bench.space.arena(), row, "want", Some(got)));
    all(checks)
}

/// Compares the variables of a specification.
pub fn names_variables(row: &Row<'_>) -> Check {
    let bench = Bench::new(row)?;
    let (context, mut faults) = (bench.context(row)?, Vec::new());
    let spec = bench.spec(row, &mut faults)?.ok_or("no spec")?;
    traversals("variables", row.field("want")?, &spec.variables(&bench.file.body()), &context)
}

/// Compares the source range of a value.
pub fn source_range(row: &Row<'_>) -> Check {
    let bench = Bench::new(row)?;
    let spec = bench.spec(row, &mut Vec::new())?.ok_or("no spec")?;
    let place = spec.source_range(&bench.file.body()).ok_or("no place")?;
    equal("range", &numbers(row.get("want")), &at(place))
}

/// Calls a function that a configuration defines.
pub fn user_function(row: &Row<'_>) -> Check {
    let limits = Limits::default();
    let config = Source::new("config", row.text("config")?);
    let base = functions(row.get("base_ctx").and_then(|ctx| ctx.get("functions")))?;
    let file = File::native(&config, &base, &limits);
    let mut faults = file.diagnostics().to_vec();
    let (found, _) = user_functions(&file.body(), "function", &mut faults);
    let mut registry = builtins::bare();
    found.into_iter().for_each(|function| registry.insert(function));
    let source = Source::new("input", row.text("input")?);
    let expression = Expression::new(&source, &registry, &limits).map_err(|e| e.to_string())?;
    let space = Space::new();
    let answer = expression.evaluate(&space, Inputs::default(), &limits).map_err(|e| e.to_string())?;
    faults.extend(answer.errors);
    all(vec![said(row, &faults), want(space.arena(), row, "want", Some(answer.value))])
}

/// Merges several bodies, which the rows describe by their contents only.
pub fn merges(row: &Row<'_>) -> Check {
    with_merged(row, |body, schema| {
        let mut faults = Vec::new();
        let content = body.content(schema, &mut faults);
        all(vec![
            equal("diagnostics", &row.number("diagcount"), &(faults.len() as i64)),
            holds(&content, row.field("want")?),
        ])
    })
}

/// Merges in two steps: the content of a schema, then the remainder.
pub fn merges_partly(row: &Row<'_>) -> Check {
    with_merged(row, |body, schema| {
        let (mut faults, mut rest_faults) = (Vec::new(), Vec::new());
        let (content, rest) = body.partial_content(schema, &mut faults);
        let (mut attributes, mut blocks, mut wanted) = (Vec::new(), 0, BodySchema::new());
        for remains in row.list("wantremain") {
            for name in list(remains, "HasAttributes").iter().filter_map(Json::as_text) {
                attributes.push(name);
                wanted = wanted.optional(name);
            }
            for (name, count) in counted(remains) {
                blocks += count;
                wanted = wanted.block(name, &[]);
            }
        }
        let rest = rest.content(&wanted, &mut rest_faults);
        let mut got: Vec<_> = rest.attributes.keys().copied().collect();
        got.sort_unstable();
        attributes.sort_unstable();
        all(vec![
            equal("diagnostics", &row.number("diagcount"), &(faults.len() as i64)),
            holds(&content, row.field("wantcontent")?),
            equal("attributes of the rest", &attributes, &got),
            equal("blocks of the rest", &blocks, &rest.blocks.len()),
            equal("diagnostics of the rest", &0, &rest_faults.len()),
        ])
    })
}

/// Runs `check` with the merged bodies of a row and its schema.
fn with_merged(row: &Row<'_>, check: impl FnOnce(&Body<'_>, &BodySchema) -> Check) -> Check {
    let limits = Limits::default();
    let sources: Check<Vec<_>> = row.list("bodies").iter().map(|body| Ok(Source::new("body", text_of(body)))).collect();
    let registry = builtins::bare();
    let files: Vec<_> = sources?.iter().map(|source| File::native(source, &registry, &limits)).collect();
    let mut schema = BodySchema::new();
    for attribute in list(row.field("schema")?, "Attributes") {
        let required = attribute.get("Required") == Some(&Json::Bool(true));
        schema = schema.attribute(text(attribute, "Name")?, required);
    }
    for block in list(row.field("schema")?, "Blocks") {
        schema = schema.block(text(block, "Type")?, &[]);
    }
    check(&Body::merged(files.iter().map(File::body)), &schema)
}

/// Compares the attributes of a content, and the number of its blocks.
fn holds(content: &Content<'_>, wanted: &Json<'_>) -> Check {
    let names: Vec<_> = match wanted.get("Attributes") {
        Some(Json::Object(entries)) => entries.iter().map(|(name, _)| name.as_ref()).collect(),
        _ => Vec::new(),
    };
    let mut got: Vec<_> = content.attributes.keys().copied().collect();
    got.sort_unstable();
    all(vec![equal("attributes", &names, &got), equal("blocks", &list(wanted, "Blocks").len(), &content.blocks.len())])
}

/// Returns the block types of a body with their counts.
fn counted<'j>(body: &'j Json<'_>) -> Vec<(&'j str, usize)> {
    let Some(Json::Object(blocks)) = body.get("HasBlocks") else { return Vec::new() };
    let count = |json: &Json<'_>| if let Json::Number(digits) = json { digits.parse().unwrap_or(0) } else { 0 };
    blocks.iter().map(|(name, json)| (name.as_ref(), count(json))).collect()
}

/// Writes a configuration with the contents of a row's body.
fn text_of(body: &Json<'_>) -> String {
    let names = list(body, "HasAttributes").iter().filter_map(Json::as_text);
    let mut text: String = names.map(|name| format!("{name} = 1\n")).collect();
    for (name, count) in counted(body) {
        text += &format!("{name} {{}}\n").repeat(count);
    }
    text
}

fn list<'j, 't>(json: &'j Json<'t>, name: &str) -> &'j [Json<'t>] {
    json.get(name).and_then(Json::as_list).unwrap_or(&[])
}

fn text<'j>(json: &'j Json<'_>, name: &str) -> Check<&'j str> {
    json.get(name).and_then(Json::as_text).ok_or_else(|| format!("no `{name}` in {json:?}"))
}

fn said(row: &Row<'_>, faults: &[Box<Diagnostic>]) -> Check {
    diagnostics(row, faults.iter().map(|fault| &**fault))
}

fn all(checks: Vec<Check>) -> Check {
    let wrong: Vec<_> = checks.into_iter().filter_map(Check::err).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, wanted: &T, got: &T) -> Check {
    if wanted == got { Ok(()) } else { Err(format!("{what}: want {wanted:?}, got {got:?}")) }
}

fn at(place: Location<'_>) -> Vec<i64> {
    range(place.source, place.span)
}

fn traversals<'r>(what: &str, wanted: &Json<'_>, got: &[Reference<'r>], context: &Context<'r>) -> Check {
    let wanted = wanted.as_list().unwrap_or(&[]);
    equal(what, &wanted.len(), &got.len())?;
    for (wanted, got) in wanted.iter().zip(got) {
        let (wanted, steps) = (wanted.as_list().unwrap_or(&[]), got.steps(context));
        equal(what, &wanted.len(), &steps.len())?;
        for (wanted, (step, place)) in wanted.iter().zip(steps) {
            equal(what, &numbers(wanted.get("range")), &at(place))?;
            match step {
                ReferenceStep::Root(name) => equal(what, &text(wanted, "root")?, &name)?,
                ReferenceStep::Attr(name) => equal(what, &text(wanted, "attr")?, &name)?,
                ReferenceStep::Index(key) => {
                    let arena = context.arena();
                    same(arena, value(arena, wanted.get("index").ok_or("no index")?)?, key)?;
                }
                ReferenceStep::Splat => return Err("a splat".into()),
            }
        }
    }
    Ok(())
}

/// Builds a specification from the JSON form of the reference's structures.
fn spec<'r>(arena: &'r Arena, json: &Json<'_>) -> Check<Spec<'r>> {
    let nested = || Ok::<_, String>(Box::new(spec(arena, json.get("Nested").ok_or("no nested spec")?)?));
    let flag = || json.get("Required") == Some(&Json::Bool(true));
    let name = || Ok::<_, String>(text(json, "TypeName")?.to_owned());
    let number = |field: &str| match json.get(field) {
        Some(Json::Number(digits)) => digits.parse::<usize>().unwrap_or(0),
        _ => 0,
    };
    let labels = || list(json, "LabelNames").iter().filter_map(Json::as_text).map(str::to_owned).collect();
    let of = |field: &str| match json.get(field).and_then(|ty| ty.get("cty_type")) {
        None | Some(Json::Null) => Ok(Type::Dynamic),
        Some(json) => ty(arena, json),
    };
    let blocks = |into| {
        let most = Some(number("MaxItems")).filter(|most| *most > 0);
        Ok::<_, String>(Spec::Blocks { name: name()?, nested: nested()?, into, least: number("MinItems"), most })
    };
    let keyed = |into| Ok::<_, String>(Spec::KeyedBlocks { name: name()?, labels: labels(), nested: nested()?, into });
    Ok(match text(json, "spec")? {
        "object" => {
            let Some(Json::Object(entries)) = json.get("attributes") else { return Err("no attributes".into()) };
            let entry = |(name, json): &(std::borrow::Cow<'_, str>, Json<'_>)| {
                Ok((name.clone().into_owned(), spec(arena, json)?))
            };
            Spec::Object(entries.iter().map(entry).collect::<Check<_>>()?)
        }
        "tuple" => Spec::Tuple(list(json, "elements").iter().map(|json| spec(arena, json)).collect::<Check<_>>()?),
        "Attr" => Spec::attr(text(json, "Name")?, of("Type")?, flag()),
        "Literal" => Spec::Literal(value(arena, json.get("Value").ok_or("no value")?)?),
        "Block" => Spec::Block { name: name()?, nested: nested()?, required: flag() },
        "BlockList" => blocks(Collection::List)?,
        "BlockSet" => blocks(Collection::Set)?,
        "BlockTuple" => blocks(Collection::Tuple)?,
        "BlockMap" => keyed(Keyed::Map)?,
        "BlockObject" => keyed(Keyed::Object)?,
        "BlockAttrs" => Spec::BlockAttrs { name: name()?, element: of("ElementType")?, required: flag() },
        "BlockLabel" => Spec::BlockLabel { index: number("Index"), name: text(json, "Name")?.to_owned() },
        "Default" => {
            let part = |field: &str| Ok::<_, String>(Box::new(spec(arena, json.get(field).ok_or("no default")?)?));
            Spec::Default(part("Primary")?, part("Default")?)
        }
        other => return Err(format!("no spec `{other}`")),
    })
}
