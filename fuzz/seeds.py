#!/usr/bin/env python3
"""Writes seeds for the fuzz targets to fuzz/corpus/TARGET: case files, examples and texts in sources and tests."""

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 4096
FORMATS = "ABCDE"  # each selects another format or option in `documents` and `set`

# The sources of seeds by target: patterns of files, and the prefixes that each seed gets.
TARGETS = {
    "cel": ("spec-tests/cel/* src/lang/cel/**/*.rs proptests/cel_*.rs spec-tests/suite/cel*.rs", [""]),
    "cel_yaml": ("spec-tests/cel-yaml/* src/lang/cel/front/yaml/**/*.rs proptests/cel_templates.rs spec-tests/suite/cel_yaml.rs", [""]),
    "documents": ("src/fleet/**/*.rs src/lang/hcl/front/data_file.rs spec-tests/cli/*.rs examples/fleet/*", FORMATS),
    "hcl_config": ("src/lang/hcl/**/*.rs spec-tests/suite/hcl*.rs spec-tests/suite/hcl/*.rs spec-tests/cli/hcl*.rs", [""]),
    "hcl_expression": ("spec-tests/hcl/**/* src/lang/hcl/**/*.rs proptests/hcl_*.rs spec-tests/suite/hcl/*.rs", [""]),
    "hcl_format": ("src/lang/hcl/**/*.rs spec-tests/suite/hcl*.rs spec-tests/suite/hcl/*.rs spec-tests/cli/hcl*.rs", [""]),
    "hcl_json": ("src/lang/hcl/**/*.rs spec-tests/suite/hcl*.rs spec-tests/suite/hcl/*.rs proptests/hcl_json.rs", [""]),
    "hcl_template": ("spec-tests/hcl/**/* src/lang/hcl/**/*.rs proptests/hcl_syntax.rs", [""]),
    "helm": ("spec-tests/helm/* src/lang/helm/**/*.rs proptests/helm*.rs spec-tests/suite/helm_hostile.rs examples/helm/**/*.yaml examples/helm/**/*.tpl", [""]),
    "helm_chart": ("src/lang/helm/chart/*.rs spec-tests/cli/helm*.rs spec-tests/suite/helm_hostile.rs examples/helm/**/*.yaml", [""]),
    "intent": ("spec-tests/tower/* src/lang/tower/**/*.rs spec-tests/suite/tower.rs spec-tests/cli/intent.rs", [""]),
    "layout": ("src/fleet/*.rs spec-tests/cli/*.rs", [""]),
    "regex": ("src/base/stdlib/**/*.rs src/schema/*.rs src/lang/*/builtins/**/*.rs", [""]),
    "schema": ("src/schema/*.rs src/lang/cel/**/*.rs spec-tests/cel-yaml/schema*", [""]),
    "set": ("src/fleet/values/*.rs spec-tests/cli/values.rs", FORMATS),
    "tera": ("spec-tests/tera/* src/lang/tera/**/*.rs proptests/*.rs spec-tests/suite/hostile.rs examples/**/*.tera", [""]),
    "tower": ("spec-tests/tower/* src/lang/tower/**/*.rs proptests/tower.rs", [""]),
    "yaml": ("src/value/yaml/*.rs spec-tests/cel-yaml/* spec-tests/yaml-readers/* examples/fleet/*", [""]),
}

LITERAL = re.compile(r'r(#*)"(.*?)"\1|b?"((?:[^"\\]|\\.)*)"', re.S)
ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]+)\}|x([0-9a-fA-F]{2})|\n\s*|(.))", re.S)
CONTROL = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


def unescaped(text):
    def character(found):
        code = found[1] or found[2]
        return chr(int(code, 16)) if code else CONTROL.get(found[3], found[3] or "")

    return ESCAPE.sub(character, text)


def literals(text):
    """The string literals of a Rust source."""
    return [found[2] if found[2] is not None else unescaped(found[3] or "") for found in LITERAL.finditer(text)]


def cases(text):
    """The templates and the context of each case of a case file."""
    for case in re.split(r"^=== .*\n", text, flags=re.M)[1:]:
        sections = [part.split("\n", 1) + [""] for part in re.split(r"^--- ", case, flags=re.M)[1:]]
        main = [body[:-1] for heading, body, *_ in sections if heading.split(" ")[0] in ("template", "expression", "intent")][:1]
        named = [f"{heading}\n{body[:-1]}" for heading, body, *_ in sections if heading.startswith(("template ", "context"))]
        yield "\n--- ".join(main + named)


def seeds(path):
    text = path.read_text(errors="ignore")
    if path.suffix == ".rs":
        return literals(text)
    if "\n--- " in text and text.startswith("=== "):
        return list(cases(text))
    return [text, *text.split("\n")[:20]]


def main():
    for target, (patterns, prefixes) in TARGETS.items():
        folder = ROOT / "fuzz/corpus" / target
        folder.mkdir(parents=True, exist_ok=True)
        paths = {path for pattern in patterns.split() for path in ROOT.glob(pattern) if path.is_file()}
        texts = {prefix + text[:LONGEST] for path in paths for text in seeds(path) for prefix in prefixes}
        for text in texts:
            data = text.encode(errors="ignore")
            (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
        print(f"{target}: {len(texts)} seeds")


main()
