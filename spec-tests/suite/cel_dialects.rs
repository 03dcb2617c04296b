//! What implementations of CEL have in place of the specification, row by row.

use dropforge::engine::{CelDialect, Dialect, Engine};

/// Expressions, and their results in the specification, kro and Kubernetes: text, or the beginning of an error.
const ROWS: &[(&str, [&str; 3])] = &[
    ("duration('1.5s').getMilliseconds()", ["500", "1500", "1500"]),
    ("duration('-2.5s').getMilliseconds()", ["-500", "-2500", "-2500"]),
    ("timestamp('2024-01-01T00:00:01.5Z').getMilliseconds()", ["500", "500", "500"]),
    ("timestamp('2024-01-01T00:00:01.5Z').getMilliseconds('+01:00')", ["500", "500", "500"]),
    ("'abc'.indexOf('c', 5)", ["E0403", "-1", "-1"]),
    ("'abc'.indexOf('c', 3)", ["-1", "-1", "-1"]),
    ("'abc'.indexOf('c', 1)", ["2", "2", "2"]),
    ("'abc'.indexOf('c', -1)", ["E0403", "E0403", "E0403"]),
    ("'abc'.indexOf('', 30)", ["3", "3", "3"]),
    ("'日本'.indexOf('本', 2)", ["-1", "-1", "-1"]),
    ("'abc'.lastIndexOf('a', 5)", ["E0403", "-1", "-1"]),
    ("'abc'.lastIndexOf('a', 2)", ["0", "0", "0"]),
    ("'abc'.lastIndexOf('a', -1)", ["E0403", "E0403", "E0403"]),
    ("[1, 2].indexOf(2)", ["1", "1", "1"]),
    ("[1, 2, 1].lastIndexOf(1)", ["2", "2", "2"]),
    ("type(json.unmarshal('1')) == double", ["false", "true", "E0401"]),
    ("json.unmarshal('{\"a\": [1, {\"b\": 2}]}').a[1].b / 4", ["0", "E0301", "E0401"]),
    ("json.unmarshal('{\"a\": [1, \"x\", null]}').a[1]", ["\"x\"", "\"x\"", "E0401"]),
    ("json.marshal({'a': 1.0})", ["\"{\\\"a\\\":1}\"", "\"{\\\"a\\\":1}\"", "E0401"]),
    ("size(hash.md5('a'))", ["16", "16", "E0401"]),
    ("size(random.seededString(3, 'a'))", ["3", "3", "E0401"]),
    ("{'a': 1}.merge({'b': 2}).size()", ["2", "2", "E0401"]),
    ("{'a': 1}.deepMerge({'b': 2}).size()", ["2", "2", "E0401"]),
    ("lists.setAtIndex([1], 0, 2)[0]", ["2", "2", "E0401"]),
    ("lists.insertAtIndex([1], 0, 2)[0]", ["2", "2", "E0401"]),
    ("lists.removeAtIndex([1, 2], 0)[0]", ["2", "2", "E0401"]),
    ("base64.encode(b'a')", ["\"YQ==\"", "\"YQ==\"", "E0401"]),
    ("'ab'.reverse()", ["\"ba\"", "\"ba\"", "E0401"]),
    ("[1, 2].reverse()[0]", ["2", "2", "E0401"]),
    ("math.greatest(1, 2)", ["2", "E0401", "E0401"]),
    ("regex.replace('a', 'a', 'b')", ["\"b\"", "E0401", "E0401"]),
    ("range(2)[1]", ["1", "E0401", "E0401"]),
    ("lists.range(2)[1]", ["1", "1", "E0401"]),
    ("[2, 1].sort()[0]", ["1", "1", "E0401"]),
    ("cel.bind(x, 1, x + 1)", ["2", "2", "E0401"]),
    ("jsonpatch.escapeKey('a/b')", ["\"a~1b\"", "E0401", "E0401"]),
    ("sets.contains([1], [1])", ["true", "E0401", "true"]),
    ("['a'].map(sets, sets.contains('a'))[0]", ["true", "true", "true"]),
    ("format.dns1123Label().validate('a').hasValue()", ["false", "E0401", "false"]),
    ("1 < 1.5", ["true", "E0301", "true"]),
    ("2u >= 1", ["true", "E0301", "true"]),
    ("dyn(1) < 1.5", ["true", "true", "true"]),
    ("[1, 'a'].size()", ["2", "2", "E0301"]),
    ("{'a': 1, 'b': 'x'}.size()", ["2", "2", "E0301"]),
    ("quantity('1k').isGreaterThan(quantity('1'))", ["true", "true", "true"]),
    ("ip('10.0.0.1').family() + semver('1.2.3').major()", ["5", "5", "5"]),
    ("url('https://a.b/').getHost()", ["\"a.b\"", "\"a.b\"", "\"a.b\""]),
    ("{'a': 1}.transformMap(k, v, v + 1).a", ["2", "2", "2"]),
    ("'%d'.format([1])", ["\"1\"", "\"1\"", "\"1\""]),
];

const DIALECTS: [CelDialect; 3] = [CelDialect::Spec, CelDialect::Kro, CelDialect::Kubernetes];

fn engine(dialect: CelDialect) -> Engine {
    Engine::builder().cel_dialect(dialect).build()
}

/// Returns the result of an expression, or the code of its error.
fn evaluated(dialect: CelDialect, text: &str) -> String {
    let compiled = match engine(dialect).compile(Dialect::Cel, "e.cel", text) {
        Ok(compiled) => compiled,
        Err(errors) => return errors.iter().next().expect("an error").code.id().to_owned(),
    };
    compiled.render(&()).map_or_else(|error| error.code.id().to_owned(), |text| text.trim_end().to_owned())
}

#[test]
fn each_row_of_the_table_holds() {
    for (text, results) in ROWS {
        for (dialect, result) in DIALECTS.into_iter().zip(results) {
            assert_eq!(evaluated(dialect, text), *result, "{dialect:?}: {text}");
        }
        // Without constants to fold, and in YAML.
        let yaml = format!("v: >-\n  ${{{}}}\n", text.replace("'abc'", "t"));
        for (dialect, result) in DIALECTS.into_iter().zip(results).filter(|(_, result)| result.parse::<i64>().is_ok()) {
            let compiled = engine(dialect).compile(Dialect::CelYaml, "e.cel.yaml", yaml.as_str()).expect(&yaml);
            assert_eq!(
                compiled.render(&serde_json::json!({"t": "abc"})).expect(&yaml),
                format!("v: {result}\n"),
                "{yaml}"
            );
        }
    }
}

#[test]
fn every_function_with_another_meaning_has_a_row() {
    let registry = dropforge::dialect::cel::registry();
    let kro = dropforge::dialect::cel::dialects::functions(&registry, "kro");
    let changed: Vec<_> = kro.iter().filter(|function| function.compiles_to.is_some()).collect();
    assert_eq!(changed.len(), 4);
    for function in changed {
        let differs = |(text, [spec, other, _]): &&(&str, [&str; 3])| text.contains(&*function.name) && spec != other;
        assert!(ROWS.iter().any(|row| differs(&row)), "{}", function.name);
    }
}

#[test]
fn an_artifact_keeps_the_meaning_that_it_was_compiled_with() {
    for (dialect, wanted) in [(CelDialect::Spec, "[500]\n"), (CelDialect::Kro, "[1500]\n")] {
        let text = "[d].map(x, duration(x).getMilliseconds())";
        let build = Engine::builder().cel_dialect(dialect).template("e.cel", text).build();
        let bytes = build.bundle([(Dialect::Cel, "e.cel")]).unwrap().encode().unwrap();
        let template = Engine::new().open(bytes).unwrap().template("e.cel").unwrap();
        assert_eq!(template.render(&serde_json::json!({"d": "1.5s"})).unwrap(), wanted);
    }
}

#[test]
fn the_error_of_a_function_that_is_elsewhere_names_the_option() {
    for (text, name) in [("json.marshal(1)", "json.marshal"), ("{}.merge({})", "merge"), ("range(1)", "range")] {
        let error = engine(CelDialect::Kubernetes).compile(Dialect::Cel, "e.cel", text).unwrap_err();
        let text = error.to_string();
        let help = error.iter().next().and_then(|error| error.help.clone()).unwrap_or_default();
        assert!(text.contains(name) && help.contains("--cel-dialect"), "{text} {help}");
    }
}
