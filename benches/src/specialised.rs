//! Templates specialised to the values that a fleet shares and to the keys of its clusters' maps, compared with
//! hand-written code.

use std::hint::black_box;

use dropforge::engine::{Dialect, Engine as Forge, Template};
use dropforge::specialise::{Admission, Demand, Guard, Known};
use dropforge::value::{Arena, InputBuilder, Inputs, Shapes, Value as Input};
use dropforge::vm::Session;
use serde_json::Value;

use crate::engines::{Engine, Ours};
use crate::files::workload;
use crate::subject::{
    Bar::{AtMost, Faster},
    Subject, Workload,
};
use crate::tasks::RenderTyped;
use crate::typed::{Compiled, hand::Hand};
use crate::w1::{OUTPUTS, templates, typed_inputs};
use crate::w7::{Digest, Fleet, Typed};

/// Our engine with specialised templates.
const NAME: &str = "dropforge, specialised";

/// The maps of W7's clusters over which its templates loop.
const MAPS: [&str; 2] = ["labels", "config"];

fn compiled() -> Vec<Template> {
    let templates = templates::<Ours>();
    let forge = templates.files.into_iter().fold(Forge::builder(), |forge, (name, text)| forge.template(name, text));
    let (forge, entries) = (forge.build(), templates.entries);
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let loaded = forge.load_all(Dialect::Tera, &entries).into_iter();
    loaded.map(|template| template.unwrap_or_else(|errors| panic!("{errors}"))).collect()
}

fn all(templates: &[Template], known: &Known<'_>) -> Vec<Template> {
    templates.iter().map(|template| template.specialise(known).expect("it can be specialised")).collect()
}

fn kept<'k, 'w: 'k>(shapes: &'k Shapes<'w>, inputs: &Value) -> Input<'k> {
    InputBuilder::new(Box::leak(Box::default()), shapes).serialize(inputs).expect("inputs")
}

/// W7 with templates that each run specialises anew.
struct Specialised {
    templates: Vec<Template>,
    fleet: &'static Fleet,
    shapes: &'static Shapes<'static>,
    shared: Input<'static>,
    own: Arena,
    session: Session,
    is_deep: bool,
    out: String,
}

impl Specialised {
    fn new(fleet: &'static Fleet, is_deep: bool) -> Self {
        let shapes: &'static Shapes<'static> = Box::leak(Box::new(Shapes::new(Box::leak(Box::default()))));
        let (shared, session, out) = (kept(shapes, &fleet.shared), Session::new(), String::new());
        Self { templates: compiled(), fleet, shapes, shared, own: Arena::new(), session, is_deep, out }
    }

    /// Returns what is known of the clusters, and what the guard demands of them.
    fn known(&self) -> (Known<'static>, Vec<(String, Demand)>) {
        let Known::Fields(mut fields) = Known::of_map(self.shared.as_map().expect("a map")) else { unreachable!() };
        let first = self.fleet.clusters.first().expect("a cluster");
        let keys = |map: &str| first[map].as_object().into_iter().flat_map(serde_json::Map::keys);
        fields
            .extend(MAPS.map(|map| (map, Known::Entries(keys(map).map(|key| (key.as_str(), Known::Text)).collect()))));
        let given = |map: &str| Demand::Entries(keys(map).map(|key| (key.clone(), Demand::Text)).collect());
        (Known::Fields(fields), MAPS.map(|map| (map.to_owned(), given(map))).into())
    }

    fn stamp(&mut self, mut see: impl FnMut(&str)) {
        let (known, given) = self.known();
        let shared = Known::of_map(self.shared.as_map().expect("a map"));
        let guard = Guard::new(&shared).with(given);
        let specialised = all(&self.templates, &known);
        let mut admission = guard.admission();
        for own in &self.fleet.clusters {
            self.render(own, &specialised, &mut admission, &mut see);
        }
    }

    fn render(
        &mut self,
        own: &Value,
        specialised: &[Template],
        admission: &mut Admission<'_>,
        see: &mut impl FnMut(&str),
    ) {
        self.own.reset();
        let builder = InputBuilder::new(&self.own, self.shapes);
        let own = builder.deserialize(own).expect("inputs");
        let templates = if admission.admits(own) { specialised } else { &self.templates };
        let inputs = if self.is_deep { builder.merged(self.shared, own) } else { Inputs::layered(self.shared, own) };
        for template in templates {
            self.out.clear();
            template.render_inputs(&mut self.session, inputs, &mut self.out).unwrap_or_else(|error| panic!("{error}"));
            see(&self.out);
        }
    }
}

impl Subject for Specialised {
    fn engine(&self) -> &'static str {
        NAME
    }

    fn run(&mut self) {
        self.stamp(|text| {
            black_box(text);
        });
    }

    fn output(&mut self) -> String {
        let mut digest = Digest::default();
        self.stamp(|text| digest.add(text));
        digest.finish()
    }
}

/// Renders the fleet with specialised templates, specialising included.
pub fn fleet(fleet: &'static Fleet) -> Workload {
    of_fleet(fleet, "w7-specialised", false, 0.9)
}

/// Renders the fleet with specialised templates, values merged deeply.
pub fn fleet_deep(fleet: &'static Fleet) -> Workload {
    of_fleet(fleet, "w7-specialised-deep", true, 1.15)
}

fn of_fleet(fleet: &'static Fleet, id: &'static str, is_deep: bool, most: f64) -> Workload {
    let mut hand = Typed::<Hand>::new(fleet);
    let title = if is_deep {
        "W7: the same, templates specialised, values merged deeply"
    } else {
        "W7: the same, templates specialised, which is included"
    };
    Workload {
        id,
        title,
        expected: hand.output(),
        subjects: vec![Box::new(Specialised::new(fleet, is_deep)), Box::new(hand)],
        bars: vec![(Hand::NAME, AtMost(most))],
    }
}

/// One specialised template with converted inputs.
struct Render {
    template: Template,
    inputs: Inputs<'static>,
    session: Session,
    out: String,
}

impl Subject for Render {
    fn engine(&self) -> &'static str {
        NAME
    }

    fn run(&mut self) {
        self.out.clear();
        let rendered = self.template.render_inputs(&mut self.session, self.inputs, &mut self.out);
        rendered.unwrap_or_else(|error| panic!("{error}"));
        black_box(&self.out);
    }

    fn output(&mut self) -> String {
        self.run();
        self.out.clone()
    }
}

/// `app` specialised to the values that W7's clusters share. Nothing is known of the others.
pub fn app() -> Workload {
    let shapes: &'static Shapes<'static> = Box::leak(Box::new(Shapes::new(Box::leak(Box::default()))));
    let context = kept(shapes, &crate::w1::inputs());
    let names: Vec<&str> = crate::typed::SHARED.into();
    let map = context.as_map().expect("a map");
    let known = names.into_iter().filter_map(|name| Some((name, Known::Value(map.get(name)?)))).collect();
    let template = compiled().swap_remove(0).specialise(&Known::Fields(known)).expect("it can be specialised");
    let (inputs, session, out) = (Inputs::new(context), Session::new(), String::new());
    Workload {
        id: "w1-specialised",
        title: "W1: `app` specialised to a fleet's shared values, inputs ready",
        expected: workload(&format!("w1/expected/{}.yaml", OUTPUTS[0])),
        subjects: vec![
            Box::new(Render { template, inputs, session, out }),
            Box::new(RenderTyped::<Hand>::new(typed_inputs(), &[0])),
        ],
        bars: vec![(Hand::NAME, AtMost(1.0))],
    }
}

/// The five templates specialised to the values that W7's clusters share.
struct Specialise {
    templates: Vec<Template>,
    known: Known<'static>,
    inputs: Inputs<'static>,
}

impl Subject for Specialise {
    fn engine(&self) -> &'static str {
        Ours::NAME
    }

    fn run(&mut self) {
        black_box(all(&self.templates, &self.known));
    }

    fn output(&mut self) -> String {
        let (mut session, mut out) = (Session::new(), String::new());
        for template in all(&self.templates, &self.known) {
            template.render_inputs(&mut session, self.inputs, &mut out).unwrap_or_else(|error| panic!("{error}"));
        }
        out
    }
}

/// Specialising, beside compiling.
pub fn specialise() -> Workload {
    const COMPILE: &str = "own parse and compile";
    let shapes: &'static Shapes<'static> = Box::leak(Box::new(Shapes::new(Box::leak(Box::default()))));
    let context = kept(shapes, &crate::w1::inputs());
    let map = context.as_map().expect("a map");
    let known = crate::typed::SHARED.into_iter().filter_map(|name| Some((name, Known::Value(map.get(name)?))));
    let known = Known::Fields(known.collect());
    let compile = crate::tasks::Compile::<Ours>::new(templates::<Ours>(), &crate::w1::inputs()).named(COMPILE);
    Workload {
        id: "specialise",
        title: "W1: the five templates specialised to a fleet's shared values",
        expected: OUTPUTS.iter().map(|output| workload(&format!("w1/expected/{output}.yaml"))).collect(),
        subjects: vec![
            Box::new(Specialise { templates: compiled(), known, inputs: Inputs::new(context) }),
            Box::new(compile),
        ],
        bars: vec![(COMPILE, Faster(0.0))],
    }
}
