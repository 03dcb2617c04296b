use super::apply::Patched;
use super::*;
use crate::{Fleet, FleetOptions, Format};
use dropforge_value::Data;

fn source(text: &str) -> Arc<Source> {
    Source::new("p.yaml", text)
}

/// Patches a text with merges and operations, each for all objects.
fn patched(name: &str, text: &str, patches: &[(PatchForm, &str)]) -> std::result::Result<Option<String>, Vec<String>> {
    let definition = |(form, text): &(PatchForm, &str)| Patch {
        target: Some(PatchTarget::default()),
        form: *form,
        content: PatchContent::Text(source(text)),
        place: (source(""), Span::default()),
    };
    let messages = |errors: Vec<Box<Diagnostic>>| -> Vec<String> {
        errors
            .into_iter()
            .flat_map(|mut error| {
                let also = std::mem::take(&mut error.also);
                std::iter::once(error).chain(also).map(|error| error.message)
            })
            .collect()
    };
    let patches =
        Patches::new(patches.iter().map(definition).collect()).map_err(|errors| messages(errors.into_vec()))?;
    let fleet = Fleet::read(&Source::new("f.yaml", "name: a\n"), Format::Yaml, &FleetOptions::default()).unwrap();
    let mut reader = fleet.reader();
    let mut of_cluster =
        patches.of_cluster(&Layers::default(), reader.cluster(0).unwrap(), "default".to_owned()).unwrap();
    let patched = of_cluster.apply(name, text).map_err(messages)?;
    Ok(patched.map(|Patched { text, .. }| text))
}

fn merged(text: &str, patch: &str) -> String {
    patched("a.yaml", text, &[(PatchForm::Merge, patch)]).unwrap().unwrap()
}

fn data(text: &str) -> Data {
    yaml::read_data(&source(text), &limits()).unwrap()
}

/// The test cases of RFC 7386, one level deeper.
#[test]
fn merges_are_those_of_the_rfc() {
    for (object, patch, expected) in [
        ("{a: b}", "{a: c}", "{a: c}"),
        ("{a: b}", "{b: c}", "{a: b, b: c}"),
        ("{a: b}", "{a: null}", "{}"),
        ("{a: b, b: c}", "{a: null}", "{b: c}"),
        ("{a: [b]}", "{a: c}", "{a: c}"),
        ("{a: c}", "{a: [b]}", "{a: [b]}"),
        ("{a: {b: c}}", "{a: {b: d, c: null}}", "{a: {b: d}}"),
        ("{a: [{b: c}]}", "{a: [1]}", "{a: [1]}"),
        ("[a, b]", "[c, d]", "[c, d]"),
        ("{a: b}", "[c]", "[c]"),
        ("{a: foo}", "bar", "bar"),
        ("{e: null}", "{a: 1}", "{e: null, a: 1}"),
        ("[1, 2]", "{a: b, c: null}", "{a: b}"),
        ("{}", "{a: {bb: {ccc: null}}}", "{a: {bb: {}}}"),
    ] {
        let text = merged(&format!("kind: X\nx: {object}\n"), &format!("x: {patch}\n"));
        assert_eq!(data(&text), data(&format!("kind: X\nx: {expected}\n")), "{object} {patch}");
    }
}

/// Examples of the appendix of RFC 6902, and what it says of errors.
#[test]
fn operations_are_those_of_the_rfc() {
    for (object, operations, expected) in [
        ("{foo: bar}", "[{op: add, path: /x/baz, value: qux}]", Ok("{foo: bar, baz: qux}")),
        ("{foo: [bar, baz]}", "[{op: add, path: /x/foo/1, value: qux}]", Ok("{foo: [bar, qux, baz]}")),
        ("{foo: [bar]}", "[{op: add, path: /x/foo/-, value: [a]}]", Ok("{foo: [bar, [a]]}")),
        ("{foo: 1, baz: 2}", "[{op: remove, path: /x/baz}]", Ok("{foo: 1}")),
        ("{foo: [1, 2, 3]}", "[{op: remove, path: /x/foo/1}]", Ok("{foo: [1, 3]}")),
        ("{foo: 1}", "[{op: replace, path: /x/foo, value: boo}]", Ok("{foo: boo}")),
        ("{a: {b: 1}, c: {}}", "[{op: move, from: /x/a/b, path: /x/c/d}]", Ok("{a: {}, c: {d: 1}}")),
        ("{a: [1, 2, 3, 4]}", "[{op: move, from: /x/a/1, path: /x/a/3}]", Ok("{a: [1, 3, 4, 2]}")),
        ("{a: {b: 1}}", "[{op: copy, from: /x/a, path: /x/c}]", Ok("{a: {b: 1}, c: {b: 1}}")),
        ("{a: [1, {b: 2}]}", "[{op: test, path: /x/a/1, value: {b: 2}}]", Ok("{a: [1, {b: 2}]}")),
        (
            "{'a/b': 1, 'm~n': 2}",
            "[{op: test, path: /x/a~1b, value: 1}, {op: remove, path: /x/m~0n}]",
            Ok("{'a/b': 1}"),
        ),
        ("{'~1': 1}", "[{op: remove, path: /x/~01}]", Ok("{}")),
        (
            "{foo: 1}",
            "[{op: test, path: /x/foo, value: '1'}]",
            Err("cannot test `/x/foo` of `X/?`: expected `\"1\"`, found `1`"),
        ),
        ("{foo: 1}", "[{op: add, path: /x/a/b, value: 1}]", Err("cannot add `/x/a/b` of `X/?`: there is no `/x/a`")),
        (
            "{foo: [1]}",
            "[{op: add, path: /x/foo/2, value: 1}]",
            Err("cannot add `/x/foo/2` of `X/?`: there is no `/x/foo/2`"),
        ),
        (
            "{foo: [1, 2]}",
            "[{op: remove, path: /x/foo/01}]",
            Err("cannot remove `/x/foo/01` of `X/?`: there is no `/x/foo/01`"),
        ),
        (
            "{foo: [1]}",
            "[{op: replace, path: /x/foo/-, value: 1}]",
            Err("cannot replace `/x/foo/-` of `X/?`: there is no `/x/foo/-`"),
        ),
        (
            "{a: {}}",
            "[{op: move, from: /x/a, path: /x/a/b}]",
            Err("cannot move `/x/a/b` of `X/?`: `/x/a` cannot move into itself"),
        ),
    ] {
        let found = patched("a.yaml", &format!("kind: X\nx: {object}\n"), &[(PatchForm::Operations, operations)]);
        match expected {
            Ok(expected) => {
                assert_eq!(data(&found.unwrap().unwrap()), data(&format!("kind: X\nx: {expected}\n")), "{operations}");
            }
            Err(message) => assert_eq!(found, Err(vec![message.to_owned()])),
        }
    }
}

#[test]
fn keys_keep_their_order_and_scalars_their_notation() {
    let text = "# License\n\nkind: X   # a\nb: 'it''s'\na: \"x\\ty\"\n\"true\": 0644\nyes: on\nn:\nl:\n- 1.10\n- - ~\n  - |-\n    x\n     y\n\n- >\n  folded\n  text\n- {}\n- []\nt: !x {y: !!str 5}\n? [k]\n";
    let text = text.replace("? [k]\n", "e: 1e3\nd: 2024-01-01\nmulti: a\n  b\n");
    let expected = "# License\n\nkind: X\nb: 'it''s'\na: \"x\\ty\"\n\"true\": 0644\nyes: on\nn:\nl:\n- 1.10\n- - ~\n  - |-\n    x\n     y\n- |\n  folded text\n- {}\n- []\nt: !x\n  y: !!str 5\ne: 1e3\nd: 2024-01-01\nmulti: a b\nnew: \"no\"\n";
    assert_eq!(merged(&text, "new: \"no\"\n"), expected);
    // What is written is read as the same.
    assert_eq!(merged(expected, "{}\n"), expected);
}

#[test]
fn documents_without_a_patch_and_separators_keep_their_bytes() {
    let text = "---\n# only a comment\n---\nkind: A\n...\n---\n# c\nkind: B # kept\n---   \nkind: A\nx: 1\n";
    let of = |patch: &str| {
        let mut target = PatchTarget::default();
        target.add("kind", "A").unwrap();
        let content = PatchContent::Text(source(patch));
        let place = (source(""), Span::default());
        let patches =
            Patches::new(vec![Patch { target: Some(target), form: PatchForm::Merge, content, place }]).unwrap();
        let cluster = Cluster::new("a", Default::default());
        let mut patches = patches.of_cluster(&Layers::default(), &cluster, String::new()).unwrap();
        patches.apply("a.yaml", text).unwrap().unwrap().text
    };
    assert_eq!(
        of("x: 2\n"),
        "---\n# only a comment\n---\nkind: A\nx: 2\n...\n---\n# c\nkind: B # kept\n---   \nkind: A\nx: 2\n"
    );
    assert_eq!(of("$patch: delete\n"), "---\n# only a comment\n...\n---\n# c\nkind: B # kept\n");
}

#[test]
fn lists_of_objects_and_json_are_patched() {
    let list = "kind: ConfigMapList\nitems:\n- kind: A\n- kind: B\n";
    assert_eq!(merged(list, "x: 1\n"), "kind: ConfigMapList\nitems:\n- kind: A\n  x: 1\n- kind: B\n  x: 1\n");
    let json = patched("a.json", "{\"kind\": \"A\", \"l\": [1.50, {}]}", &[(PatchForm::Merge, "x: {y: 'z'}\n")]);
    assert_eq!(
        json.unwrap().unwrap(),
        "{\n  \"kind\": \"A\",\n  \"l\": [\n    1.5,\n    {}\n  ],\n  \"x\": {\n    \"y\": \"z\"\n  }\n}\n"
    );
    assert_eq!(patched("motd", "kind: A\n", &[(PatchForm::Merge, "x: 1\n")]), Ok(None));
}

#[test]
fn patches_see_those_before_them_and_all_errors_are_told() {
    let both = [(PatchForm::Merge, "x: [1]\n"), (PatchForm::Operations, "[{op: add, path: /x/-, value: 2}]")];
    assert_eq!(patched("a.yaml", "kind: A\n", &both).unwrap().unwrap(), "kind: A\nx:\n  - 1\n  - 2\n");
    let wrong = [
        (PatchForm::Merge, "x: {$patch: no}\n"),
        (PatchForm::Operations, "[{op: remove, path: /a}]"),
        (PatchForm::Operations, "[{op: remove, path: /b}]"),
    ];
    assert_eq!(patched("a.yaml", "kind: A\n---\nkind: B\n", &wrong).unwrap_err().len(), 6);
    // A document that cannot be read is not written as it is.
    let errors = patched("a.yaml", "kind: A\nx: 1\nx: 2\n", &both).unwrap_err();
    assert!(errors[0] == "the key `x` is given twice", "{errors:?}");
}

#[test]
fn an_item_twice_in_a_list_is_patched_twice_and_in_a_patch_refused() {
    let pod = |env: &str| format!("apiVersion: v1\nkind: Pod\nspec: {{containers: [{{name: a, env: [{env}]}}]}}\n");
    let text = merged(&pod("{name: X, value: '1'}, {name: Y}, {name: X, value: '2'}"), &pod("{name: X, value: 3}"));
    assert_eq!(data(&text), data(&pod("{name: X, value: '3'}, {name: Y}, {name: X, value: '3'}")));
    let twice = pod("{name: X}, {name: X}");
    let errors = patched("a.yaml", &pod(""), &[(PatchForm::Merge, &twice)]).unwrap_err();
    assert!(errors[0].ends_with("two items of the list have the `name` `X`"), "{errors:?}");
}

#[test]
fn long_lists_and_maps_take_time_in_proportion() {
    let items =
        |value: &str| (0..50_000).map(|nth| format!("    - {{name: n{nth}, value: '{value}'}}\n")).collect::<String>();
    let pod = |value: &str| {
        format!("apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    env:\n{}", items(value))
    };
    let text = merged(&pod("1"), &pod("2"));
    assert_eq!((text.matches("'2'").count(), text.matches("'1'").count()), (50_000, 0));
    let map = |value: &str| {
        (0..50_000).fold("kind: A\ndata:\n".to_owned(), |text, nth| text + &format!("  k{nth}: {value}\n"))
    };
    assert_eq!(merged(&map("1"), &map("null")), "kind: A\ndata: {}\n");
}
