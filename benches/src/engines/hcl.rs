//! hcl-rs. Its templates have no includes, so the files contain them inline.

use std::hint::black_box;
use std::str::FromStr;

use hcl::Value as Input;
use hcl::eval::{Context, Evaluate, FuncArgs, FuncDef, ParamType};
use hcl::template::Template;
use serde_json::Value;

use super::{Engine, Templates, append, overlaid, quote};

/// hcl-rs with its templates.
pub struct Hcl {
    sources: Templates,
    templates: Vec<Template>,
    shared: Value,
}

type Answer = Result<Input, String>;

fn text(args: &FuncArgs, at: usize) -> String {
    args[at].as_str().map_or_else(|| args[at].to_string(), str::to_owned)
}

fn replace(args: FuncArgs) -> Answer {
    Ok(text(&args, 0).replace(&text(&args, 1), &text(&args, 2)).into())
}

fn upper(args: FuncArgs) -> Answer {
    Ok(text(&args, 0).to_uppercase().into())
}

fn join(args: FuncArgs) -> Answer {
    let items: Vec<&str> = args[1].as_array().into_iter().flatten().filter_map(Input::as_str).collect();
    Ok(items.join(&text(&args, 0)).into())
}

fn shq(args: FuncArgs) -> Answer {
    Ok(quote(&text(&args, 0)).into())
}

fn starts(args: FuncArgs) -> Answer {
    Ok(text(&args, 0).starts_with(&text(&args, 1)).into())
}

fn ends(args: FuncArgs) -> Answer {
    Ok(text(&args, 0).ends_with(&text(&args, 1)).into())
}

fn holds(args: FuncArgs) -> Answer {
    Ok(text(&args, 0).contains(&text(&args, 1)).into())
}

fn length(args: FuncArgs) -> Answer {
    Ok(args[0].as_array().map_or_else(|| text(&args, 0).chars().count(), Vec::len).into())
}

fn contains(args: FuncArgs) -> Answer {
    Ok(args[0].as_array().is_some_and(|items| items.contains(&args[1])).into())
}

fn any_true(args: FuncArgs) -> Answer {
    Ok(args[0].as_array().is_some_and(|items| items.contains(&true.into())).into())
}

fn all_true(args: FuncArgs) -> Answer {
    Ok(args[0].as_array().is_some_and(|items| items.iter().all(|item| *item == true.into())).into())
}

/// Returns a context with the functions, and with null for every variable that a template may find missing.
pub fn context(inputs: Input) -> Context<'static> {
    let mut context = Context::new();
    let any = || FuncDef::builder().param(ParamType::Any);
    context.declare_func("replace", any().param(ParamType::Any).param(ParamType::Any).build(replace));
    context.declare_func("upper", any().build(upper));
    context.declare_func("join", any().param(ParamType::Any).build(join));
    context.declare_func("shq", any().build(shq));
    context.declare_func("startswith", any().param(ParamType::Any).build(starts));
    context.declare_func("endswith", any().param(ParamType::Any).build(ends));
    context.declare_func("strcontains", any().param(ParamType::Any).build(holds));
    context.declare_func("length", any().build(length));
    context.declare_func("contains", any().param(ParamType::Any).build(contains));
    context.declare_func("anytrue", any().build(any_true));
    context.declare_func("alltrue", any().build(all_true));
    context.declare_var("owner", Input::Null);
    if let Input::Object(entries) = inputs {
        for (name, value) in entries {
            context.declare_var(name, value);
        }
    }
    context
}

fn convert(inputs: &Value) -> Context<'static> {
    context(hcl::to_value(inputs).expect("inputs"))
}

impl Engine for Hcl {
    const NAME: &'static str = "hcl-rs";
    const W1: (&'static str, &'static str) = ("hcl", "hcltpl");
    type Ready = Context<'static>;

    fn new(sources: Templates) -> Self {
        let mut this = Self { sources, templates: Vec::new(), shared: Value::Null };
        this.compile();
        this
    }

    fn compile(&mut self) {
        let find = |entry: &String| self.sources.files.iter().find(|(name, _)| name == entry).expect("a template");
        let parse = |(_, text): &(String, String)| Template::from_str(text).expect("a template");
        self.templates = self.sources.entries.iter().map(|entry| parse(find(entry))).collect();
    }

    fn ready(&self, inputs: &Value) -> Context<'static> {
        convert(inputs)
    }

    fn render(&mut self, entry: usize, inputs: &Context<'static>, out: &mut String) {
        append(out, self.templates[entry].evaluate(inputs).expect("it renders"));
    }

    fn share(&mut self, shared: &Value) {
        self.shared = shared.clone();
    }

    fn stamp(&mut self, own: &Value, entries: usize, out: &mut String, see: &mut dyn FnMut(usize, &str)) {
        let context = if self.shared.is_null() { convert(own) } else { convert(&overlaid(&self.shared, own)) };
        for (nth, template) in self.templates.iter().take(entries).enumerate() {
            *out = template.evaluate(&context).expect("it renders");
            see(nth, out);
        }
    }

    fn read(&mut self, json: &str) {
        black_box(serde_json::from_str::<Input>(json).expect("JSON"));
    }

    fn read_and_render(&mut self, json: &str, entry: usize, out: &mut String) {
        let context = context(serde_json::from_str(json).expect("JSON"));
        append(out, self.templates[entry].evaluate(&context).expect("it renders"));
    }
}
