//! The grammar of `--set`, and the effect of assignments on maps.

use super::*;
use dropforge_base::diagnostics::Code;
use dropforge_value::Data;

fn set(kind: SetKind, base: &str, text: &str) -> std::result::Result<String, Code> {
    let mut map = serde_json::from_str::<Data>(base).unwrap().into_map().unwrap();
    let mut read = |name: &str| Ok(format!("<{name}>"));
    let mut gaps = Gaps::default();
    for assignment in parse_set(kind, text, &mut read).map_err(|error| error.code)? {
        assignment.apply(&mut map, &mut gaps).map_err(|error| error.code)?;
    }
    Ok(serde_json::to_string(&Data::Map(map)).unwrap())
}

#[test]
fn typed_values() {
    let cases = [
        ("a=1,b=x", r#"{"a":1,"b":"x"}"#),
        ("a=1,", r#"{"a":1}"#),
        ("a=,b=2", r#"{"a":"","b":2}"#),
        ("a=", r#"{"a":""}"#),
        ("a=TRUE,b=False", r#"{"a":true,"b":false}"#),
        ("a=007,b=0,c=-5,d=+5,e=1.5", r#"{"a":"007","b":0,"c":-5,"d":5,"e":"1.5"}"#),
        ("a=9223372036854775808", r#"{"a":"9223372036854775808"}"#),
        (r"a=x\,y,b=c\\d", r#"{"a":"x,y","b":"c\\d"}"#),
        (r"a\.b=1", r#"{"a.b":1}"#),
        ("a=b=c", r#"{"a":"b=c"}"#),
        ("a={x,1,null},b={}", r#"{"a":["x",1,null],"b":[""]}"#),
        (r"a={x\,y,z}", r#"{"a":["x,y","z"]}"#),
        ("a[0]=x,a[2]=y", r#"{"a":["x",null,"y"]}"#),
        ("a[0].b=1,a[0].c=2", r#"{"a":[{"b":1,"c":2}]}"#),
        ("a[1][0]=1", r#"{"a":[null,[1]]}"#),
        ("a[0]={x}", r#"{"a":[["x"]]}"#),
        ("a[3]", r#"{"a":[]}"#),
        ("a.b.c=1,a.b.d=2", r#"{"a":{"b":{"c":1,"d":2}}}"#),
        ("a=[]", r#"{"a":"[]"}"#),
    ];
    for (text, expected) in cases {
        assert_eq!(set(SetKind::Typed, "{}", text).as_deref(), Ok(expected), "{text}");
    }
}

#[test]
fn malformed_expressions_are_refused() {
    let deep = format!("{}=1", ["a"; 40].join("."));
    let nested = format!("a{}=1", "[0]".repeat(100_000));
    let long = format!("a[{MAX_INDEX}1]=1");
    let cases = [
        "a",
        "a,b=1",
        "a.b",
        "=1",
        "a.=1",
        ".a=1",
        "a={x",
        "a[0",
        "a[x]=1",
        "a[-1]=1",
        "a[0]x=1",
        "a[]=1",
        "a=1,,b=2",
        "a[99999999999999999999999]=1",
        &deep,
        &nested,
        &long,
    ];
    for text in cases {
        assert_eq!(set(SetKind::Typed, "{}", text), Err(Code::BadSet), "{}", text.get(..20).unwrap_or(text));
    }
}

#[test]
fn null_deletes_and_makes_nothing() {
    let base = r#"{"a":{"b":1,"c":2},"d":3,"e":[1,2]}"#;
    assert_eq!(set(SetKind::Typed, base, "a.b=null,d=null").as_deref(), Ok(r#"{"a":{"c":2},"e":[1,2]}"#));
    assert_eq!(set(SetKind::Typed, "{}", "x.y.z=null").as_deref(), Ok("{}"));
    assert_eq!(set(SetKind::Typed, r#"{"e":[1,2]}"#, "e[0]=null").as_deref(), Ok(r#"{"e":[null,2]}"#));
    assert_eq!(set(SetKind::Json, base, "a=,d=null,e= ").as_deref(), Ok("{}"));
}

#[test]
fn existing_values_are_merged_or_conflict() {
    let base = r#"{"a":{"b":1},"l":[{"x":1},5],"s":"t","n":null}"#;
    assert_eq!(set(SetKind::Typed, base, "s.x=1"), Err(Code::SetConflict));
    assert_eq!(set(SetKind::Typed, base, "a[0]=1"), Err(Code::SetConflict));
    assert_eq!(set(SetKind::Typed, base, "s[0]"), Err(Code::SetConflict));
    assert_eq!(set(SetKind::Typed, base, "l[1][0]=1"), Err(Code::SetConflict));
    assert_eq!(
        set(SetKind::Typed, base, "a.c=2,l[0].y=2,l[1].z=3,n.m=4").as_deref(),
        Ok(r#"{"a":{"b":1,"c":2},"l":[{"x":1,"y":2},{"z":3}],"s":"t","n":{"m":4}}"#)
    );
}

#[test]
fn the_other_kinds() {
    assert_eq!(set(SetKind::Text, "{}", "a=1,b=true,c={1,2}").as_deref(), Ok(r#"{"a":"1","b":"true","c":["1","2"]}"#));
    assert_eq!(set(SetKind::File, "{}", "a=x.txt,b.c=y").as_deref(), Ok(r#"{"a":"<x.txt>","b":{"c":"<y>"}}"#));
    assert_eq!(set(SetKind::Literal, "{}", r"a.b=x,y={\").as_deref(), Ok(r#"{"a":{"b":"x,y={\\"}}"#));
    assert_eq!(
        set(SetKind::Json, "{}", r#"a=[1, {"b": null}] ,c.d="x,y",e[0]=2.5"#).as_deref(),
        Ok(r#"{"a":[1,{"b":null}],"c":{"d":"x,y"},"e":[2.5]}"#)
    );
    assert_eq!(set(SetKind::Json, "{}", "a={"), Err(Code::BadSet));
    assert_eq!(
        set(SetKind::Json, r#"{"a":{"x":1},"b":1}"#, r#"{"a":{"y":2},"b":null}"#).as_deref(),
        Ok(r#"{"a":{"x":1,"y":2}}"#)
    );
}

#[test]
fn indexes_skip_a_bounded_number_of_items() {
    let once = format!("a[{MAX_INDEX}]=1");
    assert_eq!(set(SetKind::Typed, "{}", &once).unwrap().matches("null").count(), MAX_INDEX);
    let nested = format!("a{}=1", format!("[{MAX_INDEX}]").repeat(5));
    let many: Vec<String> = (0..5).map(|n| format!("a{n}[{MAX_INDEX}]=1")).collect();
    for text in [nested, many.join(",")] {
        assert_eq!(set(SetKind::Typed, "{}", &text), Err(Code::BadSet), "{text}");
    }
    let dense: Vec<String> = (0..2_000).map(|n| format!("a[{n}]=x")).collect();
    assert_eq!(set(SetKind::Typed, "{}", &dense.join(",")).unwrap().matches('x').count(), 2_000);
}

#[test]
fn assignments_share_the_text_of_their_option() {
    let text = "a=1,".repeat(10_000);
    let found = parse_set(SetKind::Typed, &text, &mut |_| unreachable!()).unwrap();
    let origin = &found[0].origin;
    assert!(origin.len() < 300 && found.iter().all(|one| std::sync::Arc::ptr_eq(&one.origin, origin)));
}
