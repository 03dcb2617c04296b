//! The memory that a render holds stays near its limit, whatever it prints, copies or computes: the charge comes before
//! the allocation. Values that share their parts are small, and huge as text or as a copy.

use allocation_counter::measure;
use dropforge::diagnostics::Code;
use dropforge::engine::{Dialect, Engine};
use dropforge::function::Capabilities;
use dropforge::limits::Limits;
use serde_json::{Value, json};

/// The limit on memory.
const LIMIT: u64 = 1 << 19;

/// The bytes that a render may hold at a time. Text that grows is copied into the next, twice as large buffer, and the
/// arena, too, takes its memory in blocks that double. Sessions and programs take some more.
const MOST: u64 = 3 * LIMIT + (1 << 18);

fn engine() -> Engine {
    let limits = Limits { memory: LIMIT, fuel: 5_000_000, output_bytes: 1 << 19, ..Limits::default() };
    Engine::builder().limits(limits).allow(Capabilities::ALL).build()
}

/// Checks that templates take no more memory than they may, and that those which print a huge value end in a limit. The
/// others may end in any way.
#[track_caller]
fn bounded(dialect: Dialect, printers: &[String], readers: &[String]) {
    let (engine, mut wrong) = (engine(), Vec::new());
    let inputs = json!({"long": "a".repeat(1 << 15), "many": vec![1; 1000]});
    for (text, is_printer) in printers.iter().map(|text| (text, true)).chain(readers.iter().map(|text| (text, false))) {
        let template = match engine.compile(dialect, "t", text) {
            Ok(template) => template,
            // The check of types may refuse what only names the value.
            Err(_) if !is_printer => continue,
            Err(errors) => panic!("{text}: {errors}"),
        };
        let mut result = Ok(0);
        let held = measure(|| result = rendered(&template, &inputs)).bytes_max;
        let at = text.char_indices().rev().nth(100).map_or(0, |(at, _)| at);
        let shown = &text[at..];
        if held > MOST {
            wrong.push(format!("{held} bytes: …{shown}: {result:?}"));
        }
        if is_printer && !result.is_err_and(Code::is_limit) {
            wrong.push(format!("no limit: …{shown}: {result:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), printers.len() + readers.len(), wrong.join("\n"));
}

fn rendered(template: &dropforge::engine::Template, inputs: &Value) -> Result<usize, Code> {
    template.render(inputs).map(|text| text.len()).map_err(|error| error.code)
}

/// Returns a template for each value and each expression.
fn each(values: &[String], expressions: &[&str], around: impl Fn(&str, &str) -> String) -> Vec<String> {
    values.iter().flat_map(|value| expressions.iter().map(|expression| around(value, expression))).collect()
}

/// Values of Helm in a variable `$x`: lists of lists, maps of maps, and a list of the same long text.
fn helm_values() -> [String; 3] {
    let lists = format!("{{{{ $x = list{} }}}}", " $x".repeat(10));
    let entries: String = (0..10).map(|at| format!(" \"key{at}\" $x")).collect();
    let maps = format!("{{{{ $x = dict{entries} }}}}");
    [
        format!("{{{{ $x := list \"text\" 1.5 true nil 7 }}}}{}", lists.repeat(6)),
        format!("{{{{ $x := dict \"a\" \"text\" \"b\" 1.5 }}}}{}", maps.repeat(6)),
        format!("{{{{ $t := .long }}}}{{{{ $x := list{} }}}}", " $t".repeat(200)),
    ]
}

/// Expressions of Helm that print the value `$x`.
const HELM_PRINTERS: &[&str] = &[
    "$x",
    "print $x",
    "print 1 $x 2",
    "println $x",
    "printf \"%v\" $x",
    "printf \"%+v\" $x",
    "printf \"%#v\" $x",
    "printf \"%s\" $x",
    "printf \"%q\" $x",
    "printf \"%+q\" $x",
    "printf \"%x\" $x",
    "printf \"%d\" $x",
    "printf \"%t\" $x",
    "printf \"%w\" $x",
    "printf \"%5v|%-5v\" $x $x",
    "printf \"%90000v\" $x",
    "printf \"none\" $x",
    "printf \"%90000d\" .many",
    "printf \"%#90000x\" .many",
    "printf \"%.90000d\" .many",
    "printf \"%.90000f\" .many",
    "toString $x",
    "quote $x",
    "squote $x",
    "cat $x",
    "html $x",
    "js $x",
    "urlquery $x",
    "toYaml $x",
    "mustToYaml $x",
    "toYamlPretty $x",
    "toJson $x",
    "mustToJson $x",
    "toPrettyJson $x",
    "mustToPrettyJson $x",
    "toRawJson $x",
    "mustToRawJson $x",
    "join \",\" $x",
    "toStrings (list $x)",
    "sortAlpha (list $x)",
    "dict $x 1",
    "fail (print $x)",
    "eq $x $x",
    "repeat 1000 .long",
    "replace \"a\" .long .long",
    "regexReplaceAll \"a\" .long .long",
    "indent 1000000 (print .many)",
    "nindent 1000000 (print .many)",
    "wrapWith 1 .long .long",
    "deepCopy (list $x)",
    "merge (dict) (dict \"a\" $x) | toYaml",
];

/// Expressions of Helm that look at a value, split it, or name it in an error.
const HELM_READERS: &[&str] = &[
    "deepEqual $x (deepCopy $x)",
    "mergeOverwrite (dict \"a\" $x) (dict \"a\" $x)",
    "uniq (list $x $x)",
    "without (list $x $x) $x",
    "lt $x 1",
    "toToml (dict \"a\" $x)",
    "mustToToml (dict \"a\" $x)",
    "call $x",
    "index $x \"a\"",
    "index $x 1000000",
    "upper $x",
    "genSelfSignedCert \"a\" $x nil 1",
    "genSelfSignedCert \"a\" nil (list $x) 1",
    "include (print .many) 1",
    "tpl (print .many) 1",
    "fromYaml (toYaml .many)",
    "fromJsonArray (toJson .many)",
    "untilStep 0 9223372036854775807 1",
    "until 30000 | len",
    "seq 9223372036854775807",
    "splitList \"\" .long | len",
    "split \"a\" .long | len",
    "regexFindAll \"a\" .long -1 | len",
    "regexSplit \"a\" .long -1 | len",
    "chunk 1 (until 9000) | len",
    "printf \"%x\" .long | len",
    "printf \"%+q\" .long | len",
    "printf \"%v\" (printf \"%s\" .long | splitList \"a\") | len",
    "b64enc .long | b64dec | len",
    "shuffle .long | len",
    "fromToml (printf \"a = '%s'\" .long) | len",
];

/// Templates of Helm that change maps, or make values that contain themselves.
const HELM_CHANGES: &[&str] = &[
    "{{ $x := dict \"a\" 1 }}{{ $_ := set $x \"x\" $x }}{{ deepCopy $x }}",
    "{{ $x := dict \"a\" 1 }}{{ $_ := set $x \"x\" (list $x $x) }}{{ deepCopy $x }}",
    "{{ $x := dict }}{{ $y := dict }}{{ $_ := set $x \"y\" $y }}{{ $_ := set $y \"y\" $x }}{{ merge $x $y }}",
    "{{ $x := dict }}{{ $_ := set $x \"x\" $x }}{{ mergeOverwrite (dict \"x\" $x) $x }}",
    "{{ $x := dict \"a\" 1 }}{{ range until 30 }}{{ $x = dict \"a\" $x \"b\" $x }}{{ end }}{{ deepCopy $x }}",
    "{{ $x := dict \"a\" 1 }}{{ range until 30 }}{{ $x = dict \"a\" $x \"b\" $x }}{{ end }}{{ merge (deepCopy (dict \"a\" $x)) $x }}",
    "{{ $x := dict }}{{ range $i := until 1000000 }}{{ $_ := set $x (print $i) (dict) }}{{ end }}",
    "{{ $x := list }}{{ range $i := until 1000000 }}{{ $d := dict \"a\" 1 }}{{ $_ := set $d \"b\" $i }}{{ $x = list $x $d }}{{ end }}",
    "{{ $x := dict }}{{ range $i := until 1000000 }}{{ $_ := set $x (print $i) 1 }}{{ $_ := $x.a }}{{ len $x }}{{ end }}",
    "{{ $x := dict }}{{ range $i := until 1000000 }}{{ $x = merge (dict (print $i) $i) $x }}{{ end }}",
    "{{ $x := list }}{{ range $i := until 1000000 }}{{ $x = append $x (print $i) }}{{ end }}",
    "{{ range $i := until 1000000 }}{{ $_ := print $i }}{{ end }}",
    "{{ range $i := until 1000000 }}{{ $_ := printf \"%d\" $i }}{{ end }}",
    "{{ range $i := until 1000000 }}{{ $_ := quote $i }}{{ end }}",
    "{{ $x := \"a\" }}{{ range until 1000000 }}{{ $x = print $x $x }}{{ end }}",
];

#[test]
fn peaks_of_helm() {
    let around = |value: &str, expression: &str| format!("{value}{{{{ {expression} }}}}");
    let (printers, readers) = (each(&helm_values(), HELM_PRINTERS, around), each(&helm_values(), HELM_READERS, around));
    bounded(Dialect::Helm, &printers, &readers);
    bounded(Dialect::Helm, &HELM_CHANGES.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>(), &[]);
}

#[test]
fn memory_that_is_free_again_counts_no_more() {
    let engine = engine();
    let inputs = json!({"long": "a".repeat(1 << 15)});
    for (dialect, text) in [
        // Each text is printed to be looked at, and is not kept.
        (
            Dialect::Helm,
            "{{ $x := list .long .long }}{{ range until 100 }}{{ $_ := eq (printf \"%v\" 1) \"2\" }}{{ end }}",
        ),
        (Dialect::Helm, "{{ range until 100 }}{{ $_ := printf \"%.1000d\" 1 | trunc 1 }}{{ end }}"),
        (Dialect::Helm, "{{ $x := dict \"a\" (dict \"b\" 1) }}{{ range until 500 }}{{ $_ := merge $x $x }}{{ end }}"),
    ] {
        let template = engine.compile(dialect, "t", text).unwrap_or_else(|errors| panic!("{text}: {errors}"));
        assert!(rendered(&template, &inputs).is_ok(), "{text}: {:?}", rendered(&template, &inputs));
    }
}

/// Values of Tera in a variable `x`.
fn tera_values() -> [String; 2] {
    let lists = format!("{{% set x = [{}] %}}", ["x"; 10].join(", "));
    [
        format!("{{% set x = ['text', 1.5, true, 7] %}}{}", lists.repeat(6)),
        format!("{{% set t = long %}}{{% set x = [{}] %}}", ["t"; 200].join(", ")),
    ]
}

const TERA_PRINTERS: &[&str] = &[
    "{{ x }}",
    "{{ x | json_encode }}",
    "{{ x | json_encode(pretty=true) }}",
    "{{ x | to_json }}",
    "{{ x | to_yaml }}",
    "{{ x | to_yaml(indent=8) }}",
    "{{ x | as_str }}",
    "{{ x | join(sep=', ') }}",
    "{% set y = x | join(sep=long) %}",
    "{% filter upper %}{{ x }}{% endfilter %}",
    "{% set y = x | as_str %}{% set z = y ~ y %}",
    "{% set y = long %}{% for i in range(end=50) %}{% set_global y = y ~ y %}{% endfor %}",
    "{{ throw(message=x | as_str) }}",
    "{{ many | join(sep=long) }}",
    "{{ long | replace(from='a', to=long) }}",
    "{{ long | split(pat='') }}",
    "{{ long | indent(prefix=long, first=true) | indent(prefix=long, first=true) | replace(from='a', to='aaaaaaaaaaaaaaaaaaaaaaa') }}",
    "{{ long | regex_replace(pattern='a', to=long) }}",
    "{% for i in range(end=1000000) %}{% set y = i ~ '' %}{% endfor %}",
    "{% set y = [] %}{% for i in range(end=1000000) %}{% set_global y = y | concat(with=i) %}{% endfor %}",
];

const TERA_READERS: &[&str] = &[
    "{{ x | upper }}",
    "{{ x ~ '' }}",
    "{{ x + 1 }}",
    "{{ x | sort }}",
    "{{ x | unique }}",
    "{{ x | group_by(attribute='a') }}",
    "{{ x | concat(with=x) | length }}",
    "{% if x == x %}{% endif %}",
    "{{ throw(message=x) }}",
    "{{ x.y.z }}",
    "{{ x | get(key='a') }}",
    "{{ x | first | first | length }}",
    "{{ x | quote }}",
    "{{ x is containing(x) }}",
    "{{ long | slugify | length }}",
    "{{ many | json_encode | from_json | length }}",
    "{{ many | to_yaml | from_yaml | length }}",
];

#[test]
fn peaks_of_tera() {
    let around = |value: &str, text: &str| format!("{value}{text}");
    bounded(Dialect::Tera, &each(&tera_values(), TERA_PRINTERS, around), &each(&tera_values(), TERA_READERS, around));
}

/// Values of HCL, around an expression of `x`.
fn hcl_template(step: &str, expression: &str) -> String {
    let value = (0..6).fold("[\"text\", 1.5, true]".to_owned(), |value, _| {
        format!("[for x in [{value}]: {}][0]", step.replace('#', &["x"; 10].join(", ")))
    });
    format!("${{[for x in [{value}]: {expression}][0]}}")
}

const HCL_PRINTERS: &[&str] = &[
    "jsonencode(x)",
    "yamlencode(x)",
    "format(\"%v\", x)",
    "format(\"%#v\", x)",
    "format(\"%90000v\", x)",
    "formatlist(\"%v\", [x, x])",
    "join(\",\", [for a in range(1000): long])",
    "replace(long, \"a\", long)",
    "[for a in range(1000): \"${long}${a}\"]",
    "indent(1000000, replace(long, \"a\", \"\\n\"))",
    "join(long, split(\"a\", long))",
    "split(\"\", long)",
    "base64encode(jsonencode(x))",
    "flatten(x)",
];

const HCL_READERS: &[&str] = &[
    "\"${x}\"",
    "upper(x)",
    "x + 1",
    "x.y",
    "x[\"a\"]",
    "x == x",
    "tostring(x)",
    "tolist(x)",
    "toset(x)",
    "concat(x, x)",
    "length(x)",
    "distinct([x, x])",
    "contains([x], x)",
    "merge({a = x}, {b = x})",
    "setproduct(x, x)",
    "zipmap([\"a\"], [x])",
    "jsondecode(jsonencode(many))",
    "yamldecode(yamlencode(many))",
    "format(\"%d\", x)",
    "try(x.y, 1)",
    "range(1e9)",
    "format(\"%1000000d\", 1)",
    "format(\"%.1000000f\", 1)",
    "[for a in range(1024): [for b in range(1024): a]]",
    "csvdecode(replace(long, \"a\", \"a,\"))",
    "base64gunzip(base64gzip(join(\"\", [for a in range(10): long])))",
];

#[test]
fn peaks_of_hcl() {
    let each = |step: &str, expressions: &[&str]| -> Vec<String> {
        expressions.iter().map(|expression| hcl_template(step, expression)).collect()
    };
    bounded(Dialect::Hcl, &each("[#]", HCL_PRINTERS), &each("[#]", HCL_READERS));
    bounded(Dialect::Hcl, &each("{a = [#], b = x}", &HCL_PRINTERS[..4]), &each("{a = [#], b = x}", HCL_READERS));
}

/// An expression of CEL with a shared value `x`.
fn cel_expression(step: &str, expression: &str) -> String {
    let bound = |step: &str, around: String| format!("cel.bind(x, {step}, {around})");
    let step = step.replace('#', &["x"; 10].join(", "));
    let inner = (0..6).fold(expression.to_owned(), |around, _| bound(&step, around));
    bound("[dyn('text'), 1.5, true]", inner)
}

const CEL_PRINTERS: &[&str] = &[
    "x",
    "'%s'.format([x])",
    "json.marshal(x)",
    "x.map(a, x).map(b, x) + [dyn('%s'.format([x]))]",
    "lists.range(100000).map(a, string(a)).join(long)",
    "long.replace('a', long)",
    "lists.range(1000).map(a, long).join()",
    "base64.encode(bytes(json.marshal(x)))",
    "'%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s'.format([long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long])",
];

const CEL_READERS: &[&str] = &[
    "x == x",
    "dyn(x).y",
    "dyn(x)['a']",
    "dyn(x) + 1",
    "string(dyn(x))",
    "x in [x]",
    "{'a': x}['b']",
    "dyn([x, x]).flatten(100)",
    "[x, x].distinct()",
    "long.split('')",
    "lists.range(1000000)",
    "x.map(a, x.map(b, x.map(c, x.map(d, x.map(e, x.map(f, x))))))",
    "regex.extractAll(long, 'a')",
    "regex.replace(long, 'a', long)",
    "json.unmarshal(json.marshal(many))",
    "strings.quote(long)",
    "long.reverse()",
    "long.upperAscii()",
];

#[test]
fn peaks_of_cel() {
    let each = |step: &str, expressions: &[&str]| -> Vec<String> {
        expressions.iter().map(|expression| cel_expression(step, expression)).collect()
    };
    let in_yaml = |texts: Vec<String>| texts.iter().map(|text| format!("a: ${{{text}}}\n")).collect::<Vec<_>>();
    let (printers, readers) = (each("[#]", CEL_PRINTERS), each("[#]", CEL_READERS));
    bounded(Dialect::Cel, &printers, &readers);
    bounded(Dialect::CelYaml, &in_yaml(printers), &in_yaml(readers));
    // A map has no loop over its items.
    let maps = "{'a': [#], 'b': x}";
    bounded(Dialect::Cel, &each(maps, &CEL_PRINTERS[..3]), &each(maps, CEL_READERS));
}
