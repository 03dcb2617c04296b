#!/usr/bin/env python3
"""Measures charts beside `helm template`, whole process against whole process.

    charts.py DROPFORGE HELM [--write] CHART...

CHART is the folder of a chart that renders with its default values to the same text each time. Both tools render it, dropforge also
from its compile cache and from an artifact. Then one `stamp` on one thread makes 1,000 releases that differ in a tag, a number of
replicas and an annotation, as far as the chart has them, with one name for all and with the names of their clusters; `helm template`
makes a sample of them. All texts have to be the same before anything is timed. Runs are interleaved, the files are warm, and the
least CPU time (user and system) of a command counts. `--write` puts the table into docs/speed.md.
"""

import json
import math
import os
import pathlib
import sys
import tempfile

from estate import run

CLUSTERS = 1000
ROUNDS = 9
# Clusters that Helm renders, and rounds of a fleet.
SAMPLE, FLEETS = 20, 3
# Values in which clusters differ: a kind, the names of its keys, and the value for a cluster.
OWN = [
    (str, ["tag"], lambda n: f"1.2.{n}"),
    (int, ["replicaCount", "replicas"], lambda n: n % 5 + 1),
    (dict, ["podAnnotations", "podLabels", "annotations", "labels"], lambda n: {"cluster": f"c{n}"}),
]
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "speed.md"
BEGIN, END = "<!-- charts -->\n", "<!-- /charts -->\n"


def path_of(values, kind, names):
    """Returns the path of the first value of a kind under one of these names, the shallowest."""
    open_ = [((), values)]
    for path, value in open_:
        for name in names:
            if isinstance(value.get(name), kind) and not isinstance(value[name], bool):
                return (*path, name)
        open_ += [((*path, key), inner) for key, inner in value.items() if isinstance(inner, dict)]
    return None


def cluster(paths, n):
    """Returns a cluster with its own values."""
    found = {"name": f"c{n}"}
    for path, of in paths:
        inner = found
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = of(n)
    return found


def check(what, *texts):
    """Ends the script if texts differ."""
    if any(text != texts[0] for text in texts):
        sys.exit(f"{what}: the texts differ")


def least(commands, folder, rounds):
    """Returns the least CPU seconds of each command, run in turn."""
    return [min(times) for times in zip(*([run(command, folder)[0] for command in commands] for _ in range(rounds)))]


def single(dropforge, helm, chart, folder):
    """Returns the CPU seconds of one render: of Helm, from files, with the compile cache, from an artifact."""
    theirs, cache = [helm, "template", "rel", chart], ["--cache-dir", "cache"]
    run([dropforge, "compile", chart, "-o", "chart.mpk"], folder)
    ours = [[dropforge, "render", source, "--name", "rel", "-q", *more]
            for source, more in [(chart, ["--no-cache"]), (chart, cache), ("chart.mpk", ["--no-cache"])]]
    commands = [theirs, *ours]
    check(chart, run(theirs, folder)[1], *(run(command, folder)[1] for command in commands))
    return least(commands, folder, ROUNDS)


def fleet(dropforge, helm, chart, folder, clusters, name):
    """Returns the CPU seconds for a release of Helm, and for one of a fleet. Without a name, releases have those of their clusters."""
    stamp = [dropforge, "-j1", "stamp", chart, "--fleet", "clusters.ndjson", "-q", "--layout", "single", "--no-cache", *(["--name", name] if name else [])]
    theirs = []
    for n in range(0, CLUSTERS, CLUSTERS // SAMPLE):
        own = f"own{n}.json"
        with open(os.path.join(folder, own), "w", encoding="utf-8") as file:
            json.dump({key: value for key, value in clusters[n].items() if key != "name"}, file)
        theirs.append([helm, "template", name or f"c{n}", chart, "-f", own])
        check(f"{chart} for c{n}", run(theirs[-1], folder)[1], run([*stamp, "-l", f"name=c{n}"], folder)[1])
    *helms, ours = least([*theirs, stamp], folder, FLEETS)
    return sum(helms) / SAMPLE, ours / CLUSTERS


def measure(dropforge, helm, chart):
    """Returns the cells of a chart: CPU seconds, each with the ratio to Helm."""
    with tempfile.TemporaryDirectory() as folder:
        values = os.path.join(chart, "values.yaml")
        values = json.loads(run([dropforge, "values", "-f", values, "--output-format", "json"], folder)[1])
        paths = [(path, of) for kind, names, of in OWN if (path := path_of(values, kind, names))]
        clusters = [cluster(paths, n) for n in range(CLUSTERS)]
        with open(os.path.join(folder, "clusters.ndjson"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(one) + "\n" for one in clusters)
        theirs, *ours = single(dropforge, helm, chart, folder)
        cells = [(theirs, None), *((time, theirs / time) for time in ours)]
        for name in ["rel", None]:
            theirs, ours = fleet(dropforge, helm, chart, folder, clusters, name)
            cells.append((ours, theirs / ours))
        return cells


def shown(time, ratio):
    """Formats a cell."""
    text = f"{time * 1e3:.0f} ms" if time >= 0.1 else f"{time * 1e3:.1f} ms" if time >= 1e-3 else f"{time * 1e6:.0f} µs"
    return text if ratio is None else f"{text} ({ratio:.0f} ×)"


def table(rows):
    """Returns the table of the page."""
    heads = ["chart", "`helm template`", "`render`", "from the cache", "from an artifact", "of 1,000, one name", "of 1,000, own names"]
    lines = [heads, ["---", *["--:"] * 6], *([name, *(shown(*cell) for cell in cells)] for name, cells in rows)]
    means = [math.prod(cells[at][1] for _, cells in rows) ** (1 / len(rows)) for at in range(1, 6)]
    lines.append(["geometric mean", "", *(f"{mean:.0f} ×" for mean in means)])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines).replace("| --- |", "|---|")


def main():
    """Measures the charts of the command line."""
    write, (dropforge, helm, *charts) = "--write" in sys.argv, [os.path.abspath(one) for one in sys.argv[1:] if one != "--write"]
    rows = []
    for chart in charts:
        rows.append((os.path.basename(chart), measure(dropforge, helm, chart)))
        print(rows[-1][0], *(shown(*cell) for cell in rows[-1][1]), sep="\t", flush=True)
    text = table(rows)
    print(text)
    if write:
        page = PAGE.read_text(encoding="utf-8")
        (before, rest), version = page.split(BEGIN, 1), run([helm, "version", "--template", "{{.Version}}"], ".")[1]
        PAGE.write_text(f"{before}{BEGIN}\nHelm {version}:\n\n{text}\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")


main()
