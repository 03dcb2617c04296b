//! The findings of checks.

use super::*;
use crate::builtins;
use dropforge_base::limits::Limits;
use dropforge_base::text::Source;
use dropforge_machine::vm::Space;

const TYPES: &str = "
    name = string
    port = number
    on = bool
    any = any
    tags = map(string)
    hosts = list(object({ name = string, size = optional(number, 3) }))
    variable \"vpc\" {
      type = object({ id = string })
      default = nope
    }
    variable \"free\" {}
    output \"x\" {}
";

/// The text at the errors of a template.
fn found(template: &str, types: Option<&str>) -> Vec<String> {
    let limits = Limits::default();
    let types = types.map(|text| VariableTypes::read(&Source::new("types.hcl", text), &limits).unwrap());
    let source = Source::new("t", template);
    let found = check_template(&source, &builtins::registry(), types.as_ref(), &limits).unwrap();
    found.iter().map(|error| source.slice(error.primary().unwrap().span).to_owned()).collect()
}

/// The text at the errors of a configuration of this name.
fn found_in(name: &str, text: &str, types: Option<&str>) -> Vec<String> {
    let limits = Limits::default();
    let types = types.map(|text| VariableTypes::read(&Source::new("types.hcl", text), &limits).unwrap());
    let source = Source::new(name, text);
    let found = check_config(&source, &builtins::registry(), types.as_ref(), &limits).unwrap();
    found.iter().map(|error| source.slice(error.primary().unwrap().span).to_owned()).collect()
}

#[test]
fn what_is_wrong_whatever_the_values_are() {
    let cases = [
        ("${name} ${port + 1} ${on ? 1 : 2} ${any.x[3].y} ${tags.x} ${free + 1}", &[] as &[&str]),
        ("${hosts[0].size} ${hosts.*.name[0]} ${vpc.id}", &[]),
        ("${nmae} ${vpc.ip}", &["nmae", ".ip"]),
        ("${upper(hosts)} ${uper(name)} ${abs(name)}", &["hosts", "uper"]),
        ("${hosts + 1} ${!vpc}", &["hosts", "vpc"]),
        // Branches that may be taken, and bodies of loops.
        ("%{ if on }${vpc.a}%{ else }${vpc.b}%{ endif }", &[".a", ".b"]),
        ("%{ if false }${vpc.a}%{ endif }", &[]),
        ("%{ for h in hosts }${h.name}${h.nmae}%{ if on }${h.no}%{ endif }%{ endfor }", &[".nmae", ".no"]),
        ("%{ for k, v in tags }${k}${v.x}${k.x}%{ endfor }", &[".x", ".x"]),
        ("%{ for x in [] }${nope}%{ endfor }%{ for x in [1, 2] }${x}${x.a}%{ endfor }", &[".a"]),
        ("${[for a in any : [for h in hosts : h.x + a.y]][0][0]}", &[".x"]),
        // Operands beside one that is not known; where one decides, the others do not matter.
        ("${on && (1 + \"x\") == 1} ${(on || any) || vpc.no}", &["\"x\"", ".no"]),
        ("${vpc.no && on} ${on && (port == 1 || vpc.no)}", &[".no", ".no"]),
        ("${false && vpc.no} ${vpc.no && false} ${on || vpc.no || true} ${can(vpc.no) && vpc.no}", &[]),
        ("${[for h in hosts : h if on && h.no]}", &[".no"]),
        // Functions that handle errors.
        ("${try(vpc.no, 1)} ${can(vpc.no) ? vpc.no : 2} ${try(on ? vpc.no : 1, 1)}", &[]),
    ];
    for (template, wanted) in cases {
        assert_eq!(found(template, Some(TYPES)), wanted, "{template}");
    }
}

#[test]
fn without_types_every_variable_is_of_any_type() {
    assert_eq!(found("${a.b} ${c + 1} ${[1][\"x\"]} %{ for x in d }${x.y}%{ endfor }", None), ["[\"x\"]"]);
}

#[test]
fn what_needs_no_evaluation_hides_no_error() {
    let cases = [
        (
            "${lower(a)}${a == 1 ? b + 1 : 2}${-a}${!a}${a % b}${jsonencode([{ x = a, \"y\" = [b] }, null])}",
            &[] as &[&str],
        ),
        ("${a || 2 > 1 ? \"x\" : b} %{ for x in a }${upper(x)}${x.y}%{ endfor }${[for k, v in a : k if v != 1]}", &[]),
        ("${a + \"x\"} ${-(a == b)} ${a / 0} ${(a > 1) + 1}", &["\"x\"", "(a == b)", "(a > 1)"]),
        ("${a ? 1 : true} ${a || [b]} ${true && !1}", &["1 : true", "[b]", "1"]),
        ("${null} ${a} ${[a]} ${\"${[b]}\"} ${{ x = a }}", &["null", "[a]", "\"${[b]}\"", "{ x = a }"]),
        ("${nope(a)} ${lower(a, b)}", &["nope", "b"]),
        ("%{ for x in a }${x}${[x]}%{ endfor } ${[for x in a : 1 if [x]]}", &["[x]", "[x]"]),
        ("%{ if a }${b}%{ else }${[b]}%{ endif } %{ if [a] }%{ endif }", &["[b]", "[a]"]),
    ];
    for (template, wanted) in cases {
        assert_eq!(found(template, None), wanted, "{template}");
    }
}

#[test]
fn wrong_declarations_are_refused() {
    let cases = [
        ("a = lisst(string)", 1),
        ("a = string\nb = list(strin)\nc = 1", 2),
        ("a = string\nvariable \"a\" {}", 1),
        ("variable {}\nvariable \"a\" \"b\" {}", 2),
        ("a = ", 1),
        ("a = object({ x = string, x = number })", 1),
        ("a = list(object({ x = optional(string), x = optional(string) }))", 1),
        ("variable \"a\" {\n  typ = string\n  defalt = 1\n  validaton {}\n}", 3),
        ("variable \"a\" {\n  validation {\n    condition = true\n    mesage = \"x\"\n  }\n}", 1),
        ("variable \"a\" {\n  validation {}\n}", 1),
        ("variabel \"a\" {}\nresource \"x\" \"y\" {}", 1),
    ];
    for (text, count) in cases {
        let read = VariableTypes::read(&Source::new("types.hcl", text), &Limits::default());
        assert_eq!(read.unwrap_err().into_vec().len(), count, "{text}");
    }
}

#[test]
fn many_branches_and_deep_ones_cost_little() {
    let deep = format!("{}${{vpc.x}}{}", "%{ if on }".repeat(50), "%{ endif }".repeat(50));
    assert_eq!(found(&deep, Some(TYPES)), [".x"]);
    let many = "%{ if on }${name}%{ endif }".repeat(5_000);
    assert!(found(&many, Some(TYPES)).is_empty());
    let chain = format!("${{1{}}}", " + port".repeat(5_000));
    assert!(found(&chain, Some(TYPES)).is_empty());
    let both = format!("${{on{} && vpc.x}}", " && on".repeat(2_000));
    assert_eq!(found(&both, Some(TYPES)), [".x"]);
}

const CONFIG: &str = "
    greeting = greet(1, 2, 3)
    service \"a\" {
      port = prt + 1
      name = uper(name)
      tags = { for n in port : n => 1 }
      nested { deep = tags[vpc] }
    }
    on = on ? vpc.no : (on && abs(tags) == 1)
    same = greet(name) + 1
    function \"greet\" {
      params         = [who]
      result         = \"hi ${who} ${whom} ${twice(who)}\"
    }
    function \"twice\" {
      params = [x]
      result = [x, x]
    }
";

#[test]
fn every_argument_of_every_block_is_checked() {
    let wanted = ["2", "prt", "uper", "port", "[vpc]", ".no", "tags", "whom"];
    assert_eq!(found_in("a.hcl", CONFIG, Some(TYPES)), wanted);
    assert_eq!(found_in("a.hcl", CONFIG, None), ["2", "uper"]);
}

#[test]
fn functions_of_the_file_are_known_by_what_they_answer() {
    let text = |call: &str| {
        format!(
            "a = {call}\nfunction \"f\" {{\n  params = [x]\n  result = {{ x = x, g = g(x) }}\n}}\nfunction \"g\" {{\n  params = []\n  variadic_param = xs\n  result = f(xs[0])\n}}\n"
        )
    };
    for call in ["f(1).x", "f(1).g.x", "g(1, 2)", "f(nope).y"] {
        assert!(found_in("a.hcl", &text(call), None).is_empty(), "{call}");
    }
    assert_eq!(found_in("a.hcl", &text("f(1).y"), None), [".y"]);
    assert_eq!(found_in("a.hcl", &text("f()"), None), [")"]);
    assert_eq!(found_in("a.hcl", "function \"f\" {\n  result = 1\n}\n", None).len(), 1);
}

#[test]
fn what_is_no_value_is_not_evaluated() {
    let text = "
        variable \"a\" {
          type    = list(object({ name = string, size = optional(number, 3) }))
          default = uper(1)
          validation { condition = uper(2) }
        }
        variable \"b\" { type = list }
        variable \"c\" { type = lisst(string) }
        block \"d\" { type = list(string) }
        at = timestamp()
        providers = { aws.west = aws, aws = aws[uper(3)] }
        nested = [{ aws.west = aws }]
    ";
    assert_eq!(found_in("a.tf", text, None), ["uper", "uper", "lisst(string)", "list(", "uper", "aws.west"]);
}

#[test]
fn iterators_of_dynamic_blocks_are_of_the_elements_types() {
    let text = "
        group {
          dynamic \"host\" {
            for_each = hosts
            labels   = [host.value.name, host.value.nam]
            content {
              size = host.value.size + host.key
              no   = host.value.no
              dynamic \"tag\" {
                for_each = tags
                iterator = it
                content { all = [it.key, it.value.x, host.value.non, tag.value] }
              }
            }
          }
          outside = host.value
        }
        dynamic \"x\" {
          for_each = port
          content { v = x.value }
        }
        dynamic \"y\" { plain = nope }
    ";
    let wanted = [".nam", ".no", ".x", ".non", "tag", "host", "port", "nope"];
    assert_eq!(found_in("a.hcl", text, Some(TYPES)), wanted);
    assert!(found_in("a.hcl", text, None).iter().all(|found| found == ".x"), "what anything can be is not wrong");
}

#[test]
fn what_is_wrong_with_dynamic_blocks_is_found() {
    let dynamic = |inner: &str| format!("dynamic \"rule\" {{\n{inner}\n}}\n");
    let content = "content { port = rule.value }";
    for (inner, wanted) in [
        ("for_each = [80]\niterator = \"it\"\ncontent { port = it.value }", &["\"it\""] as &[&str]),
        ("for_each = [80]", &[""]),
        (&format!("foreach = [80]\n{content}"), &["", "foreach"]),
        (&format!("for_each = [80]\n{content}\n{content}"), &["content"]),
        (&format!("for_each = [80]\nlabels = [null, [1], \"a\"]\n{content}"), &["null", "[1]"]),
        (&format!("for_each = [80]\nlabels = rule.key\n{content}"), &["rule.key"]),
        (&format!("for_each = [80]\nlabels = [rule.key, rule.value]\n{content}"), &[]),
        ("anything = 1", &[]),
    ] {
        assert_eq!(found_in("a.hcl", &dynamic(inner), None), wanted, "{inner}");
        assert_eq!(found_in("a.hcl", &format!("b {{\n{}}}\n", dynamic(inner)), None), wanted, "{inner}");
    }
    assert_eq!(found_in("a.tf", &dynamic("anything = 1"), None), ["", "anything"]);
    for (inner, count) in [
        (r#""for_each": [80], "content": {"a": "${rule.value}"}"#, 0),
        (r#""foreach": [80], "content": {}"#, 2),
        (r#""for_each": [80], "labels": [null], "content": {}"#, 1),
        (r#""anything": 1"#, 0),
    ] {
        let text = format!("{{\"dynamic\": {{\"rule\": {{{inner}}}}}}}");
        assert_eq!(found_in("a.hcl.json", &text, None).len(), count, "{inner}");
    }
}

#[test]
fn blocks_of_modules_have_known_content() {
    let text = "
        variable \"a\" {
          typ = string
          validaton {}
          validation {
            condition = true
            extra     = 1
          }
        }
        output \"o\" { valu = 1 }
        locals {
          x {}
        }
        variabel \"b\" {}
        program \"own\" {}
    ";
    assert_eq!(found_in("a.tf", text, None), ["typ", "validaton", "extra", "", "valu", "x", "variabel"]);
    assert_eq!(found_in("a.hcl", text, None), [""; 0]);
    let json = r#"{"variable": {"a": {"typ": "string"}}, "output": {"o": {"value": 1}}, "variabel": {"b": {}}}"#;
    assert_eq!(found_in("a.tf.json", json, None), ["\"typ\"", "\"variabel\""]);
}

#[test]
fn conditions_that_are_never_booleans_are_found() {
    for (template, wanted) in [
        ("${port ? 1 : 2}", &["port"] as &[&str]),
        ("%{ if hosts }x%{ endif }", &["hosts"]),
        ("${jsonencode([for h in hosts : h if port])}", &["port"]),
        ("${jsonencode([for h in hosts : h if h])}", &["h"]),
        ("${on ? 1 : 2}${name ? 1 : 2}${any ? 1 : 2}${any.x ? 1 : 2}", &[]),
        ("${jsonencode([for h in hosts : h if h.name])}", &[]),
        ("${jsonencode([for x in [1] : x if port])}", &["port"]),
    ] {
        assert_eq!(found(template, Some(TYPES)), wanted, "{template}");
    }
}

#[test]
fn variables_of_modules_are_attributes_of_var() {
    let text = "locals {\n  a = var.prt\n  b = var.port + 1\n  c = prt\n  d = var.vpc.no\n}\n";
    assert_eq!(found_in("a.tf", text, Some(TYPES)), [".prt", ".no"]);
    assert_eq!(found_in("a.tofu", text, None), [""; 0]);
    let json = r#"{"locals": {"a": "${var.prt}", "b": "${prt}", "c": "${var.port + 1}"}}"#;
    assert_eq!(found_in("a.tf.json", json, Some(TYPES)), [".prt"]);
}

#[test]
fn strings_of_the_json_syntax_are_templates() {
    let text = r#"{
        "//": "${nope(",
        "port": "${prt}",
        "service": [{"a": {"x": "${uper(name)}", "l": [1, "${port + true}", "plain"]}}, {"b": {"${vpc.no}": null}}],
        "variable": {"v": {"type": "lisst(string)", "default": "${1 +}"}},
        "dynamic": {"host": {"for_each": "${hosts}", "content": {"a": "${host.value.nam}${host.value.name}"}}},
        "function": {"f": {"params": ["p"], "result": "${p}${q}"}},
        "call": "${f(1, 2)} ${f(name)}"
    }"#;
    let wanted = ["prt", "uper", "true", ".no", "\"lisst(string)\"", "}", ".nam", "q", "2"];
    assert_eq!(found_in("a.hcl.json", text, Some(TYPES)), wanted);
    let blocks = r#"[{"dynamic": "${vpc.no}"}, {"dynamic": {"x": [{"for_each": true, "iterator": "y", "content": {"a": "${y.key}${x}"}}]}}]"#;
    assert_eq!(found_in("a.hcl.json", blocks, Some(TYPES)), [".no", "true", "x"]);
}

#[test]
fn what_is_wrong_with_the_syntax_does_not_hide_the_rest() {
    assert_eq!(found_in("a.hcl", "a = uper(1)\nb = [1 2]\nc = lowr(1)\n", None), ["uper", "2", "lowr"]);
    assert_eq!(found_in("a.json", r#"{"a": "${uper(1)}", "b": flase}"#, None), ["uper", "flase"]);
}

#[test]
fn types_are_read_in_the_json_syntax() {
    let limits = Limits::default();
    let native =
        "a = list(string)\nb = object({ x = number })\nc = any\nd = tuple([bool])\nvariable \"e\" { type = string }\n";
    let json = r#"{
        "a": ["list", "string"], "b": "object({ x = optional(number, 1) })", "c": "dynamic", "d": ["tuple", ["bool"]],
        "variable": {"e": {"type": "string", "default": 1}}, "output": {"x": {}}
    }"#;
    let cty = r#"{"a": "list(string)", "b": ["object", {"x": "number"}, ["x"]], "c": "any", "d": "tuple([bool])", "e": "string"}"#;
    let read = |name: &str, text: &str| {
        let types = VariableTypes::read(&Source::new(name, text), &limits).unwrap();
        let space = Space::new();
        let unknowns = types.unknowns(&space.context(&limits)).unwrap();
        format!("{:?}", unknowns.type_in(space.arena()))
    };
    assert_eq!(read("t.hcl", native), read("t.json", json));
    assert_eq!(read("t.hcl", native), read("t.hcl.json", cty));
    let wrong = [
        r#"{"a": "lisst(string)", "b": ["list"], "c": 1}"#,
        r#"{"a": "list(string", "b": ["list", "strin"], "c": null}"#,
        r#"{"a": ["object", {"x": "string", "x": "number"}], "b": ["list"], "c": 1}"#,
        r#"{"a": "string", "a": "string", "variable": {"b": {"type": []}}, "b": ["set", ["list", 1]]}"#,
    ];
    for text in wrong {
        let read = VariableTypes::read(&Source::new("t.json", text), &limits);
        assert_eq!(read.unwrap_err().into_vec().len(), if text.contains("variable") { 4 } else { 3 }, "{text}");
    }
    let deep = format!("{{\"a\": {}\"string\"{}}}", "[\"list\",".repeat(100_000), "]".repeat(100_000));
    assert!(VariableTypes::read(&Source::new("t.json", &*deep), &limits).is_err());
}

#[test]
fn large_configurations_cost_little() {
    let flat = "b {\n  a = on ? vpc.id : name\n}\n".repeat(3_000);
    assert!(found_in("a.hcl", &flat, Some(TYPES)).is_empty());
    let dynamic = "dynamic \"h\" {\n  for_each = hosts\n  content {\n    a = h.value.name\n  }\n}\n".repeat(1_000);
    assert!(found_in("a.hcl", &dynamic, Some(TYPES)).is_empty());
    let nested = format!("{}a = vpc.x\n{}", "b {\n".repeat(100), "}\n".repeat(100));
    assert_eq!(found_in("a.hcl", &nested, Some(TYPES)), [".x"]);
    let deep = format!("{{\"a\": {}\"${{vpc.x}}\"{}}}", "[".repeat(100), "]".repeat(100));
    assert_eq!(found_in("a.hcl.json", &deep, Some(TYPES)), [".x"]);
    let limits = Limits { source_bytes: 10, ..Limits::default() };
    assert!(check_config(&Source::new("a.hcl", "a = 1\nb = 2\n"), &builtins::registry(), None, &limits).is_err());
}
