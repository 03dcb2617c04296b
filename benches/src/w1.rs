//! W1: five Kubernetes templates with includes and macros. The headline figure is `app` with every feature enabled.

use serde_json::Value;

use crate::engines::{Checked, Engine, Hcl, Minijinja, Ours, OursHcl, Templates, Tera1, Tera2};
use crate::files::{folder, workload};
use crate::subject::{
    Bar::{AtMost, Faster},
    Subject, Workload,
};
use crate::tasks::{Compile, Convert, Load, Read, Render, RenderTyped, Skip};
use crate::typed::{self, Inputs, askama::Askama, hand::Hand};

/// The outputs, in order of their numbers.
pub const OUTPUTS: [&str; 5] = ["app", "rbac", "cron", "monitor", "conf"];

/// Returns the templates in the language of `E`.
pub fn templates<E: Engine>() -> Templates {
    let (name, ending) = E::W1;
    let entries = OUTPUTS.map(|output| format!("{output}.{ending}")).into();
    Templates { files: folder(&format!("w1/{name}")), entries, shell: false }
}

/// Returns the inputs as JSON text.
pub fn json() -> String {
    workload("w1/context.json")
}

/// Returns the inputs.
pub fn inputs() -> Value {
    serde_json::from_str(&json()).expect("JSON")
}

fn expected(outputs: &[&str]) -> String {
    outputs.iter().map(|output| workload(&format!("w1/expected/{output}.yaml"))).collect()
}

pub(crate) fn typed_inputs() -> Inputs<'static> {
    let inputs = inputs();
    Inputs { shared: Box::leak(Box::new(typed::read(&inputs))), own: Box::leak(Box::new(typed::read(&inputs))) }
}

/// Builds one subject for each engine, from an expression in which `E` is the engine.
macro_rules! each {
    ($($engine:ident),+; $make:expr) => {
        vec![$({
            type E = $engine;
            Box::new($make) as Box<dyn Subject>
        }),+]
    };
}

/// `app` with converted inputs.
pub fn render() -> Workload {
    let inputs = inputs();
    let mut subjects = each!(Ours, Minijinja, Tera2, Tera1, Hcl; Render::<E>::new(templates::<E>(), &inputs, 1, ""));
    subjects.extend(each!(Askama, Hand; RenderTyped::<E>::new(typed_inputs(), &[0])));
    Workload {
        id: "w1-render",
        title: "W1: `app` rendered, inputs ready",
        expected: expected(&OUTPUTS[..1]),
        subjects,
        bars: vec![
            ("minijinja 3", Faster(10.0)),
            ("tera 2", Faster(7.0)),
            ("tera 1", Faster(15.0)),
            ("hcl-rs", Faster(30.0)),
            ("askama", AtMost(2.0)),
            ("hand-written", AtMost(4.0)),
        ],
    }
}

/// `app` on both machines, to measure what trusting the verifier saves.
pub fn checked() -> Workload {
    let inputs = inputs();
    Workload {
        id: "w1-checked",
        title: "W1: `app` rendered, indexes trusted",
        expected: expected(&OUTPUTS[..1]),
        subjects: each!(Ours, Checked; Render::<E>::new(templates::<E>(), &inputs, 1, "")),
        bars: Vec::new(),
    }
}

/// All five outputs with converted inputs.
pub fn render_all() -> Workload {
    let inputs = inputs();
    let mut subjects =
        each!(Ours, Minijinja, Tera2, Tera1, Hcl; Render::<E>::new(templates::<E>(), &inputs, OUTPUTS.len(), ""));
    subjects.extend(each!(Askama, Hand; RenderTyped::<E>::new(typed_inputs(), &[0, 1, 2, 3, 4])));
    Workload {
        id: "w1-render-all",
        title: "W1: all five outputs rendered, inputs ready",
        expected: expected(&OUTPUTS),
        subjects,
        bars: Vec::new(),
    }
}

/// `app` with inputs converted from `serde_json` values each time.
pub fn convert() -> Workload {
    Workload {
        id: "w1-convert",
        title: "W1: inputs converted, `app` rendered",
        expected: expected(&OUTPUTS[..1]),
        subjects: each!(Ours, Minijinja, Tera2, Tera1, Hcl; Convert::<E>::new(templates::<E>(), vec![inputs()])),
        bars: vec![("minijinja 3", Faster(5.0)), ("tera 2", Faster(5.0))],
    }
}

/// Inputs parsed from JSON text.
pub fn read() -> Workload {
    let expected = expected(&OUTPUTS[..1]);
    let mut subjects = each!(Ours, Minijinja, Tera2, Tera1, Hcl; Read::<E>::new(templates::<E>(), json()));
    subjects.push(Box::new(Skip { json: json(), expected: expected.clone() }));
    Workload {
        id: "json",
        title: "W1: JSON text to inputs",
        expected,
        subjects,
        bars: vec![("minijinja 3", AtMost(0.5)), ("skip-parse", AtMost(3.0))],
    }
}

/// All files parsed and compiled.
pub fn compile() -> Workload {
    let inputs = inputs();
    Workload {
        id: "compile",
        title: "W1: the templates parsed and compiled",
        expected: expected(&OUTPUTS),
        subjects: each!(Ours, Minijinja, Tera2, Tera1, Hcl; Compile::<E>::new(templates::<E>(), &inputs)),
        bars: vec![("minijinja 3", AtMost(1.0)), ("tera 2", AtMost(0.45)), ("tera 1", AtMost(0.05))],
    }
}

/// `app` written in HCL, with converted inputs.
pub fn hcl_render() -> Workload {
    let inputs = inputs();
    Workload {
        id: "hcl-render",
        title: "W1: `app` as a template of HCL rendered, inputs ready",
        expected: expected(&OUTPUTS[..1]),
        subjects: each!(OursHcl, Hcl; Render::<E>::new(templates::<E>(), &inputs, 1, "")),
        bars: vec![("hcl-rs", Faster(30.0))],
    }
}

/// All five templates written in HCL, parsed. Ours are also compiled.
pub fn hcl_compile() -> Workload {
    let inputs = inputs();
    Workload {
        id: "hcl-compile",
        title: "W1: the templates of HCL parsed (ours: and compiled)",
        expected: expected(&OUTPUTS),
        subjects: each!(OursHcl, Hcl; Compile::<E>::new(templates::<E>(), &inputs)),
        bars: Vec::new(),
    }
}

/// The five outputs loaded from an artifact and verified.
pub fn load() -> Workload {
    const OWN: &str = "own parse and compile";
    let (templates, inputs) = (templates::<Ours>(), inputs());
    Workload {
        id: "load",
        title: "W1: the templates loaded from an artifact, verified",
        expected: expected(&OUTPUTS),
        subjects: vec![
            Box::new(Load::new(templates.clone(), &inputs)),
            Box::new(Compile::<Ours>::new(templates, &inputs).named(OWN)),
        ],
        bars: vec![(OWN, AtMost(0.1))],
    }
}
