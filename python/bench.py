"""Renders beside Jinja2: `python bench.py [CLUSTERS]`.

W1 is one Kubernetes template with includes and macros. W7 is five templates for each cluster of a fleet, with the shared
values below its own. Outputs are compared byte for byte before anything is measured. Renders are measured with inputs
converted before (`Inputs`); converting is measured apart. Each time is that of the best round.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jinja2

import dropforge

WORKLOADS = Path(__file__).parents[1] / "benches/workloads"
OUTPUTS = ["app", "rbac", "cron", "monitor", "conf"]


def truncate(text: str, length: int, end: str) -> str:
    """Returns the first characters of a text, as Tera's filter does."""
    return text if len(text) <= length else text[:length] + end


def quoted(value: Any) -> str:
    """Returns a value as one word of a shell."""
    return "'" + str(value).replace("'", "'\\''") + "'"


def jinja_templates() -> list[jinja2.Template]:
    """Returns the templates of W1 for Jinja2."""
    loader = jinja2.FileSystemLoader(WORKLOADS / "w1/minijinja")
    environment = jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined)
    environment.filters |= {
        "truncate": truncate,
        "shq": quoted,
        "json_encode": lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False),
    }
    return [environment.get_template(f"{name}.j2") for name in OUTPUTS]


def best(work: Callable[[], object], times: int, renders: int = 1, seconds: float = 2.0) -> float:
    """Returns the time of one of the renders of `work` in microseconds: that of the best round of `times` calls."""
    fastest, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(times):
            work()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest / (times * renders) * 1e6


def render_all(templates: Sequence[dropforge.Template | jinja2.Template], fleet: Sequence[Any]) -> None:
    """Renders all templates for each cluster."""
    for inputs in fleet:
        for template in templates:
            template.render(inputs)


def convert_all(fleet: list[dict[str, Any]]) -> None:
    """Converts the values of each cluster."""
    for cluster in fleet:
        dropforge.Inputs(cluster)


def row(title: str, ours: float, converting: float, theirs: float) -> None:
    """Prints a row of the table."""
    whole = ours + converting
    print(f"| {title} | {ours:.2f} | {theirs:.1f} | {theirs / ours:.0f} | {converting:.2f} | {theirs / whole:.0f} |")


def w1(ours: dropforge.Template, theirs: jinja2.Template) -> None:
    """Measures `app` of W1."""
    context = json.loads((WORKLOADS / "w1/context.json").read_text())
    inputs, expected = dropforge.Inputs(context), (WORKLOADS / "w1/expected/app.yaml").read_text()
    for text in (ours.render(inputs), ours.render(context), theirs.render(context)):
        assert text == expected, "the outputs differ"
    fast = best(lambda: ours.render(inputs), 300)
    converting = best(lambda: dropforge.Inputs(context), 300)
    slow = best(lambda: theirs.render(context), 5)
    row("W1 `app`", fast, converting, slow)


def w7(ours: list[dropforge.Template], theirs: list[jinja2.Template], clusters: int) -> None:
    """Measures a fleet. Inputs are converted once for the five templates of a cluster."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, WORKLOADS / "gen_fleet.py", str(clusters), "42", folder], check=True, stdout=subprocess.DEVNULL)
        shared = json.loads(Path(folder, "shared.json").read_text())
        fleet = [shared | json.loads(line) for line in Path(folder, "clusters.ndjson").read_text().splitlines()]
    inputs = [dropforge.Inputs(cluster) for cluster in fleet]
    for cluster, converted in zip(fleet, inputs):
        for fast, slow in zip(ours, theirs):
            assert fast.render(converted) == slow.render(cluster), "the outputs differ"
    renders = clusters * len(OUTPUTS)
    quick = best(lambda: render_all(ours, inputs), 1, renders)
    converting = best(lambda: convert_all(fleet), 1, renders)
    long = best(lambda: render_all(theirs, fleet), 1, renders)
    row(f"W7, {clusters} clusters", quick, converting, long)


def main() -> None:
    """Prints the table."""
    engine = dropforge.Engine(WORKLOADS / "w1/tera1")
    ours, theirs = [engine.load(f"{name}.tera") for name in OUTPUTS], jinja_templates()
    print("| workload | dropforge, µs a render | jinja2, µs | ratio | converting, µs | ratio with it |")
    print("|---|---|---|---|---|---|")
    w1(ours[0], theirs[0])
    w7(ours, theirs, int(sys.argv[1]) if len(sys.argv) > 1 else 100)


if __name__ == "__main__":
    main()
