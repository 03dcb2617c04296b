//! `dropforge eval`: one expression, its value.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::time::SystemTime;

use clap::Args;

use dropforge::bytecode::Dialect;
use dropforge::diagnostics::{Code, Diagnostic, Diagnostics};
use dropforge::dialect::cel::Pattern;
use dropforge::dialect::cel::check::cost::{Hints, Range};
use dropforge::dialect::cel::check::{Environment, Strictness};
use dropforge::dialect::cel::syntax::Options;
use dropforge::dialect::hcl::values::json::{encode, encode_plain};
use dropforge::dialect::{cel, hcl};
use dropforge::engine::CelPresence;
use dropforge::function::Fault;
use dropforge::limits::Limits;
use dropforge::text::Source;
use dropforge::value::{Arena, InputBuilder, Inputs, OutputFormat, Shapes, Type, Value, write_documents};
use dropforge::vm::Space;

use crate::exit::{Exit, Failed};
use crate::input::InputFiles;
use crate::layers::layers;
use crate::options::{AllowArgs, CelArgs, Languages, ValueArgs, limits};
use crate::output::print;
use crate::stderr::{Stderr, line};

/// Evaluate an expression and print its value
///
///     dropforge eval 'cidrsubnet(net, 8, 2)' --set net=10.0.0.0/16
///     dropforge eval --lang cel 'quantity("1.5Gi").isGreaterThan(quantity("1G"))'
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct EvalArgs {
    /// Expression to evaluate
    #[arg(value_name = "EXPR")]
    pub(crate) expression: String,
    /// Select the language
    #[arg(long, value_name = "LANG", value_parser = Languages(&[Dialect::Hcl, Dialect::Cel]), default_value = "hcl")]
    pub(crate) lang: Dialect,
    /// Print the value with its type
    #[arg(long)]
    pub(crate) typed: bool,
    /// Write CEL values as ndjson (one line of JSON), json, yaml or kyaml
    #[arg(long, value_name = "FORMAT", default_value = "ndjson", conflicts_with = "typed")]
    pub(crate) output_format: OutputFormat,
    /// Treat values as unknown, such as `request.auth` or `items[0].*` (CEL only)
    ///
    /// If the result depends on them, the rest of the expression is printed.
    #[arg(long, value_name = "PATTERN", conflicts_with = "typed")]
    pub(crate) unknown: Vec<Pattern>,
    /// Print the cost of the evaluation, and its estimate (CEL only)
    #[arg(long, conflicts_with = "typed")]
    pub(crate) cost: bool,
    /// Fail if the evaluation costs more than N (CEL only)
    #[arg(long, value_name = "N")]
    pub(crate) cost_limit: Option<u64>,
    #[command(flatten)]
    pub(crate) cel: CelArgs,
    #[command(flatten)]
    pub(crate) values: ValueArgs,
}

/// Returns `true` for an expression that begins with a minus but is no option: `-3 * 0`, `-(a + b)`.
fn is_negative(text: &str) -> bool {
    let next = text.strip_prefix('-').and_then(|rest| rest.chars().next());
    next.is_some_and(|next| next.is_ascii_digit() || next.is_whitespace() || "([{".contains(next))
}

/// Puts a blank before the arguments of `eval` that are expressions but look like options.
pub(crate) fn with_expressions(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut evaluates = false;
    let mark = |arg: OsString| {
        let marked = evaluates && arg.to_str().is_some_and(is_negative);
        evaluates |= arg == "eval";
        if marked { [OsStr::new(" "), &arg].into_iter().collect() } else { arg }
    };
    args.into_iter().map(mark).collect()
}

/// Runs the command.
pub(crate) fn run(args: &EvalArgs, files: &mut InputFiles, stderr: &Stderr) -> Result<Exit, Failed> {
    let layers = layers(&args.values, files, stderr)?;
    let expression = args.expression.strip_prefix(' ').filter(|rest| is_negative(rest));
    let source = Source::new("<expression>", expression.unwrap_or(&args.expression));
    let (space, names) = (Space::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(space.arena(), &shapes).data_map(layers.alone()?)?);
    let text = match args.lang {
        Dialect::Hcl => evaluate_hcl(args, &source, &space, inputs)?,
        Dialect::Cel => evaluate_cel(args, &source, &space, inputs)?,
        other => {
            let message = format!("`{}` has no standalone expressions", other.id());
            return Err(usage(&message, "use `--lang hcl` or `--lang cel`").into());
        }
    };
    print(text + "\n")?;
    Ok(Exit::Ok)
}

fn usage(message: &str, help: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::Usage, message).with_help(help)
}

fn evaluate_hcl(args: &EvalArgs, source: &Arc<Source>, space: &Space, inputs: Inputs<'_>) -> Result<String, Failed> {
    refuse_cel_options(args)?;
    hcl_value(&args.values.allow, source, space, inputs, args.typed)
}

/// Checks that no option of CEL is used.
fn refuse_cel_options(args: &EvalArgs) -> Result<(), Failed> {
    let refused = [
        (!args.unknown.is_empty(), "`--unknown` does not apply to HCL", "remove it, or use `--lang cel`"),
        (
            args.output_format != OutputFormat::Ndjson,
            "`--output-format` does not apply to HCL: values are printed as JSON",
            "remove `--output-format`",
        ),
        (
            args.cost || args.cost_limit.is_some(),
            "`--cost` and `--cost-limit` do not apply to HCL",
            "remove them, or use `--lang cel`",
        ),
        (args.cel.cel_presence.is_some(), "`--cel-presence` does not apply to HCL", "remove it, or use `--lang cel`"),
        (args.cel.cel_dialect.is_some(), "`--cel-dialect` does not apply to HCL", "remove it, or use `--lang cel`"),
    ];
    match refused.iter().find(|(given, ..)| *given) {
        Some((_, message, help)) => Err(usage(message, help).into()),
        None => Ok(()),
    }
}

/// Evaluates an HCL expression. Returns its value as JSON, with its type if `typed`.
///
/// # Errors
/// The errors of the expression.
pub(crate) fn hcl_value(
    allow: &AllowArgs,
    source: &Arc<Source>,
    space: &Space,
    inputs: Inputs<'_>,
    typed: bool,
) -> Result<String, Failed> {
    let limits = limits();
    let expression = hcl::Expression::new(source, &hcl::registry(), &limits)?;
    let (capabilities, files) = allow.capabilities()?;
    let capabilities = capabilities.with_moment(SystemTime::now());
    let capabilities = files.iter().fold(capabilities, |all, files| all.with_files(files));
    let mut result = expression.evaluate_allowing(capabilities, space, inputs, &limits)?;
    if !result.errors.is_empty() {
        expression.explain(space, inputs, &limits, &mut result.errors);
        return Err(Diagnostics::from(result.errors).into());
    }
    hcl_json(space, result.value, &limits, typed)
}

fn evaluate_cel(args: &EvalArgs, source: &Arc<Source>, space: &Space, inputs: Inputs<'_>) -> Result<String, Failed> {
    let limits = Limits { cost: args.cost_limit.unwrap_or(u64::MAX), ..limits() };
    let names = inputs.iter().map(|(name, _)| name).chain(args.unknown.iter().map(Pattern::root));
    let metered = args.cost || args.cost_limit.is_some();
    let expression = cel_expression(source, names, metered, &args.cel, &limits)?;
    if !args.unknown.is_empty()
        && let cel::Partial::Unknown { residual, .. } = expression.partial(space, inputs, &args.unknown, &limits)?
    {
        return Ok(residual.to_string());
    }
    let (value, cost) = expression.evaluate_metered(space, inputs, &limits);
    if args.cost {
        let estimate = expression.estimate(&Hints::default()).unwrap_or_default();
        line(&format!("cost {cost}, estimated {}", range_text(estimate)));
    }
    let text = cel_text(value?, args.output_format, &limits)?;
    let ty = expression.ty().unwrap_or_default();
    Ok(if args.typed { format!(r#"{{"value":{text},"type":"{ty}"}}"#) } else { text })
}

/// Compiles a CEL expression over variables of these names, which have any type.
///
/// # Errors
/// The errors of the expression.
pub(crate) fn cel_expression<'n>(
    source: &Arc<Source>,
    names: impl IntoIterator<Item = &'n str>,
    metered: bool,
    cel: &CelArgs,
    limits: &Limits,
) -> Result<cel::Expression, Failed> {
    let implementation = cel.dialect().implementation();
    let registry = cel::dialects::functions(&cel::registry(), implementation);
    let mut environment = Environment::new(&registry);
    for name in names {
        environment.declare(name, "dyn")?;
    }
    let lenient = cel.presence() == CelPresence::Lenient;
    let homogeneous = cel::dialects::has_homogeneous_literals(implementation);
    let strictness = Strictness { homogeneous, ..Strictness::default() };
    let syntax = Options { refused_macros: cel::dialects::missing_macros(implementation), ..Options::default() };
    let settings = cel::Settings { syntax, cost: metered, lenient, strictness, ..cel::Settings::checked(&environment) };
    Ok(cel::Expression::with(source, &settings, &registry, limits)?)
}

/// Formats a value of CEL, without a line break at its end.
///
/// # Errors
/// A value that the format cannot hold; `limit.output`.
pub(crate) fn cel_text(value: Value<'_>, format: OutputFormat, limits: &Limits) -> Result<String, Failed> {
    let mut text = String::new();
    write_documents([value], format, limits.output_bytes, &mut text)?;
    let end = text.strip_suffix('\n').map_or(text.len(), str::len);
    text.truncate(end);
    Ok(text)
}

/// Formats a range. The largest number is no bound.
fn range_text(range: Range) -> String {
    match range {
        Range { min, max } if min == max => min.to_string(),
        Range { min, max: u64::MAX } => format!("at least {min}"),
        Range { min, max } => format!("{min} to {max}"),
    }
}

/// Encodes a value as JSON, optionally with its type.
fn hcl_json(space: &Space, value: Value<'_>, limits: &Limits, typed: bool) -> Result<String, Failed> {
    let cx = space.context(limits);
    if typed && matches!(value, Value::Null) {
        // The typed encoding of an untyped null has no type.
        return Ok(r#"{"value":null,"type":"dynamic"}"#.to_owned());
    }
    let text = if typed { encode(&cx, value, &Type::Dynamic) } else { encode_plain(&cx, value) };
    text.map_err(|fault| match fault {
        Fault::Limit(error) => Failed::from(error),
        Fault::Wrong(why) => {
            let message = format!("cannot write the value as JSON: {}", why.message);
            Failed::from(Diagnostic::new(Code::TypeMismatch, message))
        }
    })
}
