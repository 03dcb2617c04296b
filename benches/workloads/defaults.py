#!/usr/bin/env python3
"""Counts what the defaults of `stamp` cost, in instructions under callgrind.

    defaults.py DROPFORGE [--write] [WORKLOAD…]

DROPFORGE is a release build. Rows are ratios to one stream that is neither checked nor sorted. With `--write`, the table of
`docs/speed.md` is replaced.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
PAGE = os.path.join(ROOT, "docs", "speed.md")
MARKS = ("<!-- defaults -->\n", "<!-- /defaults -->")
EXAMPLE = os.path.join(ROOT, "examples", "fleet")
CLUSTERS = 300

# The rows of the table: their options beside those that all have, and the row that they are compared with.
PLAIN = ["--no-check-output", "--merge", "replace", "--order", "none", "--quiet"]
ROWS = {
    "one stream, neither checked nor sorted": (PLAIN, 0),
    "values merged deep": ([*PLAIN[:1], "--order", "none", "--quiet"], 0),
    "warnings about values that no template reads": (PLAIN[:-1], 0),
    "documents in the order of installation": ([*PLAIN[:3], "--quiet"], 0),
    "outputs checked": (PLAIN[1:], 0),
    "outputs checked and sorted": (["--merge", "replace", "--quiet"], 0),
    "new files, not checked": ([*PLAIN[:3], "--quiet", "-o", "OUT"], 0),
    "the same files again": ([*PLAIN[:3], "--quiet", "-o", "OUT"], 6),
    "the fleet as a list of JSON": ([*PLAIN, "FLEET.json"], 0),
    "the fleet as a list of YAML": ([*PLAIN, "FLEET.yaml"], 0),
}


def generated(script, *arguments):
    """Runs a generator of a fleet. Returns the arguments of `stamp` for it."""
    folder = arguments[-1]
    os.makedirs(folder, exist_ok=True)
    subprocess.run([sys.executable, os.path.join(HERE, script), *arguments], check=True)
    return ["--fleet", os.path.join(folder, "clusters.ndjson"), "-f", os.path.join(folder, "shared.json")]


def family(name, folder):
    return [os.path.join(HERE, "families", name, "tera1"), *generated("families/generate.py", name, str(CLUSTERS), folder)]


WORKLOADS = {
    "example": lambda _: [
        os.path.join(EXAMPLE, "templates"), "--fleet", os.path.join(EXAMPLE, "clusters.ndjson"),
        "-f", os.path.join(EXAMPLE, "values.yaml"),
    ],
    "w7": lambda folder: [os.path.join(HERE, "w1", "tera1"), *generated("gen_fleet.py", str(CLUSTERS), "42", folder)],
    "tenants": lambda folder: family("tenants", folder),
    "config": lambda folder: family("config", folder),
}


# Words that are no text in YAML 1.1.
WORDS = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")


def scalar(value):
    """Returns a scalar of JSON in YAML, without quotes where people write none."""
    is_plain = isinstance(value, str) and re.fullmatch(r"[A-Za-z][\w./-]*", value) and value.lower() not in WORDS
    return value if is_plain else json.dumps(value, ensure_ascii=False)


def block(value, indent=""):
    """Returns a value of JSON as a block of YAML, after a colon or a dash."""
    if not isinstance(value, (dict, list)) or not value:
        return f" {scalar(value)}\n"
    if isinstance(value, dict):
        return "\n" + "".join(f"{indent}{scalar(key)}:{block(item, indent + '  ')}" for key, item in value.items())
    return "\n" + "".join(f"{indent}- {block(item, indent + '  ').lstrip()}" for item in value)


def as_list(inputs, path):
    """Writes the fleet as a list to a file with the extension of its format. Returns the arguments with it."""
    at = inputs.index("--fleet") + 1
    with open(inputs[at], encoding="utf-8") as file:
        clusters = [json.loads(line) for line in file]
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(clusters, indent=2, ensure_ascii=False) if path.endswith(".json") else block(clusters))
    return [*inputs[:at], path, *inputs[at + 1:]]


def count(dropforge, arguments):
    """Returns the instructions of a run."""
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command = [*tool, dropforge, "-j1", "stamp", *arguments, "--no-cache", "--no-specialise"]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"{command}: {done.stderr}")
    return int(found[1])


def counts(dropforge, workload):
    """Returns the instructions of all rows for a workload."""
    with tempfile.TemporaryDirectory() as scratch:
        inputs = WORKLOADS[workload](os.path.join(scratch, "in"))
        out = os.path.join(scratch, "out")
        rows = []
        for name, (options, _) in ROWS.items():
            to = [] if "-o" in options else ["--layout", "single"]
            of_list = [option for option in options if option.startswith("FLEET.")]
            fleet = as_list(inputs, os.path.join(scratch, of_list[0])) if of_list else inputs
            others = [out if option == "OUT" else option for option in options if option not in of_list]
            rows.append(count(dropforge, [*fleet, *to, *others]))
            print(workload, name, rows[-1], flush=True)
        return rows


def table(found):
    """Returns the table of the counts by workload."""
    lines = ["| |" + "".join(f" {workload} |" for workload in found), "|---|" + "--:|" * len(found)]
    for at, (name, (_, base)) in enumerate(ROWS.items()):
        cells = [f"{rows[0] / 1e6:.0f} M" if at == 0 else f"{rows[at] / rows[base]:.2f} ×" for rows in found.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main(dropforge, *arguments):
    chosen = [argument for argument in arguments if argument != "--write"] or list(WORKLOADS)
    made = table({workload: counts(dropforge, workload) for workload in chosen})
    print(made)
    if "--write" in arguments:
        with open(PAGE, encoding="utf-8") as file:
            before, rest = file.read().split(MARKS[0])
        after = rest.split(MARKS[1])[1]
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(before + MARKS[0] + made + MARKS[1] + after)


main(*sys.argv[1:])
