"""Reads documents with the YAML readers of Python and prints the results.

Input: a file of lines `{"format", "text"}`, one per stream of documents. Output: for each line and reader, a line
`[reader, documents]` or `[reader, null, error]`. A document is JSON: strings, null, booleans and lists as they are,
`{"int": digits}`, `{"num": digits}`, `{"map": [[key, value], ...]}`, `{"other": what}`.
"""

import json
import sys

import ruamel.yaml
import yaml


def shown(value):
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return {"int": str(value)}
    if isinstance(value, float):
        return {"num": repr(value)}
    if isinstance(value, list):
        return [shown(item) for item in value]
    if isinstance(value, dict):
        return {"map": [[shown(key), shown(item)] for key, item in value.items()]}
    return {"other": repr(value)}


def core(text):
    return list(ruamel.yaml.YAML(typ="safe", pure=True).load_all(text))


READERS = {
    "yaml": {
        "PyYAML with libyaml": lambda text: list(yaml.load_all(text, yaml.CSafeLoader)),
        "PyYAML": lambda text: list(yaml.load_all(text, yaml.SafeLoader)),
        "ruamel.yaml": core,
    },
    "ndjson": {"Python's json": lambda text: [json.loads(line) for line in text.removesuffix("\n").split("\n")]},
}
READERS["kyaml"] = READERS["yaml"]

for line in open(sys.argv[1], encoding="utf-8"):
    case = json.loads(line)
    for name, read in READERS[case["format"]].items():
        try:
            answer = [name, [shown(document) for document in read(case["text"])]]
        except Exception as error:
            answer = [name, None, f"{type(error).__name__}: {error}"]
        print(json.dumps(answer))
