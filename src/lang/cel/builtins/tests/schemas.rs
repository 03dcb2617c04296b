//! Inputs against `$schema`.

use super::*;
use dropforge_machine::function::Body;
use dropforge_schema::{Draft, Schema, Schemas};

fn text() -> String {
    let schema = |json: Json| Schema::read(&serde_json::from_value(json).unwrap(), Draft::Template).unwrap();
    let level = schema(json!({"enum": ["info", "warn"]}));
    let ports = schema(json!({"type": "array", "items": "integer"}));
    let name = schema(json!({"type": "string", "required": true}));
    Schemas::text([("level", &level), ("ports", &ports), ("name", &name)])
}

/// The result of the function for the values of `level`, `ports` and `name`; null stands for a missing one.
fn held<'v>(cx: &Cx<'v>, given: &Json) -> Result<Value<'v>> {
    let schema = intrinsics::EXPRESSIONS.iter().find(|builtin| builtin.name == "schema").unwrap();
    let Body::Native(body) = schema.body else { panic!("the body is of this crate") };
    let one = |given: &Json| if given.is_null() { Value::Undefined } else { value(cx, given) };
    let values: Vec<_> = given.as_array().unwrap().iter().map(one).collect();
    body(cx, &[cx.text(&text()).unwrap(), cx.list(&values).unwrap()])
}

#[test]
fn each_that_does_not_fit_is_an_error_beside_the_first() {
    with_cx(&Limits::default(), |cx| {
        let declared = held(cx, &json!(["info", [1, 2.0], "x"])).unwrap();
        let ports = declared.as_list().unwrap()[1].as_list().unwrap();
        assert!(matches!(ports, [Value::Int(1), Value::Int(2)]), "{ports:?}");
        assert!(held(cx, &json!([null, null, "x"])).unwrap().as_list().unwrap()[1].is_undefined());
        let error = held(cx, &json!(["inof", [1, "a", 1.5], null])).unwrap_err();
        assert_eq!(error.code, Code::InputStructure);
        let wanted =
            "`level` does not fit its `$schema`: expected one of \"info\", \"warn\", found the string \"inof\" (enum)";
        assert_eq!(error.message, wanted);
        let also: Vec<_> = error.also.iter().map(|other| (other.message.as_str(), other.part)).collect();
        let others = [
            ("`ports[1]` does not fit its `$schema`: expected an integer, found the string \"a\" (type)", Some(1)),
            ("`ports[2]` does not fit its `$schema`: expected an integer, found the number 1.5 (type)", Some(1)),
            ("`name` does not fit its `$schema`: expected a value (required)", Some(2)),
        ];
        assert_eq!((also, error.part), (others.to_vec(), Some(0)));
        assert_eq!(error.help.as_deref(), Some("did you mean `info`?"));
        let fields = |error: &dropforge_base::diagnostics::Diagnostic| {
            ["pointer", "keyword", "limit", "value"].map(|field| error.fields.get(field).cloned().unwrap_or_default())
        };
        assert_eq!(fields(&error), ["/level", "enum", "[\"info\",\"warn\"]", "\"inof\""]);
        assert_eq!(fields(&error.also[0]), ["/ports/1", "type", "\"integer\"", "\"a\""]);
        assert_eq!(fields(&error.also[1]), ["/ports/2", "type", "\"integer\"", "1.5"]);
        assert_eq!(fields(&error.also[2]), ["/name", "required", "true", ""]);
        assert_eq!(held(cx, &json!([null, 1, "x"])).unwrap_err().code, Code::InputType);
    });
}

#[test]
fn schemas_are_compiled_once_and_cost_the_same_again() {
    with_cx(&Limits::default(), |cx| {
        let text = text();
        let (first, before) = (cx.schemas(&text).unwrap(), cx.fuel());
        let second = cx.schemas(&text).unwrap();
        assert!(std::sync::Arc::ptr_eq(&first, &second));
        assert_eq!(before - cx.fuel(), text.len() as u64 / 64);
        assert_eq!(cx.schemas("nothing like it").unwrap_err().code, Code::CorruptProgram);
    });
    let few = Limits { fuel: 1_000, ..Limits::default() };
    let many: Vec<_> = (0..2_000).collect();
    let error = with_cx(&few, |cx| held(cx, &json!([null, many, "x"])).map(|_| ()).unwrap_err());
    assert_eq!(error.code, Code::LimitFuel);
}
