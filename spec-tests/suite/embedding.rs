//! The library as an embedding program uses it: inputs, limits, loaders, errors.

use std::collections::BTreeMap;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::Duration;

use dropforge::Precompile;
use dropforge::diagnostics::{Code, Diagnostics};
use dropforge::engine::{Artifact, Dialect, DirLoader, Engine, Loader, Template};
use dropforge::limits::{Deadline, Limits};
use dropforge::text::Source;
use dropforge::value::{Arena, Inputs};
use dropforge::vm::Session;

fn compile(dialect: Dialect, source: &str) -> Template {
    Engine::new().compile(dialect, "t", source).unwrap_or_else(|errors| panic!("{source}: {errors}"))
}

#[test]
fn the_inputs_of_a_template_are_not_its_own_names() {
    let mut wrong = Vec::new();
    for (source, expected) in [
        ("{{ a }}{{ b.c }}", &["a", "b"][..]),
        ("{% for x in xs %}{{ x }}{{ x.name }}{% endfor %}", &["xs"]),
        ("{% for k, v in m %}{{ k }}={{ v }}{% if not loop.last %},{% endif %}{% endfor %}", &["m"]),
        ("{% set y = a %}{{ y }}{{ y | upper }}", &["a"]),
        ("{% set y = a ~ b | upper %}{{ y }}", &["a", "b"]),
        ("{% for x in xs %}{% set z = x %}{{ z }}{% endfor %}", &["xs"]),
        ("{% for x in xs %}{% set_global last = x %}{% endfor %}{{ last }}", &["last", "xs"]),
        ("{% macro m(p, q=1) %}{{ p }}{{ q }}{% endmacro m %}{{ self::m(p=a) }}", &["a"]),
        ("{% set y = 1 %}{% if c %}{{ y }}{% endif %}{% filter upper %}{{ y }}{% endfilter %}", &["c"]),
        // A read before the variable is set, and a variable that one branch sets.
        ("{{ y }}{% set y = 1 %}", &["y"]),
        ("{% if c %}{% set y = 1 %}{% endif %}{{ y }}", &["c", "y"]),
        ("{% for x in xs %}{{ x }}{% endfor %}{{ x }}", &["x", "xs"]),
    ] {
        let template = compile(Dialect::Tera, source);
        if template.inputs() != expected {
            wrong.push(format!("{source}: {:?}", template.inputs()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let engine = Engine::builder().template("part.tera", "{{ x }}{{ host }}").build();
    let source = "{% for x in xs %}{% include 'part.tera' %}{% endfor %}";
    let inputs = engine.compile(Dialect::Tera, "t", source).unwrap();
    assert_eq!(inputs.inputs(), ["host", "xs"]);
    assert_eq!(compile(Dialect::Hcl, "${[for x in xs : x + n][0]}").inputs(), ["n", "xs"]);
    assert_eq!(compile(Dialect::Cel, "xs.map(x, x + n)").inputs(), ["n", "xs"]);
    assert_eq!(compile(Dialect::CelYaml, "$let: {y: \"${a + 1}\"}\nv: ${y}\n").inputs(), ["a"]);
}

#[test]
fn the_nesting_of_every_language_is_limited_as_the_engine_says() {
    let nested = |open: &str, inner: &str, close: &str, depth| open.repeat(depth) + inner + &close.repeat(depth);
    type Wrap = fn(String) -> String;
    let sources: [(Dialect, Wrap, [&str; 3]); 9] = [
        (Dialect::Tera, |inner| format!("{{{{ {inner} }}}}"), ["(", "1", ")"]),
        (Dialect::Tera, |inner| inner, ["{% if a %}", "x", "{% endif %}"]),
        (Dialect::Helm, |inner| format!("{{{{ {inner} }}}}"), ["(", "1", ")"]),
        (Dialect::Helm, |inner| format!("{{{{ {inner} }}}}"), ["(print ", "1", ")"]),
        (Dialect::Helm, |inner| inner, ["{{ if .a }}", "x", "{{ end }}"]),
        (Dialect::Hcl, |inner| format!("${{{inner}}}"), ["[", "1", "]"]),
        (Dialect::Cel, |inner| inner, ["(", "1", ")"]),
        (Dialect::Cel, |inner| inner, ["[", "1", "]"]),
        (Dialect::CelYaml, |inner| format!("v: ${{{inner}}}\n"), ["f(", "1", ")"]),
    ];
    let mut wrong = Vec::new();
    for (dialect, wrap, [open, inner, close]) in sources {
        for limit in [10, 40] {
            let engine = Engine::builder().limits(Limits { nesting: limit, ..Limits::default() });
            let engine = engine.declare(dialect, dropforge::bytecode::ImportKind::Function, "f").build();
            let compile = |depth| engine.compile(dialect, "t", &wrap(nested(open, inner, close, depth)));
            let errors: Diagnostics = compile(limit + 1).unwrap_err();
            if errors.kind() != Some(Code::LimitDepth) || !errors.to_string().contains(&format!("{limit} levels")) {
                wrong.push(format!("{dialect:?} {open}: {errors}"));
            }
            wrong.extend(compile(limit - 2).err().map(|errors| format!("{dialect:?} {open}: {errors}")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn numbers_without_a_value_have_one_text() {
    let template = compile(Dialect::Tera, "{{ v }} {{ v ~ '' }} {{ 'a' ~ v }} {{ [v] }} {{ [v] | join(sep='-') }}");
    assert_eq!(template.render(&BTreeMap::from([("v", f64::NAN)])).unwrap(), "NaN NaN aNaN [NaN] NaN");
    assert_eq!(template.render(&BTreeMap::from([("v", f64::INFINITY)])).unwrap(), "inf inf ainf [inf] inf");
}

#[test]
fn integers_of_128_bits_that_fit_are_numbers_and_what_is_refused_has_a_path() {
    #[derive(serde::Serialize)]
    struct Sizes {
        small: i128,
        large: u128,
        lists: Vec<BTreeMap<String, Refused>>,
    }
    struct Refused(bool);
    impl serde::Serialize for Refused {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            if self.0 { Err(serde::ser::Error::custom("it has no size")) } else { serializer.serialize_u128(7) }
        }
    }
    let template = compile(Dialect::Tera, "{{ small + 1 }} {{ large }}");
    let sizes = |refused: &[bool]| Sizes {
        small: -5,
        large: u64::MAX.into(),
        lists: refused.iter().map(|refused| BTreeMap::from([("a b".to_owned(), Refused(*refused))])).collect(),
    };
    assert_eq!(template.render(&sizes(&[false])).unwrap(), "-4 18446744073709551615");
    let error = template.render(&sizes(&[false, true])).unwrap_err();
    assert!(error.message.contains("`lists[1][\"a b\"]`: it has no size"), "{error}");
    let long = compile(Dialect::Hcl, "${large + 1}").render(&BTreeMap::from([("large", u128::MAX - 1)])).unwrap();
    assert_eq!(long, u128::MAX.to_string());
}

#[test]
fn errors_of_a_build_script_name_files_by_their_path_from_here() {
    let temp = tempfile::tempdir_in(".").unwrap();
    std::fs::write(temp.path().join("bad.tera"), "a\n{{ ]").unwrap();
    let errors = Precompile::default().compile(temp.path()).unwrap_err();
    let folder = temp.path().file_name().unwrap().to_string_lossy().into_owned();
    assert!(errors.to_string().contains(&format!("{folder}/bad.tera:2:")), "{errors}");
    // The bytes do not depend on the folder.
    std::fs::write(temp.path().join("bad.tera"), "{{ a }}").unwrap();
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("bad.tera"), "{{ a }}").unwrap();
    let bytes = |path| Precompile::default().compile(path).unwrap().0;
    assert_eq!(bytes(temp.path()), bytes(other.path()));
}

#[test]
fn a_cancelled_render_says_so() {
    let template =
        compile(Dialect::Tera, "{% for a in range(end=1000) %}{% for b in range(end=1000) %}{% endfor %}{% endfor %}");
    let (arena, mut session, deadline) =
        (Arena::new(), Session::new(), Arc::new(Deadline::after(Duration::from_secs(60))));
    session.set_deadline(Some(deadline.clone()));
    deadline.cancel();
    let inputs = Inputs::new(arena.map(&[]));
    let error = template.render_inputs(&mut session, inputs, &mut String::new()).unwrap_err();
    assert_eq!((error.code, &*error.message), (Code::LimitTime, "the render was cancelled"));
}

/// A loader that looks in a directory after its own templates.
struct Own(DirLoader);

impl Loader for Own {
    fn load(&self, name: &str) -> dropforge::diagnostics::Result<Option<Arc<Source>>> {
        if name == "own.tera" { Ok(Some(Source::new(name, "own"))) } else { self.0.load(name) }
    }
}

#[test]
fn a_loader_that_lists_nothing_is_not_said_to_have_nothing() {
    let temp = tempfile::tempdir().unwrap();
    std::fs::write(temp.path().join("part.tera"), "part").unwrap();
    let engine = Engine::builder().loader(Own(DirLoader::jailed(temp.path()).unwrap())).build();
    let found = engine.compile(Dialect::Tera, "t", "{% include 'part.tera' %}{% include 'own.tera' %}").unwrap();
    assert_eq!(found.render(&()).unwrap(), "partown");
    for text in [
        engine
            .compile(Dialect::Tera, "t", "{% include 'prat.tera' %}")
            .unwrap_err()
            .iter()
            .next()
            .unwrap()
            .render(false),
        engine.load(Dialect::Tera, "prat.tera").unwrap_err().iter().next().unwrap().render(false),
    ] {
        assert!(!text.contains("available: nothing") && text.contains("Loader::names"), "{text}");
    }
    let none = Engine::new().compile(Dialect::Tera, "t", "{% include 'a' %}").unwrap_err();
    assert!(none.iter().next().unwrap().render(false).contains("available: nothing"), "{none}");
}

#[test]
fn engines_and_templates_may_cross_a_caught_panic() {
    fn safe<T: UnwindSafe + RefUnwindSafe + Send + Sync>() {}
    safe::<Engine>();
    safe::<Template>();
    safe::<Artifact>();
}

/// Asks until the answer is the wanted one, because a change is seen some milliseconds later.
fn eventually(wanted: &str, answer: impl Fn() -> String) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while answer() != wanted {
        assert!(std::time::Instant::now() < end, "{} is not {wanted}", answer());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn the_templates_of_a_directory_follow_its_files_and_the_last_good_ones_stay() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    write("a.tera", "{% include 'part.txt' %}");
    write("part.txt", "one");
    let templates = Engine::from_dir(dir.path()).unwrap();
    let render = || templates.template("a.tera").unwrap().render(&()).unwrap();
    assert_eq!((render(), templates.names()), ("one".to_owned(), vec!["a.tera".to_owned()]));
    let before = templates.template("a.tera").unwrap();

    // The part is no template itself.
    write("part.txt", "three");
    eventually("three", render);
    assert_eq!(before.render(&()).unwrap(), "one");

    write("part.txt", "{{ broken");
    let code = || templates.error().map_or_else(String::new, |error| error.code().to_owned());
    eventually("E0103", code);
    assert_eq!(render(), "three");

    write("part.txt", "four");
    write("b.tera", "b");
    eventually("four", render);
    eventually("", code);
    eventually("b", || templates.template("b.tera").map_or_else(|e| e.to_string(), |b| b.render(&()).unwrap()));
    std::fs::remove_file(dir.path().join("b.tera")).unwrap();
    eventually("E0501", || templates.template("b.tera").map_or_else(|e| e.code().to_owned(), |b| b.name().to_owned()));
    std::fs::remove_dir_all(dir.path()).unwrap();
    eventually("true", || templates.error().is_some().to_string());
    assert_eq!(render(), "four");
}

#[test]
fn a_directory_is_reloaded_beside_renders() {
    let dir = tempfile::tempdir().unwrap();
    // A writer that is paused between opening the file and writing would leave an empty one.
    let write = |text: &str| {
        let [new, file] = ["a.new", "a.tera"].map(|name| dir.path().join(name));
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, file).unwrap();
    };
    write("0 {{ n }}");
    let templates = Engine::from_dir(dir.path()).unwrap();
    let end = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for n in 0..8 {
            let (templates, end) = (&templates, &end);
            scope.spawn(move || {
                while !end.load(std::sync::atomic::Ordering::Relaxed) {
                    let text = templates.template("a.tera").unwrap().render(&dropforge::context! { n }).unwrap();
                    assert!(text.ends_with(&format!(" {n}")) && text.len() == 3, "{text}");
                }
            });
        }
        for change in 1..10 {
            write(&format!("{change} {{{{ n }}}}"));
            eventually(&format!("{change} 9"), || {
                templates.template("a.tera").unwrap().render(&dropforge::context! { n => 9 }).unwrap()
            });
        }
        end.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_long_sort_ends_in_time() {
    let xs: Vec<String> = (0..1_000_000_u32).map(|n| format!("{:08x}", n.wrapping_mul(2_654_435_761))).collect();
    let time = Some(Duration::from_millis(5));
    let engine = Engine::builder().limits(Limits { time, ..Limits::default() }).build();
    for (dialect, source) in [
        (Dialect::Tera, "{{ xs | sort | first }}"),
        (Dialect::Hcl, "${sort(xs)[0]}"),
        (Dialect::Cel, "xs.sort()[0]"),
        (Dialect::Helm, "{{ index (sortAlpha .xs) 0 }}"),
    ] {
        let template = engine.compile(dialect, "t", source).unwrap();
        let error = template.render(&dropforge::context! { xs => &xs }).unwrap_err();
        assert_eq!(error.code, Code::LimitTime, "{dialect:?}: {error}");
    }
}

/// A template that includes another one and loops.
const LOOPS: &str = "{% for x in xs %}{% include 'part.tera' %}{{ x | upper }}{% endfor %}";

fn with_part(limits: Limits) -> Engine {
    Engine::builder().limits(limits).template("part.tera", "{{ x }}").template("a.tera", LOOPS).build()
}

#[test]
fn a_template_outlives_its_engine_and_eight_threads_share_it() {
    let template = with_part(Limits::default()).load(Dialect::Tera, "a.tera").unwrap();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let template = &template;
            scope.spawn(move || {
                let xs = vec![format!("t{n}"); n + 1];
                let expected: String = (0..=n).map(|_| format!("t{n}T{n}")).collect();
                for _ in 0..100 {
                    assert_eq!(template.render(&dropforge::context! { xs => &xs }).unwrap(), expected);
                }
            });
        }
    });
}

#[test]
fn engines_write_the_same_artifact_and_count_the_same_steps() {
    let bytes = || with_part(Limits::default()).bundle([(Dialect::Tera, "a.tera")]).unwrap().encode().unwrap();
    assert_eq!(bytes(), bytes());

    let fits = |fuel: u64| {
        let template = with_part(Limits { fuel, ..Limits::default() }).load(Dialect::Tera, "a.tera").unwrap();
        let rendered = template.render(&dropforge::context! { xs => ["a", "b", "c"] });
        rendered.map_err(|error| assert_eq!(error.code, Code::LimitFuel)).is_ok()
    };
    let least = (1..10_000).find(|fuel| fits(*fuel)).unwrap();
    assert!((0..20).all(|_| fits(least) && !fits(least - 1)), "{least}");
}
