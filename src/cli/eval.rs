//! `dropforge eval`: one expression, its value.

use std::io::Write;
use std::sync::Arc;
use std::time::SystemTime;

use clap::ArgMatches;

use super::args::{EvalArgs, reach};
use super::exit::{Exit, Failed};
use super::values::{self, Stdin, stdout_error};
use crate::bytecode::Dialect;
use crate::diagnostics::{Code, Diagnostic, Diagnostics};
use crate::dialect::cel::check::Environment;
use crate::dialect::cel::check::cost::{Hints, Range};
use crate::dialect::hcl::values::json::{encode, encode_plain};
use crate::dialect::{cel, hcl};
use crate::function::Fault;
use crate::limits::Limits;
use crate::text::Source;
use crate::value::{Arena, InputBuilder, Inputs, OutputFormat, Shapes, Type, Value, write_documents};
use crate::vm::Space;

/// Runs the command.
pub(super) fn run(args: &EvalArgs, matches: &ArgMatches) -> Result<Exit, Failed> {
    let evaluate = match args.lang {
        Dialect::Hcl => of_hcl,
        Dialect::Cel => of_cel,
        other => {
            let message = format!("`{}` has no expressions of its own", other.id());
            return Err(Diagnostic::new(Code::Usage, message).with_help("say `--lang hcl` or `--lang cel`").into());
        }
    };
    let mut stdin = Stdin::default();
    let layers = values::layers(&args.values, matches, &mut stdin)?;
    let source = Source::new("<expression>", args.expression.as_str());
    let (space, names) = (Space::new(), Arena::new());
    let shapes = Shapes::new(&names);
    let inputs = Inputs::new(InputBuilder::new(space.arena(), &shapes).data_map(layers.alone()?));
    let text = evaluate(args, &source, &space, inputs)?;
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{text}").and_then(|()| stdout.flush()).map_err(|error| stdout_error(&error))?;
    Ok(Exit::Ok)
}

fn of_hcl(args: &EvalArgs, source: &Arc<Source>, space: &Space, inputs: Inputs<'_>) -> Result<String, Failed> {
    if !args.unknown.is_empty() {
        let message = "what is not known can be named for CEL only";
        return Err(Diagnostic::new(Code::Usage, message)
            .with_help("leave `--unknown` out, or say `--lang cel`")
            .into());
    }
    if args.output_format != OutputFormat::Ndjson {
        let message = "values of HCL are printed as a line of JSON";
        return Err(Diagnostic::new(Code::Usage, message).with_help("leave `--output-format` out").into());
    }
    if args.cost || args.cost_limit.is_some() {
        let error = Diagnostic::new(Code::Usage, "what an expression of HCL costs is not counted");
        return Err(error.with_help("leave `--cost` and `--cost-limit` out").into());
    }
    let limits = Limits::default();
    let expression = hcl::Expression::new(source, hcl::registry(), &limits)?;
    let (plain, files) = reach(&args.values.allow)?;
    let plain = plain.with_moment(SystemTime::now());
    let capabilities = files.iter().fold(plain, |all, files| all.with_files(files));
    let mut answer = expression.evaluate_allowing(capabilities, space, inputs, &limits)?;
    if !answer.errors.is_empty() {
        expression.explain(space, inputs, &limits, &mut answer.errors);
        return Err(Diagnostics::from(answer.errors).into());
    }
    shown(space, answer.value, &limits, args.typed)
}

fn of_cel(args: &EvalArgs, source: &Arc<Source>, space: &Space, inputs: Inputs<'_>) -> Result<String, Failed> {
    let limits = Limits { cost: args.cost_limit.unwrap_or(u64::MAX), ..Limits::default() };
    let registry = cel::registry();
    let mut environment = Environment::new(&registry);
    for (name, _) in inputs.iter() {
        environment.declare(name, "dyn")?;
    }
    for pattern in &args.unknown {
        environment.declare(pattern.root(), "dyn")?;
    }
    let metered = args.cost || args.cost_limit.is_some();
    let settings = cel::Settings { cost: metered, ..cel::Settings::checked(&environment) };
    let expression = cel::Expression::with(source, &settings, &registry, &limits)?;
    if !args.unknown.is_empty()
        && let cel::Partial::Unknown { residual, .. } = expression.partial(space, inputs, &args.unknown, &limits)?
    {
        return Ok(residual.to_string());
    }
    let (value, cost) = expression.evaluate_metered(space, inputs, &limits);
    if args.cost {
        let estimate = expression.estimate(&Hints::default()).unwrap_or_default();
        eprintln!("cost {cost}, estimated {}", shown_range(estimate));
    }
    let value = value?;
    let mut text = String::new();
    write_documents([value], args.output_format, limits.output_bytes, &mut text)?;
    let end = text.strip_suffix('\n').map_or(text.len(), str::len);
    text.truncate(end);
    let ty = expression.ty().unwrap_or_default();
    Ok(if args.typed { format!(r#"{{"value":{text},"type":"{ty}"}}"#) } else { text })
}

/// From at least to at most, the largest number being no bound.
fn shown_range(range: Range) -> String {
    match range {
        Range { min, max } if min == max => min.to_string(),
        Range { min, max: u64::MAX } => format!("{min} or more"),
        Range { min, max } => format!("{min} to {max}"),
    }
}

/// The value as JSON; with its type where that is asked for.
fn shown(space: &Space, value: Value<'_>, limits: &Limits, typed: bool) -> Result<String, Failed> {
    let cx = space.context(limits);
    if typed && matches!(value, Value::Null) {
        // Of a null of no type the encoding with types says nothing but that.
        return Ok(r#"{"value":null,"type":"dynamic"}"#.to_owned());
    }
    let text = if typed { encode(&cx, value, &Type::Dynamic) } else { encode_plain(&cx, value) };
    text.map_err(|fault| match fault {
        Fault::Limit(error) => Failed::from(error),
        Fault::Wrong(why) => {
            let message = format!("the value cannot be written as JSON: {}", why.message);
            Failed::from(Diagnostic::new(Code::TypeMismatch, message))
        }
    })
}
