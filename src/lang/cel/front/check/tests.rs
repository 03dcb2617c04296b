use super::*;
use crate::builtins::STANDARD;
use crate::syntax::tree::Tree;
use crate::{builtins, syntax};
use dropforge_base::text::Source;
use dropforge_machine::function::Registry;
use dropforge_schema::{Draft, Schema};
use dropforge_value::Data;
use excerpts::excerpts;

mod excerpts {
    use dropforge_base::diagnostics::{Diagnostic, Diagnostics};

    include!("tests/excerpts.rs");
}

fn tree(text: &str) -> Tree {
    syntax::parse(&Source::new("<input>", text), &syntax::Options::default()).expect("it is read")
}

fn environment(variables: &[(&str, &str)]) -> Environment {
    let mut environment = Environment::new(&builtins::extended());
    for (name, ty) in variables {
        environment.declare(name, ty).expect("a type");
    }
    environment
}

/// The type of an expression, or everything that is wrong with it.
fn answer(text: &str, environment: &Environment) -> String {
    match check(&tree(text), environment) {
        Ok(checked) => checked.result_text(),
        Err(errors) => excerpts(&errors),
    }
}

fn all(environment: &Environment, rows: &[(&str, &str)]) {
    let wrong: Vec<_> = rows
        .iter()
        .map(|(text, wanted)| (text, wanted, answer(text, environment)))
        .filter(|(_, wanted, found)| *wanted != found)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_type_has_a_name() {
    let environment = Environment::new(&Registry::of(STANDARD));
    for name in crate::values::type_names() {
        assert_eq!(answer(&format!("type(1) == {name}"), &environment), "bool", "{name}");
    }
    let environment = Environment::new(&builtins::kubernetes());
    all(
        &environment,
        &[("type(quantity('1')) == kubernetes.Quantity", "bool"), ("kubernetes.Semver", "type(kubernetes.Semver)")],
    );
}

#[test]
fn types_of_expressions() {
    let variables = [("i", "int"), ("s", "string"), ("d", "dyn"), ("m", "map(string, list(int))"), ("l", "list(int)")];
    let more = [("n", "wrapper(int)"), ("t", "timestamp"), ("o", "optional_type(map(string, int))")];
    all(
        &environment(&[variables.as_slice(), &more].concat()),
        &[
            ("i + 1", "int"),
            ("d + 1", "int"),
            ("d + d", "dyn"),
            ("d == 1 && d == 'a'", "bool"),
            ("dyn(1) == 1.0", "bool"),
            ("1 < 1.5", "bool"),
            ("m.a[0]", "int"),
            ("m['a']", "list(int)"),
            ("has(m.a)", "bool"),
            ("m.?a", "optional_type(list(int))"),
            ("m[?'a']", "optional_type(list(int))"),
            ("o.a", "optional_type(int)"),
            ("o.?a.orValue(1)", "int"),
            ("o.optMap(x, x.a + 1)", "optional_type(int)"),
            ("[1, 2u]", "list(dyn)"),
            ("[1, dyn('a')]", "list(dyn)"),
            ("[null, n]", "list(wrapper(int))"),
            ("[[], [1]]", "list(list(int))"),
            ("[]", "list(dyn)"),
            ("{}", "map(dyn, dyn)"),
            ("{'a': 1, ?'b': optional.of(2)}", "map(string, int)"),
            ("[?optional.none(), 1]", "list(int)"),
            ("n + 1", "int"),
            ("n == null", "bool"),
            ("t == null", "bool"),
            ("l.map(x, string(x))", "list(string)"),
            ("l.map(x, x > 1, {x: s})", "list(map(int, string))"),
            ("l.filter(x, x > 1)", "list(int)"),
            ("m.filter(k, k > 'a')", "list(string)"),
            ("l.exists_one(i, i == 1) || m.all(k, k != '')", "bool"),
            ("l.sortBy(x, -x)", "list(int)"),
            ("cel.bind(x, l, x + x)", "list(int)"),
            ("cel.block([l, cel.index(0)[0]], cel.index(1) + 1)", "int"),
            ("math.greatest(1, 2u, 3.0)", "dyn"),
            ("math.greatest(1, 2)", "int"),
            ("[1, 2].all(x, x in l)", "bool"),
            ("true ? 1 : d", "dyn"),
            ("type(1) == int", "bool"),
            ("type", "type(type)"),
            ("int", "type(int)"),
            ("list", "type(list(dyn))"),
            ("net.IP", "type(net.IP)"),
            ("type(ip('::1')) == net.IP", "bool"),
            ("size(l) + l.size()", "int"),
            ("([].map(x, x))[0].foo", "dyn"),
            ("cel.bind(x, [], [x, [1]])", "list(list(int))"),
            (
                "cel.bind(x, [], x.foo)",
                "ERROR: <input>:1:18: type 'list(dyn)' does not support field selection\n | cel.bind(x, [], x.foo)\n | .................^",
            ),
        ],
    );
}

#[test]
fn errors_are_those_of_the_reference() {
    all(
        &environment(&[("x", "int"), ("l", "list(int)")]),
        &[
            (
                "1 + 'a'",
                "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + 'a'\n | ..^",
            ),
            (
                "1 == 1.0",
                "ERROR: <input>:1:3: found no matching overload for '_==_' applied to '(int, double)'\n | 1 == 1.0\n | ..^",
            ),
            ("x.y", "ERROR: <input>:1:2: type 'int' does not support field selection\n | x.y\n | .^"),
            (
                "x && y",
                "ERROR: <input>:1:1: expected type 'bool' but found 'int'\n | x && y\n | ^\nERROR: <input>:1:6: undeclared reference to 'y' (in container '')\n | x && y\n | .....^",
            ),
            (
                "42.size()",
                "ERROR: <input>:1:8: found no matching overload for 'size' applied to 'int.()'\n | 42.size()\n | .......^",
            ),
            (
                "'é' + \n 'é' + 1",
                "ERROR: <input>:2:6: found no matching overload for '_+_' applied to '(string, int)'\n |  'é' + 1\n | ..．..^",
            ),
            (
                "'日本' + 1 == z\n || '語' + q",
                "ERROR: <input>:1:6: found no matching overload for '_+_' applied to '(string, int)'\n | '日本' + 1 == z\n | .．．..^\nERROR: <input>:1:13: undeclared reference to 'z' (in container '')\n | '日本' + 1 == z\n | .．．.........^\nERROR: <input>:2:9: expected type 'bool' but found 'string'\n |  || '語' + q\n | .....．..^\nERROR: <input>:2:11: undeclared reference to 'q' (in container '')\n |  || '語' + q\n | .....．....^",
            ),
            ("f(1)", "ERROR: <input>:1:2: undeclared reference to 'f' (in container '')\n | f(1)\n | .^"),
            (
                "x.all(y, y)",
                "ERROR: <input>:1:1: expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)\n | x.all(y, y)\n | ^",
            ),
            ("[?x]", "ERROR: <input>:1:3: expected type 'optional_type(int)' but found 'int'\n | [?x]\n | ..^"),
            (
                "l.map(y, z) == [y]",
                "ERROR: <input>:1:10: undeclared reference to 'z' (in container '')\n | l.map(y, z) == [y]\n | .........^\nERROR: <input>:1:17: undeclared reference to 'y' (in container '')\n | l.map(y, z) == [y]\n | ................^",
            ),
            ("int{a: 1}", "ERROR: <input>:1:4: 'int' is not a message type\n | int{a: 1}\n | ...^"),
            ("x{}", "ERROR: <input>:1:2: 'x' is not a type\n | x{}\n | .^"),
        ],
    );
}

#[test]
fn names_are_looked_for_in_the_container_and_loops_come_first() {
    let names =
        [("a.b.x", "int"), ("a.x", "string"), ("x", "bool"), ("a.b.y.z", "double"), ("y", "map(string, bytes)")];
    let inside = environment(&names).in_container("a.b");
    all(
        &inside,
        &[
            ("x", "int"),
            (".x", "bool"),
            ("a.x", "string"),
            (".a.b.x", "int"),
            ("y.z", "double"),
            (".y.z", "bytes"),
            ("[0u].map(x, x)", "list(uint)"),
            ("[0u].map(x, .x)", "list(bool)"),
            ("[{'z': 0u}].map(y, y.z)", "list(uint)"),
            ("z", "ERROR: <input>:1:1: undeclared reference to 'z' (in container 'a.b')\n | z\n | ^"),
        ],
    );
    all(&environment(&names).in_container("a"), &[("x", "string"), ("b.x", "int"), ("b.y.z", "double")]);
}

#[test]
fn names_that_are_not_declared_may_be_variables_of_any_type() {
    all(
        &environment(&[("x", "int")]).with_open_names(),
        &[
            ("a.b[0] + x", "int"),
            ("a.size()", "int"),
            (
                "x + 's'",
                "ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | x + 's'\n | ..^",
            ),
        ],
    );
}

#[test]
fn references_say_what_was_found() {
    let tree = tree("a.b.c + size(x) == int(x.size()) ? math.abs(1) : 2");
    let environment = environment(&[("a.b.c", "int"), ("x", "list(dyn)")]);
    let checked = check(&tree, &environment).expect("it is right");
    let references: Vec<_> = (0..tree.len())
        .filter_map(|at| checked.reference(syntax::tree::ExprId(u32::try_from(at).unwrap())))
        .map(|reference| match reference {
            Reference::Variable(name) => name.to_string(),
            Reference::Function { name, overloads, member } => {
                format!("{}{name}:{}", if *member { "." } else { "" }, overloads.join(","))
            }
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        references,
        [
            "a.b.c",
            "x",
            "size:size_list",
            "_+_:add_int64",
            "x",
            ".size:list_size",
            "int:int64_to_int64",
            "_==_:equals",
            "math.abs:math_abs_int",
            "_?_:_:conditional",
        ]
    );
}

#[test]
fn functions_of_the_host() {
    let mut registry = Registry::of(STANDARD);
    let any = |_: &dropforge_machine::function::HostArgs| 1;
    registry.insert(dropforge_machine::function::Builtin::host(
        dropforge_machine::bytecode::ImportKind::Function,
        "host.any",
        any,
    ));
    let mut environment = Environment::new(&registry);
    let declared = Declared { id: "pair", params: &["A", "B"], result: "pair(A, B)", ..Declared::default() };
    environment.declare_function("pair", &declared).expect("types");
    let declared = Declared { id: "same", member: true, params: &["pair(A, A)", "A"], result: "A" };
    environment.declare_function("same", &declared).expect("types");
    assert!(environment.declare_function("bad", &Declared { result: "list(", ..Declared::default() }).is_err());
    all(
        &environment,
        &[
            ("host.any(1, 'a').b", "dyn"),
            ("pair(1, 'a')", "pair(int, string)"),
            ("[pair(1, 2u), pair(dyn(1), 2u)]", "list(pair(dyn, uint))"),
            ("pair(1, 2).same(3)", "int"),
            (
                "pair(1, 'a').same(3)",
                "ERROR: <input>:1:18: found no matching overload for 'same' applied to 'pair(int, string).(int)'\n | pair(1, 'a').same(3)\n | .................^",
            ),
        ],
    );
}

#[test]
fn maps_with_known_keys() {
    let schema = r#"{"type": "object", "properties": {"port": "integer", "tags": {"type": "array", "items": "string"},
        "open": {"properties": {"a": "string"}, "additionalProperties": "boolean"}, "name": {"type": ["string", "null"]}}}"#;
    let schema: Data = serde_json::from_str(schema).expect("JSON");
    let schema = Schema::read(&schema, Draft::Template).expect("a schema");
    let mut environment = environment(&[]);
    let ty = environment.types().of_schema(&schema);
    environment.declare_as("app", ty);
    all(
        &environment,
        &[
            ("app.port + 1", "int"),
            ("app.tags[0]", "string"),
            ("app['port']", "int"),
            ("app[app.tags[0]]", "dyn"),
            ("app.open.b", "bool"),
            ("app.name + 'x'", "string"),
            ("app.name == null", "bool"),
            ("'x' in app && has(app.port)", "bool"),
            ("app.map(k, k)", "list(string)"),
            ("app.transformMap(k, v, v)", "map(string, dyn)"),
            ("app == {'a': 1}", "bool"),
            ("app.prot", "ERROR: <input>:1:4: undefined field 'prot'\n | app.prot\n | ...^"),
            ("app['prot']", "ERROR: <input>:1:5: undefined field 'prot'\n | app['prot']\n | ....^"),
            ("has(app.prot)", "ERROR: <input>:1:4: undefined field 'prot'\n | has(app.prot)\n | ...^"),
            (
                "app.port + 'x'",
                "ERROR: <input>:1:10: found no matching overload for '_+_' applied to '(int, string)'\n | app.port + 'x'\n | .........^",
            ),
        ],
    );
    let errors = check(&tree("app.prot"), &environment).expect_err("no such field");
    assert_eq!(errors.first().and_then(|error| error.help.as_deref()), Some("did you mean `port`?"));
}

#[test]
fn all_elements_of_one_type_where_that_is_asked_for() {
    let strict = Strictness { homogeneous: true, ..Strictness::default() };
    let environment = environment(&[]);
    let errors = check_with(&tree("[1, 'a', {1: 2, 'b': 3}]"), &environment, strict).expect_err("several types");
    let found: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
    assert_eq!(found, ["expected type 'int' but found 'string'", "expected type 'int' but found 'string'",]);
    assert!(check_with(&tree("[1, dyn('a')]"), &environment, strict).is_ok());
}

#[test]
fn constant_texts_are_tried_where_that_is_asked_for() {
    let (strict, environment) =
        (Strictness { literals: true, ..Strictness::default() }, environment(&[("s", "string")]));
    let text = "duration('1x') == duration(s) || timestamp('2020') < timestamp(0) || s.matches('(') || ip('1.2.3') == ip('::1')";
    assert!(check(&tree(text), &environment).is_ok());
    let errors = check_with(&tree(text), &environment, strict).expect_err("none of them can be read");
    let found: Vec<_> = errors
        .iter()
        .map(|error| (error.position().expect("a place").column, error.message.split(':').next().unwrap_or("")))
        .collect();
    assert_eq!(
        found,
        [
            (10, "invalid duration argument"),
            (44, "invalid timestamp argument"),
            (80, "invalid matches argument"),
            (91, "invalid ip argument"),
        ]
    );
    let right =
        "duration('1s') == duration(s) && timestamp('2020-01-01T00:00:00Z') < timestamp(0) && matches('(', 'a+')";
    assert!(check_with(&tree(right), &environment, strict).is_ok());
}

#[test]
fn constant_format_strings_and_patterns_are_tried_too() {
    let mut environment = Environment::new(&builtins::kubernetes());
    for (name, ty) in [("s", "string"), ("d", "dyn"), ("l", "list(int)")] {
        environment.declare(name, ty).expect("a type");
    }
    let strict = Strictness { literals: true, ..Strictness::default() };
    for (text, wanted) in [
        (
            "'%d'.format(['a'])",
            "1:14 error during formatting: decimal clause can only be used on ints, uints, and doubles, was given string",
        ),
        ("'%d'.format([s])", "1:14 error during formatting: decimal clause"),
        ("'%b'.format([1.5])", "1:14 error during formatting: only ints, uints, and bools"),
        ("'%f'.format([true])", "1:14 error during formatting: fixed-point clause"),
        ("'%e'.format([b'a'])", "1:14 error during formatting: scientific clause"),
        ("'%o'.format(['a'])", "1:14 error during formatting: octal clause"),
        ("'%x'.format([[1]])", "1:14 error during formatting: only ints, uints, bytes, and strings"),
        ("'%s'.format([[1, {'a': optional.of(1)}]])", "1:35 error during formatting: string clause"),
        ("'%s %s'.format([1])", "1:15 index 1 out of range"),
        ("'%s'.format([1, 2])", "1:12 too many arguments supplied to string.format (expected 1, got 2)"),
        ("'%q'.format([1])", "1:12 could not parse formatting clause: unrecognized formatting clause \"q\""),
        ("'%'.format([1])", "1:11 unexpected end"),
        ("false && regex.extract(s, '(') == optional.of('a')", "1:27 invalid regex.extract argument: `(` is not"),
        ("regex.replace(s, '[', '')", "1:18 invalid regex.replace argument: `[` is not"),
        ("s.find('(')", "1:8 invalid find argument: `(` is not"),
        ("s.findAll('(', 2)", "1:11 invalid findAll argument: `(` is not"),
    ] {
        let errors = check_with(&tree(text), &environment, strict).expect_err(text);
        let found: Vec<_> =
            errors.iter().map(|error| format!("{} {}", error.position().expect("a place"), error.message)).collect();
        assert!(found.len() == 1 && found[0].starts_with(wanted), "{text}: {found:?}");
        assert!(check(&tree(text), &environment).is_ok(), "{text}");
    }
    let right = "'%%%s %d %.2f %x %s'.format([[1, {'a': null}], 1u, 1, 'a', d]) + s.format([1]) + '%d'.format(l) + '%d'.format([d])";
    assert!(check_with(&tree(right), &environment, strict).is_ok());
}

#[test]
fn written_types() {
    let read = |text: &str| {
        let mut types = Types::default();
        types.read(text).map(|ty| types.text(ty)).map_err(|error| error.to_string())
    };
    for same in [
        "int",
        "list(int)",
        "map(string, dyn)",
        "type(int)",
        "optional_type(list(a.B))",
        "t(int, u(bool))",
        "wrapper(int)",
    ] {
        assert_eq!(read(same).as_deref(), Ok(same));
    }
    assert_eq!(read(" map ( string , google.protobuf.Timestamp ) ").as_deref(), Ok("map(string, timestamp)"));
    for wrong in ["", "list(", "list()", "list(int", "list(int))", "map(int)", "int,", "é", "list(int, int)"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    let deep = "list(".repeat(100_000);
    assert!(read(&deep).unwrap_err().contains("E0602"));
}

#[test]
fn hostile_expressions_end() {
    let environment = environment(&[]);
    // Each binding holds the one before it twice: the text of the type doubles.
    let doubling: String = (0..60).map(|at| format!("cel.bind(v{}, {{v{at}: v{at}}}, ", at + 1)).collect();
    let text = format!("cel.bind(v0, 1, {doubling}v60{}", ")".repeat(61));
    let checked = check(&tree(&text), &environment).expect("it is right");
    assert!(checked.result_text().len() < 5_000);
    // The same with types that are found out late, and compared with others like them.
    let doubling: String = (0..50)
        .map(|at| format!("cel.bind(v{}, {{v{at}: v{at}}}, cel.bind(w{}, {{w{at}: w{at}}}, ", at + 1, at + 1))
        .collect();
    let text = format!("cel.bind(v0, [], cel.bind(w0, [], {doubling}v50 == w50{}", ")".repeat(102));
    let errors = check(&tree(&text), &environment).expect_err("too large");
    assert!(errors.iter().any(|error| error.code == dropforge_base::diagnostics::Code::LimitFuel), "{errors}");
    // Long, and wrong everywhere.
    let long = vec!["x.y == 1"; 7_000].join(" || ");
    assert_eq!(check(&tree(&long), &environment).expect_err("x is not there").iter().count(), 100);
    let long = vec!["1 < 2"; 11_000].join(" && ");
    assert_eq!(answer(&long, &environment), "bool");
    let many = format!("[{}]", vec!["[]"; 24_000].join(", "));
    assert_eq!(answer(&many, &environment), "list(list(dyn))");
}

#[test]
fn expressions_as_deep_as_they_may_be_are_checked() {
    let environment = environment(&[("l", "list(dyn)")]);
    let nested = |open: &str, inner: &str, close: &str, levels: usize| {
        format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))
    };
    let hints = cost::Hints::default();
    for text in [
        nested("[", "1", "]", 120),
        nested("{1: ", "1", "}", 120),
        nested("size([", "l", "])", 80),
        nested("l.map(x, ", "x", ")", 40),
        nested("cel.bind(x, [", "1", "], x)", 60),
        nested("(l == [", "1", "] ? 1 : dyn(2))", 40),
    ] {
        let tree = tree(&text);
        let checked = check(&tree, &environment).unwrap_or_else(|errors| panic!("{text}: {errors}"));
        assert!(!checked.result_text().is_empty());
        cost::estimate(&tree, &checked, &hints);
    }
}
