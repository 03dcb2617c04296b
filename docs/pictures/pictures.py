"""Runs the command in copies of `examples/fleet` and `examples/estate`, and draws what it prints."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import change
import estate
import session

HERE = Path(__file__).parent
# Run times differ from run to run, so they are left out of the pictures.
TIME = re.compile(r"(?:;| in) [0-9.]+ m?s$", re.MULTILINE)
PROJECT = """\
templates = ["templates/"]
fleet = ["clusters.ndjson"]
values = ["values.yaml"]
[output]
dir = "out"
"""
STAMP = "dropforge stamp"
CHANGE = ["sed", "-i", "/^  edge:/s/memory: 96Mi/memory: 128Mi/", "values.yaml"]
# The line of an environment that changes.
ENVIRONMENT = "values/env/prod.yaml"
REPLICAS = ["sed", "-i", "s/^    replicas: 5$/    replicas: 6/", ENVIRONMENT]
DEPLOYMENT = "templates/deployment.yaml.tera"
# The lines of the session with their exit codes.
SESSION = [
    (STAMP, 0),
    (f"sed -i 's/{{{{ cluster.region /{{{{ cluster.regoin /' {DEPLOYMENT}", 0),
    (STAMP, 4),
    (f"sed -i 's/regoin/region/' {DEPLOYMENT}", 0),
    (STAMP, 0),
    ("dropforge why out/us-lakes-prod-0000/deployment.yaml:62", 0),
    (f"{STAMP} --check && echo up to date", 0),
]


class Project:
    """A copy of an example, in a folder of its own."""

    def __init__(self, folder: Path, command: Path, example: str) -> None:
        self.folder = folder / example
        shutil.copytree(HERE / "../../examples" / example, self.folder)
        if not (self.folder / "dropforge.toml").exists():
            (self.folder / "dropforge.toml").write_text(PROJECT)
        commands = folder / "bin"
        commands.mkdir()
        # The commands of the session print colours although nobody watches.
        script = f'#!/bin/sh\nexec "{command.resolve()}" --color always "$@"\n'
        (commands / "dropforge").write_text(script)
        (commands / "dropforge").chmod(0o755)
        cache = str(folder / "cache")
        path = f"{commands}:/usr/bin:/bin"
        self.env = {"PATH": path, "HOME": str(folder), "DROPFORGE_CACHE": cache, "LC_ALL": "C.UTF-8"}

    def run(self, line: str, code: int) -> str:
        """Runs a line of shell and returns what it prints, without run times."""
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder, env=self.env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )
        if done.returncode != code:
            sys.exit(f"`{line}` ended with {done.returncode}:\n{done.stdout}")
        return TIME.sub("", done.stdout.rstrip("\n"))


def clusters(project: Project) -> list[str]:
    """The names of the fleet's clusters, in order."""
    return [json.loads(line)["name"] for line in (project.folder / "clusters.ndjson").read_text().splitlines()]


def draw_change(project: Project) -> str:
    """Draws one change of the values and the clusters that it changes."""
    values = project.folder / "values.yaml"
    before = values.read_text().splitlines()
    project.run(f"{STAMP} -q", 0)
    subprocess.run(CHANGE, cwd=project.folder, check=True)
    after = values.read_text().splitlines()
    diff = project.run(f"{STAMP} --diff -q", 3)
    groups = project.run(f"{STAMP} --diff --diff-format json -q", 3).splitlines()
    changed = {name for group in groups for name in json.loads(group)["clusters"]}
    return change.draw(before, after, diff, clusters(project), changed)


def draw_estate(project: Project) -> str:
    """Draws a change of one environment and the releases that it changes."""
    values = project.folder / ENVIRONMENT
    before = values.read_text().splitlines()
    project.run(f"{STAMP} -q", 0)
    files = sorted((project.folder / "rendered").glob("[!.]*/*/*"))
    contents = {path: path.read_text() for path in files}
    subprocess.run(REPLICAS, cwd=project.folder, check=True)
    after = values.read_text().splitlines()
    diff = project.run(f"{STAMP} --diff -q", 3)
    project.run(f"{STAMP} -q", 0)
    clusters: dict[str, dict[str, bool]] = {}
    for path in files:
        cluster, release = path.parts[-3:-1]
        releases = clusters.setdefault(cluster, {})
        releases[release] = releases.get(release, False) or path.read_text() != contents[path]
    # The environments are rows.
    rows = sorted(clusters.items(), key=lambda one: one[0].split("-")[1])
    return estate.draw(ENVIRONMENT, before, after, diff, dict(rows))


def draw_session(project: Project) -> str:
    """Draws a session on a terminal."""
    return session.draw([(line, project.run(line, code)) for line, code in SESSION])


def main() -> None:
    command = Path(os.environ["DROPFORGE"])
    stale = []
    pictures = {
        "change.svg": (draw_change, "fleet"),
        "estate.svg": (draw_estate, "estate"),
        "session.svg": (draw_session, "fleet"),
    }
    for name, (draw, example) in pictures.items():
        with tempfile.TemporaryDirectory() as folder:
            text = draw(Project(Path(folder), command, example))
        if "--check" not in sys.argv:
            (HERE / name).write_text(text)
        elif not (HERE / name).exists() or (HERE / name).read_text() != text:
            stale.append(name)
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}; run `docs/pictures/make`")


if __name__ == "__main__":
    main()
