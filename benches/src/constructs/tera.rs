//! Tera's rows, beside tera 1, tera 2 and minijinja.

use super::Kind::{Filter, Function, Operator, Statement, Test};
use super::subjects::{Looping, subject};
use super::{Bars, FIRST, Kind, Language, Row, SECOND, THIRD, shared};
use crate::engines::{Engine, Minijinja, Ours, Tera1, Tera2};

/// The language.
pub const LANGUAGE: Language = Language {
    name: "tera",
    rows: ROWS,
    without: WITHOUT,
    builtins: || super::builtins(&dropforge::dialect::tera::builtins::registry()),
    ours: subject::<Ours>,
    peers: &[
        (Tera1::NAME, Some(Bars { median: 8.0, least: 4.0 }), subject::<Tera1>),
        (Tera2::NAME, Some(Bars { median: 3.0, least: 1.5 }), subject::<Tera2>),
        (Minijinja::NAME, Some(Bars { median: 4.0, least: 2.0 }), subject::<Minijinja>),
    ],
};

const LOOP: (&str, &str) = ("{% for x in items %}", "{% endfor %}");

/// Tera 1's files, which minijinja also takes.
const FILES: &[(&str, &str)] = &[
    ("part", "{{ x.s }}"),
    ("macros", "{% macro pair(a, b) %}{{ a }}={{ b }}{% endmacro %}"),
    ("base", "<{% block title %}{% endblock %}>{% block body %}{% endblock %}"),
];

impl Looping for Ours {
    const LOOP: (&'static str, &'static str) = LOOP;
    const FILES: &'static [(&'static str, &'static str)] = FILES;
}

impl Looping for Tera1 {
    const LOOP: (&'static str, &'static str) = LOOP;
    const FILES: &'static [(&'static str, &'static str)] = FILES;
}

impl Looping for Tera2 {
    const LOOP: (&'static str, &'static str) = LOOP;
    const FILES: &'static [(&'static str, &'static str)] =
        &[FILES[0], ("macros", "{% component pair(a, b) %}{{ a }}={{ b }}{% endcomponent pair %}"), FILES[2]];
}

impl Looping for Minijinja {
    const LOOP: (&'static str, &'static str) = LOOP;
    const FILES: &'static [(&'static str, &'static str)] = FILES;
}

const T1: u8 = FIRST;
const T2: u8 = SECOND;
const MJ: u8 = THIRD;
const ALL: u8 = T1 | T2 | MJ;

/// A row beside the emission of a short string.
const fn row(kind: Kind, name: &'static str, text: &'static str) -> Row {
    Row::new(kind, name, text, "{{ x.s }}")
}

/// Builtins without a row.
const WITHOUT: &[(&str, &str)] = &[
    ("throw", "ends the render"),
    ("fail", "ends the render"),
    ("get_env", "reads the environment"),
    ("get_random", "differs from call to call"),
    ("now", "differs from call to call"),
];

const ROWS: &[Row] = &[
    // Text.
    row(Filter, "upper", "{{ x.s | upper }}").same(ALL).shared("s", shared::upper),
    row(Filter, "lower", "{{ x.text | lower }}").plain("{{ x.text }}").same(ALL).shared("text", shared::lower),
    row(Filter, "upper (not ASCII)", "{{ x.unicode | upper }}")
        .plain("{{ x.unicode }}")
        .same(ALL)
        .shared("unicode", shared::upper),
    row(Filter, "capitalize", "{{ x.text | capitalize }}").plain("{{ x.text }}").same(ALL),
    row(Filter, "title", "{{ x.text | title }}").plain("{{ x.text }}").same(ALL),
    row(Filter, "trim", "{{ x.padded | trim }}").same(ALL),
    row(Filter, "trim_start", "{{ x.padded | trim_start }}").same(T1 | T2),
    row(Filter, "trim_end", "{{ x.padded | trim_end }}").same(T1 | T2),
    row(Filter, "trim_start_matches", "{{ x.slashed | trim_start_matches(pat='/') }}")
        .same(T1)
        .second("{{ x.slashed | trim_start(pat='/') }}"),
    row(Filter, "trim_end_matches", "{{ x.slashed | trim_end_matches(pat='/') }}")
        .same(T1)
        .second("{{ x.slashed | trim_end(pat='/') }}"),
    row(Filter, "truncate", "{{ x.text | truncate(length=10) }}").same(T1 | T2).shared("text", shared::graphemes),
    row(Filter, "truncate (not ASCII)", "{{ x.unicode | truncate(length=10, end='') }}")
        .same(T1 | T2)
        .shared("unicode", shared::graphemes),
    row(Filter, "truncate (nothing left out)", "{{ x.s | truncate(length=63, end='') }}").same(T1 | T2),
    row(Filter, "wordcount", "{{ x.text | wordcount }}").plain("{{ x.n }}").same(T1 | T2),
    row(Filter, "replace", "{{ x.s | replace(from='-', to='_') }}")
        .same(T1 | T2)
        .third("{{ x.s | replace('-', '_') }}")
        .shared("s", shared::replace),
    row(Filter, "replace (of a long text)", "{{ x.long | replace(from=' ', to='') }}")
        .plain("{{ x.long }}")
        .same(T1 | T2)
        .third("{{ x.long | replace(' ', '') }}"),
    row(Filter, "split", "{{ x.csv | split(pat=',') | first }}")
        .same(T1 | T2)
        .third("{{ x.csv | split(',') | first }}"),
    row(Filter, "split (all parts)", "{% for y in x.csv | split(pat=',') %}{{ y }} {% endfor %}")
        .same(T1 | T2)
        .third("{% for y in x.csv | split(',') %}{{ y }} {% endfor %}"),
    row(Filter, "indent", "{{ x.lines | indent(prefix='  ') }}")
        .plain("{{ x.lines }}")
        .same(T1)
        .second("{{ x.lines | indent(width=2) }}")
        .third("{{ x.lines | indent(2) }}"),
    row(Filter, "linebreaksbr", "{{ x.lines | linebreaksbr }}")
        .plain("{{ x.lines }}")
        .same(T1)
        .second("{{ x.lines | newlines_to_br }}"),
    row(Filter, "escape", "{{ x.html | escape }}").plain("{{ x.html }}").same(ALL),
    row(Filter, "escape_xml", "{{ x.html | escape_xml }}").plain("{{ x.html }}").same(T1 | T2),
    row(Filter, "addslashes", "{{ x.html | addslashes }}").plain("{{ x.html }}").same(T1),
    row(Filter, "striptags", "{{ x.html | striptags }}").plain("{{ x.html }}").same(T1),
    row(Filter, "spaceless", "{{ x.html | spaceless }}").plain("{{ x.html }}").same(T1),
    row(Filter, "urlencode", "{{ x.name | urlencode }}").same(T1 | MJ).shared("name", shared::url),
    row(Filter, "urlencode_strict", "{{ x.name | urlencode_strict }}").same(T1).shared("name", shared::url),
    row(Filter, "slugify", "{{ x.unicode | slugify }}").same(T1).shared("unicode", shared::slug),
    row(Filter, "safe", "{{ x.html | safe }}").plain("a").same(ALL).escaped(),
    row(Operator, "escaped emission", "{{ x.html }}").plain("a").same(ALL).escaped(),
    // Numbers.
    row(Filter, "int", "{{ x.digits | int }}").plain("{{ x.n }}").same(ALL),
    row(Filter, "int (of a float)", "{{ x.f | int }}").plain("{{ x.n }}").same(T1 | MJ),
    row(Filter, "float", "{{ x.decimal | float }}").plain("{{ x.f }}").same(ALL),
    row(Filter, "abs", "{{ x.neg | abs }}").plain("{{ x.n }}").same(ALL),
    row(Filter, "round", "{{ x.f | round }}").plain("{{ x.n }}").same(T1),
    row(Filter, "round (ceil)", "{{ x.f | round(method='ceil') }}").plain("{{ x.n }}").same(T1),
    row(Filter, "round (two digits)", "{{ x.f | round(precision=2) }}")
        .plain("{{ x.f }}")
        .same(T1 | T2)
        .third("{{ x.f | round(2) }}"),
    row(Filter, "round (then int)", "{{ x.f | round | int }}").plain("{{ x.n }}").same(ALL),
    row(Filter, "pluralize", "{{ x.m | pluralize(plural='ies', singular='y') }}").plain("ies").same(T1 | T2),
    row(Filter, "filesizeformat", "{{ x.size | filesizeformat }}").same(T1).shared("size", shared::size),
    row(Filter, "date", "{{ x.time | date }}").same(T1).shared("time", shared::date),
    row(Filter, "date (of a text)", "{{ x.stamp | date(format='%d.%m.%Y %H:%M') }}").same(T1),
    // Lists.
    row(Filter, "first", "{{ x.list | first }}").same(ALL),
    row(Filter, "last", "{{ x.list | last }}").same(ALL),
    row(Filter, "nth", "{{ x.list | nth(n=2) }}").same(T1 | T2),
    row(Filter, "join", "{{ x.list | join(sep=', ') }}").same(T1 | T2).third("{{ x.list | join(', ') }}"),
    row(Filter, "slice", "{{ x.nums | slice(start=1, end=3) }}")
        .plain("{{ x.nums }}")
        .same(T1)
        .second("{{ x.nums[1:3] }}")
        .third("{{ x.nums[1:3] }}"),
    row(Filter, "concat", "{{ x.nums | concat(with=x.n) }}")
        .plain("{{ x.nums }}")
        .same(T1)
        .third("{{ x.nums + [x.n] }}"),
    row(Filter, "length", "{{ x.list | length }}").plain("{{ x.n }}").same(ALL),
    row(Filter, "length (of a text)", "{{ x.text | length }}").plain("{{ x.n }}").same(ALL),
    row(Filter, "length (of a map)", "{{ x.map | length }}").plain("{{ x.n }}").same(ALL),
    row(Filter, "reverse", "{{ x.nums | reverse }}").plain("{{ x.nums }}").same(ALL),
    row(Filter, "reverse (of a text)", "{{ x.s | reverse }}").same(ALL),
    row(Filter, "sort", "{{ x.nums | sort }}").plain("{{ x.nums }}").same(ALL),
    row(Filter, "sort (by an attribute)", "{{ x.ports | sort(attribute='port') | first | get(key='name') }}")
        .same(T1 | T2)
        .third("{{ (x.ports | sort(attribute='port') | first).name }}"),
    row(Filter, "unique", "{{ x.nums | unique | length }}").plain("{{ x.n }}").same(ALL),
    row(Filter, "unique (by an attribute)", "{{ x.ports | unique(attribute='name') | length }}")
        .plain("{{ x.n }}")
        .same(T1)
        .third("{{ x.ports | unique(attribute='name') | length }}"),
    row(Filter, "group_by", "{{ x.ports | group_by(attribute='name') | length }}")
        .plain("{{ x.n }}")
        .same(T1 | T2)
        .third("{{ x.ports | groupby('name') | length }}"),
    row(Filter, "filter", "{{ x.ports | filter(attribute='name', value=x.s) | length }}")
        .plain("{{ x.n }}")
        .same(T1)
        .third("{{ x.ports | selectattr('name', 'eq', x.s) | list | length }}"),
    row(Filter, "map", "{{ x.ports | map(attribute='port') }}")
        .plain("{{ x.nums }}")
        .same(T1)
        .third("{{ x.ports | map(attribute='port') | list }}"),
    // Values.
    row(Filter, "get", "{{ x.map | get(key='zone') }}").same(T1 | T2),
    row(Filter, "get (missing)", "{{ x.map | get(key='none', default=x.s) }}").same(T1 | T2),
    row(Filter, "default", "{{ x.maybe | default(value='none') }}")
        .same(T1 | T2)
        .third("{{ x.maybe | default('none') }}"),
    row(Filter, "as_str", "{{ x.n | as_str }}")
        .plain("{{ x.n }}")
        .same(T1)
        .second("{{ x.n | str }}")
        .third("{{ x.n | string }}"),
    row(Filter, "json_encode", "{{ x.deep | json_encode }}").same(T1).shared("deep", shared::json),
    row(Filter, "json_encode (of a text)", "{{ x.s | json_encode }}")
        .same(T1)
        .third("{{ x.s | tojson }}")
        .shared("s", shared::json),
    row(Filter, "json_encode (of a list)", "{{ x.ports | json_encode }}").same(T1).shared("ports", shared::json),
    row(Filter, "json_encode (pretty)", "{{ x.map | json_encode(pretty=true) }}")
        .same(T1)
        .third("{{ x.map | tojson(2) }}")
        .shared("map", shared::pretty),
    // Beyond Tera.
    row(Filter, "required", "{{ x.s | required(message='no name') }}"),
    row(Filter, "coalesce", "{{ x.maybe | coalesce(with='none') }}"),
    row(Filter, "ternary", "{{ x.flag | ternary(yes='on', no='off') }}")
        .second("{{ 'on' if x.flag else 'off' }}")
        .third("{{ 'on' if x.flag else 'off' }}"),
    row(Filter, "merge", "{{ x.map | merge(with=x.deep) | length }}").plain("{{ x.n }}"),
    row(Filter, "merge_deep", "{{ x.deep | merge_deep(with=x.map) | length }}").plain("{{ x.n }}"),
    row(Filter, "semver_compare", "{{ x.version | semver_compare(constraint='>= 2.1, < 4') }}").plain("{{ x.flag }}"),
    row(Filter, "ip_in", "{{ x.ip | ip_in(cidr=x.cidr) }}").plain("{{ x.flag }}"),
    row(Filter, "quote", "{{ x.text | quote }}").plain("{{ x.text }}"),
    row(Filter, "squote", "{{ x.text | squote }}").plain("{{ x.text }}"),
    row(Filter, "nindent", "{{ x.lines | nindent(n=4) }}").plain("{{ x.lines }}"),
    row(Filter, "trunc", "{{ x.text | trunc(length=12) }}"),
    row(Filter, "dns_label", "{{ x.name | dns_label }}"),
    row(Filter, "b64encode", "{{ x.text | b64encode }}").plain("{{ x.text }}").shared("text", shared::base64),
    row(Filter, "b64decode", "{{ x.coded | b64decode }}"),
    row(Filter, "sha256", "{{ x.s | sha256 }}").shared("s", shared::sha256),
    row(Filter, "sha1", "{{ x.s | sha1 }}"),
    row(Filter, "md5", "{{ x.s | md5 }}"),
    row(Filter, "regex_match", "{{ x.s | regex_match(pattern='^[a-d].*[0-4]$') }}").plain("{{ x.flag }}"),
    row(Filter, "regex_replace", "{{ x.s | regex_replace(pattern='-([0-9]+)', to='.$1') }}"),
    row(Filter, "cidr_host", "{{ x.cidr | cidr_host(n=9) }}"),
    row(Filter, "to_yaml", "{{ x.deep | to_yaml }}"),
    row(Filter, "to_json", "{{ x.deep | to_json }}").shared("deep", shared::json),
    row(Filter, "from_json", "{{ x.json | from_json | get(key='app') }}").shared("json", shared::parse),
    row(Filter, "from_yaml", "{{ x.yaml | from_yaml | get(key='app') }}"),
    // Tests.
    row(Test, "defined", "{% if x.maybe is defined %}a{% endif %}").plain("a").same(ALL),
    row(Test, "undefined", "{% if x.maybe is undefined %}a{% endif %}").plain("a").same(ALL),
    row(Test, "defined (not)", "{% if x.maybe is not defined %}a{% endif %}").plain("a").same(ALL),
    row(Test, "odd", "{% if x.n is odd %}a{% endif %}").plain("a").same(ALL),
    row(Test, "even", "{% if x.n is even %}a{% endif %}").plain("a").same(ALL),
    row(Test, "divisibleby", "{% if x.n is divisibleby(3) %}a{% endif %}")
        .plain("a")
        .same(T1 | MJ)
        .second("{% if x.n is divisible_by(divisor=3) %}a{% endif %}"),
    row(Test, "string", "{% if x.s is string %}a{% endif %}").plain("a").same(ALL),
    row(Test, "number", "{% if x.n is number %}a{% endif %}").plain("a").same(ALL),
    row(Test, "iterable", "{% if x.list is iterable %}a{% endif %}").plain("a").same(ALL),
    row(Test, "object", "{% if x.map is object %}a{% endif %}")
        .plain("a")
        .same(T1)
        .second("{% if x.map is map %}a{% endif %}")
        .third("{% if x.map is mapping %}a{% endif %}"),
    row(Test, "starting_with", "{% if x.s is starting_with('we') %}a{% endif %}")
        .plain("a")
        .same(T1)
        .second("{% if x.s is starting_with(pat='we') %}a{% endif %}")
        .third("{% if x.s is startingwith('we') %}a{% endif %}"),
    row(Test, "starting_with (a variable)", "{% if x.s is starting_with(prefix) %}a{% endif %}")
        .plain("a")
        .same(T1)
        .second("{% if x.s is starting_with(pat=prefix) %}a{% endif %}")
        .third("{% if x.s is startingwith(prefix) %}a{% endif %}"),
    row(Test, "ending_with", "{% if x.s is ending_with('1') %}a{% endif %}")
        .plain("a")
        .same(T1)
        .second("{% if x.s is ending_with(pat='1') %}a{% endif %}")
        .third("{% if x.s is endingwith('1') %}a{% endif %}"),
    row(Test, "containing", "{% if x.s is containing('e-') %}a{% endif %}")
        .plain("a")
        .same(T1)
        .second("{% if x.s is containing(pat='e-') %}a{% endif %}")
        .third("{% if 'e-' in x.s %}a{% endif %}"),
    row(Test, "containing (a list)", "{% if x.list is containing('mesh') %}a{% endif %}")
        .plain("a")
        .same(T1)
        .second("{% if x.list is containing(pat='mesh') %}a{% endif %}")
        .third("{% if 'mesh' in x.list %}a{% endif %}"),
    row(Test, "matching", "{% if x.s is matching('^[a-d].*[0-4]$') %}a{% endif %}").plain("a").same(T1),
    // Functions.
    row(Function, "range", "{% for i in range(end=x.m) %}{{ i }}{% endfor %}")
        .same(T1 | T2)
        .third("{% for i in range(x.m) %}{{ i }}{% endfor %}"),
    // Expressions.
    row(Operator, "emission of a string", "{{ x.s }}").plain("a").same(ALL),
    row(Operator, "emission of an integer", "{{ x.n }}").plain("a").same(ALL),
    row(Operator, "emission of a float", "{{ x.f }}").plain("a").same(ALL),
    row(Operator, "emission of a boolean", "{{ x.flag }}").plain("a").same(T1 | T2),
    row(Operator, "emission of a list", "{{ x.nums }}").plain("a").same(ALL),
    row(Operator, "path (four names)", "{{ x.deep.meta.labels.app }}").plain("a").same(ALL),
    row(Operator, "index (a number)", "{{ x.list[1] }}").plain("a").same(ALL),
    row(Operator, "index (a text)", "{{ x.map['zone'] }}").plain("a").same(ALL),
    row(Operator, "index (a variable)", "{{ by_name[x.s] | default(value=0) }}")
        .plain("a")
        .same(T1)
        .second("{{ by_name[x.s] | default(value=0) }}")
        .third("{{ by_name[x.s] | default(0) }}"),
    row(Operator, "+", "{{ x.n + x.m }}").plain("{{ x.n }}").same(ALL),
    row(Operator, "-", "{{ x.n - x.m }}").plain("{{ x.n }}").same(ALL),
    row(Operator, "*", "{{ x.n * x.m }}").plain("{{ x.n }}").same(ALL),
    row(Operator, "/", "{{ x.f / 3 }}").plain("{{ x.f }}").same(ALL),
    row(Operator, "%", "{{ x.n % x.m }}").plain("{{ x.n }}").same(ALL),
    row(Operator, "+ (floats)", "{{ x.f + 1.5 }}").plain("{{ x.f }}").same(ALL),
    row(Operator, "* + (three operands)", "{{ x.n * 2 + x.m }}").plain("{{ x.n }}").same(ALL),
    row(Operator, "~", "{{ x.s ~ '-' ~ x.n }}").same(ALL),
    row(Operator, "==", "{% if x.s == 'web-00' %}a{% endif %}").plain("a").same(ALL),
    row(Operator, "!=", "{% if x.s != 'web-00' %}a{% endif %}").plain("a").same(ALL),
    row(Operator, "== (integers)", "{% if x.n == limit %}a{% endif %}").plain("a").same(ALL),
    row(Operator, "<", "{% if x.n < limit %}a{% endif %}").plain("a").same(ALL),
    row(Operator, "<=", "{% if x.n <= limit %}a{% endif %}").plain("a").same(ALL),
    row(Operator, ">", "{% if x.n > 50 %}a{% endif %}").plain("a").same(ALL),
    row(Operator, ">=", "{% if x.f >= 50.5 %}a{% endif %}").plain("a").same(ALL),
    row(Operator, "and", "{% if x.flag and x.other %}a{% endif %}").plain("a").same(ALL),
    row(Operator, "or", "{% if x.flag or x.other %}a{% endif %}").plain("a").same(ALL),
    row(Operator, "not", "{% if not x.flag %}a{% endif %}").plain("a").same(ALL),
    row(Operator, "in (a list)", "{% if x.s in names %}a{% endif %}").plain("a").same(ALL),
    row(Operator, "in (a text)", "{% if prefix in x.s %}a{% endif %}").plain("a").same(ALL),
    row(Operator, "in (a map)", "{% if x.s in by_name %}a{% endif %}").plain("a").same(ALL),
    row(Operator, "not in", "{% if x.s not in names %}a{% endif %}").plain("a").same(ALL),
    row(Operator, "in (literals)", "{% if x.m in [1, 3, 5] %}a{% endif %}").plain("a").same(ALL),
    // Statements.
    row(Statement, "if", "{% if x.flag %}a{% endif %}").plain("a").same(ALL),
    row(Statement, "if else", "{% if x.flag %}a{% else %}b{% endif %}").plain("a").same(ALL),
    row(Statement, "elif", "{% if x.m == 1 %}a{% elif x.m == 2 %}b{% elif x.m == 3 %}c{% else %}d{% endif %}")
        .plain("a")
        .same(ALL),
    row(Statement, "for", "{% for y in x.list %}{{ y }}{% endfor %}").plain("{{ x.s }}").same(ALL),
    row(Statement, "for k, v", "{% for k, v in x.map %}{{ k }}={{ v }} {% endfor %}")
        .same(T1)
        .third("{% for k, v in x.map | items %}{{ k }}={{ v }} {% endfor %}"),
    row(Statement, "for (of maps)", "{% for p in x.ports %}{{ p.name }}:{{ p.port }} {% endfor %}").same(ALL),
    row(Statement, "for else", "{% for y in x.filled %}{{ y }}{% else %}none{% endfor %}").same(ALL),
    row(Statement, "loop.index", "{{ loop.index }}").plain("a").same(ALL),
    row(Statement, "loop.first", "{% if loop.first %}a{% endif %}").plain("a").same(ALL),
    row(Statement, "loop.last", "{% for y in x.list %}{{ y }}{% if not loop.last %}, {% endif %}{% endfor %}")
        .same(ALL),
    row(Statement, "break", "{% for y in x.nums %}{% if y > 5 %}{% break %}{% endif %}{{ y }}{% endfor %}").same(ALL),
    row(Statement, "continue", "{% for y in x.nums %}{% if y > 5 %}{% continue %}{% endif %}{{ y }}{% endfor %}")
        .same(ALL),
    row(Statement, "set", "{% set y = x.s %}{{ y }}").same(ALL),
    row(Statement, "set (a sum)", "{% set y = x.n + 1 %}{{ y }}").plain("{{ x.n }}").same(ALL),
    row(Statement, "set_global", "{% set_global y = x.n %}{{ y }}").plain("{{ x.n }}").same(T1 | T2),
    row(Statement, "filter", "{% filter upper %}{{ x.s }}: {{ x.n }}{% endfilter %}")
        .plain("{{ x.s }}: {{ x.n }}")
        .same(ALL),
    row(Statement, "filter (indent)", "{% filter indent(prefix='  ') %}{{ x.lines }}{% endfilter %}")
        .plain("{{ x.lines }}")
        .same(T1)
        .second("{% filter indent(width=2) %}{{ x.lines }}{% endfilter %}")
        .third("{% filter indent(2) %}{{ x.lines }}{% endfilter %}"),
    row(Statement, "include", "{% include 'part' %}").same(ALL),
    row(Statement, "macro", "{% import 'macros' as m %}\n---\n{{ m::pair(a=x.s, b=x.n) }}")
        .plain("{{ x.s }}={{ x.n }}")
        .same(T1)
        .second("{{<pair a={x.s} b={x.n}/>}}")
        .third("{% import 'macros' as m %}\n---\n{{ m.pair(a=x.s, b=x.n) }}"),
    row(Statement, "raw", "{% raw %}{{ x }}{% endraw %}").plain("a").same(ALL),
    row(
        Statement,
        "extends",
        "{% extends 'base' %}{% block title %}{{ limit }}{% endblock %}{% block body %}{{ prefix }}{% endblock %}",
    )
    .plain("<{{ limit }}>{{ prefix }}")
    .same(ALL)
    .whole(),
    row(Statement, "super", "{% extends 'base' %}{% block body %}{{ super() }}{{ prefix }}{% endblock %}")
        .plain("<>{{ prefix }}")
        .same(ALL)
        .whole(),
    row(Statement, "comment", "{# about x #}{{ x.s }}").same(ALL),
];
