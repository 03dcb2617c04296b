use std::fs;
use std::path::{Path, PathBuf};

use super::{FILES, *};
use crate::{CelPresence, DirLoader, Engine, EngineBuilder, Origin, TeraDialect, UnknownNames};
use dropforge_base::diagnostics::Code;
use dropforge_machine::function::HostArgs;

struct Place {
    temp: tempfile::TempDir,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Self { temp: tempfile::tempdir().unwrap() };
        fs::create_dir(place.temp.path().join("t")).unwrap();
        files.iter().for_each(|(name, text)| place.write(name, text));
        place
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.temp.path().join("t").join(name), text).unwrap();
    }

    fn cache(&self) -> Cache {
        Cache::new(self.temp.path().join("cache"))
    }

    fn load_by(&self, builder: EngineBuilder) -> (Origin, String) {
        let engine = builder.loader(DirLoader::jailed(self.temp.path().join("t")).unwrap()).build();
        let template = engine.load(Dialect::Tera, "a.tera").unwrap();
        (template.origin(), template.render(&serde_json::json!({"n": 1})).unwrap())
    }

    fn load(&self) -> (Origin, String) {
        self.load_by(Engine::builder().cache(self.cache()))
    }

    /// Returns the files of the cache.
    fn kept(&self) -> Vec<PathBuf> {
        let shelves = fs::read_dir(self.temp.path().join("cache")).into_iter().flatten().flatten();
        shelves.flat_map(|shelf| fs::read_dir(shelf.path()).unwrap().map(|file| file.unwrap().path())).collect()
    }
}

#[test]
fn a_second_engine_uses_the_cache_of_the_first() {
    let place = Place::new(&[("a.tera", "{% include 'b.tera' %}{{ n }}"), ("b.tera", "b")]);
    assert_eq!(place.load(), (Origin::Source, "b1".into()));
    assert_eq!(place.load(), (Origin::Cache, "b1".into()));
    assert_eq!(place.kept().len(), 1);
    let engine = Engine::builder().cache(place.cache()).loader(DirLoader::jailed(place.temp.path().join("t")).unwrap());
    assert_eq!(engine.build().load(Dialect::Tera, "a.tera").unwrap().reaches(), ["b.tera"]);
}

#[test]
fn whatever_it_was_made_from_changes_it() {
    let place = Place::new(&[("a.tera", "{% include ['c.tera', 'b.tera'] %}{{ n }}"), ("b.tera", "b")]);
    assert_eq!(place.load(), (Origin::Source, "b1".into()));
    place.write("b.tera", "B");
    assert_eq!(place.load(), (Origin::Source, "B1".into()));
    place.write("c.tera", "now there is one");
    assert_eq!(place.load(), (Origin::Source, "now there is one1".into()));
    fs::remove_file(place.temp.path().join("t/c.tera")).unwrap();
    assert_eq!(place.load(), (Origin::Source, "B1".into()));
    place.write("a.tera", "{{ n + 1 }}");
    assert_eq!(place.load(), (Origin::Source, "2".into()));
    assert_eq!(place.load(), (Origin::Cache, "2".into()));
}

#[test]
fn options_and_functions_are_part_of_the_cache_key() {
    let place = Place::new(&[("a.tera", "{{ '<' }}")]);
    let by = |builder: EngineBuilder| place.load_by(builder.cache(place.cache()));
    let limits = |limits: Limits| Engine::builder().limits(limits);
    let builders: [fn() -> EngineBuilder; 3] = [
        Engine::builder,
        || Engine::builder().escape_suffixes([""]),
        || Engine::builder().filter(Dialect::Tera, "shout", |_: &HostArgs| 1),
    ];
    for builder in builders {
        assert_eq!(by(builder()).0, Origin::Source);
        assert_eq!(by(builder()).0, Origin::Cache);
    }
    assert_eq!(by(limits(Limits { nesting: 7, ..Limits::default() })).0, Origin::Source);
    assert_eq!(by(limits(Limits { fuel: 7_000, ..Limits::default() })).0, Origin::Cache);
    assert_eq!(by(Engine::builder().escape_suffixes([""])).1, "&lt;");
    assert_eq!(place.load_by(Engine::builder().cache(place.cache().salt("x"))).0, Origin::Source);
}

#[test]
fn strict_let_is_part_of_the_cache_key() {
    let place = Place::new(&[("a.cel.yaml", "$let: {b: east}\nc: ${b}\n")]);
    let load = |strict| {
        let loader = DirLoader::jailed(place.temp.path().join("t")).unwrap();
        let engine = Engine::builder().loader(loader).cache(place.cache()).strict_let(strict).build();
        let template = engine.load(Dialect::CelYaml, "a.cel.yaml").unwrap();
        (template.origin(), template.render(&()).map_err(|error| error.message))
    };
    let strict = Err("no such attribute: east".to_owned());
    for origin in [Origin::Source, Origin::Cache] {
        assert_eq!(load(false), (origin, Ok("c: east\n".to_owned())));
        assert_eq!(load(true), (origin, strict.clone()));
    }
}

#[test]
fn the_mode_of_presence_tests_is_part_of_the_cache_key() {
    let place = Place::new(&[("a.cel", "has(x.y)")]);
    let load = |presence| {
        let loader = DirLoader::jailed(place.temp.path().join("t")).unwrap();
        let engine = Engine::builder().loader(loader).cache(place.cache()).cel_presence(presence).build();
        let template = engine.load(Dialect::Cel, "a.cel").unwrap();
        (template.origin(), template.render(&serde_json::json!({"x": null})).map_err(|error| error.message))
    };
    let strict = Err("type 'null_type' does not support field selection".to_owned());
    for origin in [Origin::Source, Origin::Cache] {
        assert_eq!(load(CelPresence::Lenient), (origin, Ok("false\n".to_owned())));
        assert_eq!(load(CelPresence::Strict), (origin, strict.clone()));
    }
}

#[test]
fn plain_tera_is_part_of_the_cache_key() {
    let place = Place::new(&[("a.tera", "{% if x %}{{ x | to_json }}{% endif %}")]);
    let load = |dialect| {
        let loader = DirLoader::jailed(place.temp.path().join("t")).unwrap();
        let builder =
            Engine::builder().loader(loader).cache(place.cache()).filter(Dialect::Tera, "quote", |_: &HostArgs| "mine");
        let template = builder.tera(dialect).build().load(Dialect::Tera, "a.tera");
        template.map(|template| template.origin()).map_err(|errors| errors.iter().count())
    };
    for origin in [Origin::Source, Origin::Cache] {
        assert_eq!(load(TeraDialect::Plus), Ok(origin));
        assert_eq!(load(TeraDialect::Plain), Err(1));
    }
    place.write("a.tera", "{{ 'x' | quote }}");
    assert_eq!([load(TeraDialect::Plus), load(TeraDialect::Plain)], [Ok(Origin::Source), Ok(Origin::Source)]);
    assert_eq!([load(TeraDialect::Plus), load(TeraDialect::Plain)], [Ok(Origin::Cache), Ok(Origin::Cache)]);
}

#[test]
fn a_changed_file_of_the_cache_is_compiled_anew_wherever_it_was_changed() {
    let place = Place::new(&[("a.tera", "{% include 'b.tera' %}{{ n }}"), ("b.tera", "b")]);
    place.load();
    let file = place.kept().remove(0);
    let sound = fs::read(&file).unwrap();
    for at in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[at] ^= 0x10;
        fs::write(&file, &bytes).unwrap();
        assert_eq!(place.load(), (Origin::Source, "b1".into()), "byte {at}");
        assert_eq!(fs::read(&file).unwrap(), sound);
    }
    for len in (0..sound.len()).step_by(7) {
        fs::write(&file, &sound[..len]).unwrap();
        assert_eq!(place.load(), (Origin::Source, "b1".into()), "{len} bytes");
    }
    fs::write(&file, [sound.as_slice(), b"x"].concat()).unwrap();
    assert_eq!(place.load().0, Origin::Source);
    assert_eq!(place.load().0, Origin::Cache);
}

#[test]
fn small_programs_and_errors_are_not_cached() {
    let place = Place::new(&[("a.tera", "{{ n }}")]);
    let large = || Engine::builder().cache(place.cache().at_least(8));
    assert_eq!((place.load_by(large()).0, place.kept().len()), (Origin::Source, 0));
    place.write("a.tera", "{{ n }} ");
    place.load_by(large());
    assert_eq!(place.kept().len(), 1);

    place.write("a.tera", "{% if %}");
    let loader = DirLoader::jailed(place.temp.path().join("t")).unwrap();
    assert!(large().loader(loader).build().load(Dialect::Tera, "a.tera").is_err());
    let helped = Engine::builder().cache(place.cache()).template("a.tera", "{% if n %}{% include 'x' %}{% endif %}");
    helped.unknown_names(UnknownNames::Late).template("b.tera", "").build().load(Dialect::Tera, "a.tera").unwrap();
    assert_eq!(place.kept().len(), 1);
}

#[test]
fn a_place_that_cannot_be_used_is_none() {
    let place = Place::new(&[("a.tera", "{{ n }}")]);
    fs::write(place.temp.path().join("cache"), "a file").unwrap();
    assert_eq!(place.load(), (Origin::Source, "1".into()));
    assert_eq!(place.load(), (Origin::Source, "1".into()));
}

#[test]
fn it_stays_within_its_limits_and_removes_leftovers() {
    let temp = tempfile::tempdir().unwrap();
    let store = Store::new(temp.path().to_owned());
    let digest = |nth: usize| <Digest>::from(Sha256::digest(nth.to_le_bytes()));
    let shelf = |path: &Path| fs::read_dir(path).map_or(0, Iterator::count);
    fs::create_dir(temp.path().join("0")).unwrap();
    let orphan = temp.path().join("0/.dead");
    fs::write(&orphan, "part").unwrap();
    (0..FILES * 20).for_each(|nth| store.write(&digest(nth), b"x"));
    for name in 0..16 {
        assert!(shelf(&temp.path().join(format!("{name:x}"))) <= FILES);
    }
    assert!(!orphan.exists());
    assert_eq!(store.read(&digest(FILES * 20 - 1)).unwrap(), b"x");
    store.write(&digest(1), &vec![0; 2 << 20]);
    assert_ne!(store.read(&digest(1)).map(|bytes| bytes.len()), Some(2 << 20));
}

#[test]
fn many_writers_and_readers_at_once_see_whole_files() {
    let place = Place::new(&[("a.tera", "{% include 'b.tera' %}{{ n }}"), ("b.tera", "b")]);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(place.load().1, "b1");
                    place.kept().into_iter().for_each(|path| drop(fs::remove_file(path)));
                }
            });
        }
    });
    assert_eq!(place.load().1, "b1");
}

#[test]
fn only_uncached_templates_of_a_set_are_compiled() {
    let place = Place::new(&[("a.tera", "a{% include 'p' %}"), ("b.tera", "b{% include 'p' %}"), ("p", "p")]);
    place.write("broken.tera", "{% if %}");
    let engine = || {
        let loader = DirLoader::jailed(place.temp.path().join("t")).unwrap();
        Engine::builder().cache(place.cache()).loader(loader).build()
    };
    let told = |names: &[&str]| {
        let answers = engine().load_all(Dialect::Tera, names).into_iter();
        let told = answers.map(|answer| answer.map(|one| (one.origin(), one.render(&()).unwrap())).map_err(|_| ()));
        told.collect::<Vec<_>>()
    };
    let of = |origin, text: &str| Ok((origin, text.to_owned()));
    assert_eq!(told(&["a.tera"]), [of(Origin::Source, "ap")]);
    let names = ["b.tera", "absent", "a.tera", "broken.tera"];
    assert_eq!(told(&names), [of(Origin::Source, "bp"), Err(()), of(Origin::Cache, "ap"), Err(())]);
    assert_eq!(told(&names[..3]), [of(Origin::Cache, "bp"), Err(()), of(Origin::Cache, "ap")]);
}

#[test]
fn a_template_with_unknown_names_is_not_cached() {
    let place = Place::new(&[("a.tera", "{{ n | nope }}")]);
    let loader = || DirLoader::jailed(place.temp.path().join("t")).unwrap();
    let engine = |when| Engine::builder().cache(place.cache()).loader(loader()).unknown_names(when).build();
    let late = engine(UnknownNames::Late);
    for _ in 0..2 {
        assert_eq!(late.load(Dialect::Tera, "a.tera").unwrap().origin(), Origin::Source);
    }
    let errors = engine(UnknownNames::Early).load(Dialect::Tera, "a.tera").unwrap_err();
    assert_eq!(errors.first().unwrap().code, Code::UnknownFunction);
    let engine = late;
    assert_eq!(engine.bundle([(Dialect::Tera, "a.tera")]).unwrap().lints().len(), 1);
}
