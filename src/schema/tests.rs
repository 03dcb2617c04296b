//! Tests of reading schemas and validating values.

use super::{Draft, Schema, SchemaError, Schemas, Types, Violation};
use dropforge_base::limits::Limits;
use dropforge_base::stdlib::bignum::BigNum;
use dropforge_base::text::Source;
use dropforge_value::{Arena, Data, Entries, Extended, InputBuilder, Shapes, Type, Value, yaml};

fn data(text: &str) -> Data {
    yaml::read_data(&Source::new("in.yaml", text), &Limits::default()).expect("YAML")
}

fn read(data: &Data) -> Result<Schema, Vec<SchemaError>> {
    Schema::read(data, Draft::Template)
}

/// Returns the input `text`, as long as `arena` lives.
fn with<T>(text: &str, then: impl FnOnce(Value<'_>) -> T) -> T {
    let (arena, other) = (Arena::new(), Arena::new());
    let (shapes, data) = (Shapes::new(&other), data(text));
    then(InputBuilder::new(&arena, &shapes).data(&data).unwrap())
}

fn found(schema: &str, text: &str) -> String {
    let schema = read(&data(schema)).unwrap_or_else(|faults| panic!("{schema}: {faults:?}"));
    let found = with(text, |value| schema.validate(value, 100, &mut |_| Ok::<(), ()>(()))).expect("steps");
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

#[test]
fn values_are_held_against_every_word() {
    for (schema, value, wanted) in [
        ("string", "a", ""),
        ("string", "1", "expected a string, found the integer 1 (type)"),
        ("string", "~", "expected a string, found null (type)"),
        ("type: integer", "1.0", ""),
        ("type: integer", "1.5", "expected an integer, found the number 1.5 (type)"),
        ("type: integer", "18446744073709551615", ""),
        ("type: number", "1", ""),
        ("type: number", ".nan", ""),
        ("type: integer", ".inf", "expected an integer, found the number inf (type)"),
        ("type: boolean", "yes", "expected a boolean, found the string \"yes\" (type)"),
        ("type: [string, 'null']", "~", ""),
        ("type: [string, 'null']", "[]", "expected null or a string, found an array (type)"),
        ("{}", "{a: [1]}", ""),
        ("enum: [a, 1, [2], {b: 3}]", "1.0", ""),
        ("enum: [a, 1, [2], {b: 3}]", "[2.0]", ""),
        ("enum: [a, 1, [2], {b: 3}]", "{b: 3}", ""),
        ("enum: [a, 1]", "b", "expected one of \"a\", 1, found the string \"b\" (enum)"),
        ("const: 1", "2", "expected 1, found the integer 2 (enum)"),
        ("pattern: b", "abc", ""),
        ("pattern: ^b", "abc", "expected a match of `^b`, found the string \"abc\" (pattern)"),
        ("pattern: b", "1", ""),
        ("{type: number, maximum: 2}", "3", "expected at most 2, found the integer 3 (maximum)"),
        ("{minimum: 2}", "2", ""),
        ("{exclusiveMinimum: 2}", "2", "expected more than 2, found the integer 2 (exclusiveMinimum)"),
        ("{minimum: 1, exclusiveMinimum: 2}", "2", "expected more than 2, found the integer 2 (exclusiveMinimum)"),
        ("{minimum: 3, exclusiveMinimum: 2}", "2.5", "expected at least 3, found the number 2.5 (minimum)"),
        (
            "{maximum: 9007199254740992.0}",
            "9007199254740993",
            "expected at most 9007199254740992, found the integer 9007199254740993 (maximum)",
        ),
        ("{minimum: 1}", ".nan", "expected at least 1, found the number NaN (minimum)"),
        ("{minLength: 2, maxLength: 3}", "é", "expected at least 2 characters, found 1 (minLength)"),
        ("{maxItems: 1}", "[1, 2]", "expected at most 1 element, found 2 (maxItems)"),
        (
            "items: integer",
            "[1, a, 2, b]",
            "`[1]`: expected an integer, found the string \"a\" (type); `[3]`: expected an integer, found the string \"b\" (type)",
        ),
        (
            "properties: {a: {properties: {b/~: string}}}",
            "{a: {b/~: 1}, c: 2}",
            "`a[\"b/~\"]`: expected a string, found the integer 1 (type)",
        ),
        (
            "{properties: {a: string}, additionalProperties: false}",
            "{a: x, b: 1}",
            "`b`: unexpected property (additionalProperties)",
        ),
        ("additionalProperties: string", "{a: x, b: 1}", "`b`: expected a string, found the integer 1 (type)"),
        ("{required: [a, b]}", "{a: 1}", "missing property `b` (required)"),
        ("properties: {a: {type: string, required: true}}", "{}", "missing property `a` (required)"),
    ] {
        assert_eq!(found(schema, value), wanted, "{schema} {value}");
    }
}

#[test]
fn every_schema_error_has_a_pointer() {
    for (schema, wanted) in [
        ("1", ": a schema must be a map or the name of a type"),
        ("strng", ": there is no type `strng`; did you mean `string`?"),
        ("type: int", "/type: there is no type `int`; did you mean `integer`?"),
        ("type: [bool, string]", "/type: there is no type `bool`; did you mean `boolean`?"),
        (
            "integer | default=3 minimum=1",
            ": there is no type `integer | default=3 minimum=1`; write `{type: integer, default: 3, minimum: 1}`; `--schema-defaults` gives inputs their defaults",
        ),
        (
            "type: uuid",
            "/type: there is no type `uuid`; the types are null, boolean, integer, number, string, array, object",
        ),
        (
            "{type: 1, items: 2}",
            "/type: `type` must be the name of a type or a list of names | /items: a schema must be a map or the name of a type",
        ),
        ("{maxmum: 1}", "/maxmum: `maxmum` is not a keyword of JSON Schema; did you mean `maximum`?"),
        ("{enum: []}", "/enum: `enum` must be a list of at least one value"),
        ("{properties: [a]}", "/properties: `properties` must map names to schemas"),
        (
            "properties: {a/b: {type: []}}",
            "/properties/a~1b/type: `type` must be the name of a type or a list of names",
        ),
        (
            "{minimum: a, minLength: -1}",
            "/minimum: `minimum` must be a number | /minLength: expected a whole number that is not negative",
        ),
        ("{required: 1}", "/required: `required` must be a list of property names, or `true`"),
        (
            "{type: integer, default: a}",
            "/default: the default does not fit its own schema: expected an integer, found the string \"a\" (type)",
        ),
        ("{pattern: 1}", "/pattern: `pattern` must be a regular expression"),
    ] {
        let told = |fault: SchemaError| {
            let help = fault.help.map_or(String::new(), |help| format!("; {help}"));
            format!("{}: {}{help}", fault.pointer, fault.message)
        };
        let faults = read(&data(schema)).expect_err(schema);
        assert_eq!(faults.into_iter().map(told).collect::<Vec<_>>().join(" | "), wanted, "{schema}");
    }
    for pattern in ["(", "a**", "a{1001}", "(?=a)", &"(".repeat(2000), &"a".repeat(5000), &"(a{1000}){1000}".repeat(3)]
    {
        let schema = Data::Map([("pattern".to_owned(), Data::Str(pattern.to_owned()))].into_iter().collect());
        assert_eq!(read(&schema).expect_err(pattern)[0].pointer, "/pattern");
    }
}

#[test]
fn defaults_and_required_values() {
    let schema = read(&data("{type: integer, default: 3, description: d}")).unwrap();
    assert_eq!((schema.default_value(), schema.is_required()), (Some(&Data::Int(3)), false));
    let schema = read(&data("{type: [integer, string], required: true}")).unwrap();
    assert!(schema.is_required());
    let defaulted = read(&data("{type: integer, required: true, default: 1}")).unwrap();
    assert!(!defaulted.is_required());
    let kept = Schemas::read(&Schemas::text([("x", &defaulted)])).unwrap();
    assert!(kept.validate(&[Value::Undefined], 1, &mut |_| Ok::<(), ()>(())).unwrap().is_empty());
    let types = schema.node(Schema::ROOT).unwrap().types;
    assert!(types.has(Types::STRING) && types.has(Types::INTEGER) && !types.has(Types::NUMBER));
    assert_eq!(types.names().collect::<Vec<_>>(), ["integer", "string"]);
}

#[test]
fn work_is_paid_for_and_violations_are_counted() {
    let schema = read(&data("items: {enum: [a, b, c]}")).unwrap();
    with(&format!("[{}]", "x,".repeat(1000)), |value| {
        let mut spent = 0;
        let found = schema.validate(value, 7, &mut |steps| {
            spent += steps;
            Ok::<(), ()>(())
        });
        assert_eq!(found.unwrap().len(), 7);
        assert!(spent > 1000);
        let mut left = 100_u64;
        let ended = schema.validate(value, 7, &mut |steps| {
            left = left.checked_sub(steps).ok_or("too much")?;
            Ok(())
        });
        assert_eq!(ended, Err("too much"));
    });
}

/// Validates a non-JSON value against `schema`.
fn found_in(schema: &str, value: impl FnOnce(&Arena) -> Value<'_>) -> Vec<Violation> {
    let (schema, arena) = (read(&data(schema)).expect(schema), Arena::new());
    schema.validate(value(&arena), 100, &mut |_| Ok::<(), ()>(())).expect("steps")
}

#[test]
fn values_that_json_has_no_type_for() {
    let big = |text: &str| BigNum::parse(text).expect(text);
    type Make = fn(&Arena) -> Value<'_>;
    let moment: Make = |arena| arena.extended(Extended::Timestamp { seconds: 0, nanos: 0 });
    let bytes: Make = |arena| arena.extended(Extended::Bytes(b"a"));
    let span: Make = |arena| arena.extended(Extended::Duration(1));
    let spelled: Make = |arena| arena.spelled(Value::Int(12), "0xC");
    let tagged: Make = |arena| arena.tagged(arena.text("a"), "!x", 0);
    let unknown: Make = |arena| arena.unknown(Type::Dynamic);
    let marked: Make = |arena| arena.marked(Value::Int(1), &["secret"]);
    let typed: Make = |arena| arena.typed(Type::Set(&Type::Number), arena.list(&[Value::Int(1)]));
    let null: Make = |arena| arena.null(Type::String);
    let optional: Make = |arena| arena.extended(Extended::Optional(Value::Int(1)));
    for (schema, value, wanted) in [
        ("string", moment, "expected a string, found a timestamp (type)"),
        ("string", bytes, "expected a string, found bytes (type)"),
        ("string", span, "expected a string, found a duration (type)"),
        ("integer", optional, "expected an integer, found an optional (type)"),
        ("{}", moment, ""),
        ("{minLength: 5}", bytes, ""),
        ("{type: integer, maximum: 11}", spelled, "expected at most 11, found the integer 12 (maximum)"),
        ("{enum: [12]}", spelled, ""),
        ("{type: string, enum: [a]}", tagged, ""),
        ("{type: string, pattern: b}", tagged, "expected a match of `b`, found the string \"a\" (pattern)"),
        ("string", unknown, ""),
        ("{type: array, enum: [[1]]}", unknown, ""),
        ("{type: integer, minimum: 2}", marked, "expected at least 2, found the integer 1 (minimum)"),
        ("{type: array, items: string}", typed, "`[0]`: expected a string, found the integer 1 (type)"),
        ("string", null, "expected a string, found null (type)"),
    ] {
        let found = found_in(schema, value);
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "), wanted, "{schema}");
    }
    let number = |schema: &str, text: &str| {
        let found = found_in(schema, |arena| arena.number(big(text)));
        found.into_iter().map(|found| found.to_string()).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(number("integer", "100000000000000000000"), "");
    assert_eq!(number("integer", "0.10"), "expected an integer, found the number 0.1 (type)");
    let wanted = "expected less than 18446744073709551615, found the number 18446744073709551616 (exclusiveMaximum)";
    assert_eq!(number("exclusiveMaximum: 18446744073709551615", "18446744073709551616"), wanted);
    assert_eq!(number("enum: [0.5]", "0.50"), "");
}

#[test]
fn keys_that_are_not_text_are_no_properties() {
    fn entries(arena: &Arena) -> Value<'_> {
        let keys = [Value::Int(1), arena.text("a"), Value::Bool(true)];
        arena.entries(Entries::new(arena, &keys, &[Value::Null, Value::Int(1), Value::Null]).unwrap())
    }
    let told = |schema: &str| {
        let (schema, arena) = (read(&data(schema)).expect(schema), Arena::new());
        let found = schema.validate(entries(&arena), 100, &mut |_| Ok::<(), ()>(())).expect("steps");
        found.into_iter().map(|found| format!("{} {}", found.pointer, found.keyword)).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(told("{type: object, required: [a]}"), "");
    assert_eq!(told("{required: ['1']}"), " required");
    assert_eq!(told("{properties: {'1': string, a: string}}"), "/a type");
    assert_eq!(
        told("{properties: {a: integer}, additionalProperties: false}"),
        "/1 additionalProperties; /true additionalProperties"
    );
    assert_eq!(told("{additionalProperties: integer}"), "/1 type; /true type");
}

#[test]
fn violations_suggest_names() {
    for (schema, value, wanted) in [
        ("enum: [debug, info]", "inof", Some("did you mean `info`?")),
        ("enum: [debug, info]", "1", None),
        ("{properties: {name: string}, additionalProperties: false}", "{nmae: a}", Some("did you mean `name`?")),
        ("{properties: {name: string}, additionalProperties: false}", "{zzzzz: a}", Some("the properties are `name`")),
        ("{additionalProperties: false}", "{a: 1}", None),
        ("string", "1", None),
    ] {
        let schema = read(&data(schema)).expect(schema);
        let found = with(value, |value| schema.validate(value, 9, &mut |_| Ok::<(), ()>(()))).expect("steps");
        assert_eq!((found.len(), found[0].help.as_deref()), (1, wanted), "{value}");
        assert!(schema.node(found[0].node).is_some());
    }
}

#[test]
fn defaults_fit_their_own_schemas() {
    for (schema, wanted) in [
        ("{type: integer, default: 1.0}", ""),
        (
            "{enum: [a, b], default: c}",
            "/default: the default does not fit its own schema: expected one of \"a\", \"b\", found the string \"c\" (enum)",
        ),
        (
            "{properties: {xs: {items: {type: string, minLength: 2}, default: [ab, c, 1]}}}",
            "/properties/xs/default/1: the default does not fit its own schema: expected at least 2 characters, found 1 (minLength) | /properties/xs/default/2: the default does not fit its own schema: expected a string, found the integer 1 (type)",
        ),
        (
            "{type: string, default: ~}",
            "/default: the default does not fit its own schema: expected a string, found null (type)",
        ),
    ] {
        let faults = read(&data(schema)).err().unwrap_or_default();
        let told: Vec<_> = faults.iter().map(|fault| format!("{}: {}", fault.pointer, fault.message)).collect();
        assert_eq!(told.join(" | "), wanted, "{schema}");
    }
    let many: Vec<_> = (0..2_000).map(|n| n.to_string()).collect();
    let slow = format!("items: {{enum: [{}]}}\ndefault: [{}]", many.join(", "), vec!["1999"; 2_000].join(", "));
    let faults = read(&data(&slow)).expect_err("too much work");
    assert_eq!(faults[0].message, "checking the defaults against their schemas takes too long");
}

#[test]
fn schemas_are_the_same_when_they_are_text() {
    let written = "
type: [object, 'null']
description: gone
required: [a, c]
properties:
  a: {type: string, required: true, pattern: ^x, minLength: 1, maxLength: 3}
  b: {minimum: 0.30000000000000004, exclusiveMaximum: 9007199254740993}
  c: {enum: [~, true, 1, 18446744073709551615, 0.1, .inf, ~x, '~x', [1.5, {k: '~~'}]]}
  d: {items: {const: 1}, minItems: 1, maxItems: 2, additionalProperties: true}
additionalProperties: {additionalProperties: false, properties: {x: integer}}";
    let (first, must) = (read(&data(written)).unwrap(), read(&data("{type: string, required: true}")).unwrap());
    let text = Schemas::text([("x", &first), ("y", &must)]);
    assert!(!text.contains("gone"), "{text}");
    let again = Schemas::read(&text).expect("the same schemas");
    assert_eq!(Schemas::text(again.iter()), text);
    let nodes = |schema: &Schema| format!("{:?}", schema.to_data());
    assert_eq!(
        again.iter().map(|(name, schema)| (name, nodes(schema))).collect::<Vec<_>>(),
        [("x", nodes(&first)), ("y", nodes(&must))]
    );
    with("{a: xx, b: 0.3, c: 0.1, d: [2], e: {y: 1}}", |value| {
        let direct = first.validate_named(Some("x"), value, 100, &mut |_| Ok::<(), ()>(())).unwrap();
        let kept = again.validate(&[value, Value::Undefined], 100, &mut |_| Ok::<(), ()>(())).unwrap();
        assert_eq!(kept[..3], direct);
        assert_eq!(kept[3].to_string(), "`y`: expected a value (required)");
    });
    for text in ["", "[]", "{\"a\": 1}", "{\"a\": {\"enum\": [\"~x\"]}}", "{\"a\": {\"pattern\": \"(\"}}"] {
        assert!(Schemas::read(text).is_none(), "{text}");
    }
}

#[test]
fn schemas_that_mean_harm_are_refused_or_cheap() {
    let deep = |levels: usize| format!("{}1{}", "{items: ".repeat(levels), "}".repeat(levels));
    assert!(read(&data(&deep(101))).unwrap_err()[0].message.contains("nests deeper"));
    let deep = format!("{}integer{}", "{items: ".repeat(100), "}".repeat(100));
    let schema = read(&data(&deep)).unwrap();
    assert!(Schemas::read(&Schemas::text([("x", &schema)])).is_some());
    let consts = format!("{{const: {}1{}}}", "[".repeat(99), "]".repeat(99));
    let schema = read(&data(&consts)).unwrap();
    assert!(Schemas::read(&Schemas::text([("x", &schema)])).is_some());
    let many: String = (0..1_000).map(|n| format!("p{n}: 1\n")).collect();
    assert_eq!(read(&data(&format!("properties:\n  {}", many.replace('\n', "\n  ").trim()))).unwrap_err().len(), 100);
}
