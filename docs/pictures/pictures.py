"""Runs the command in a copy of `examples/fleet` and draws what it prints."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import change
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
    """A copy of the example, in a folder of its own."""

    def __init__(self, folder: Path, command: Path) -> None:
        self.folder = folder / "fleet"
        shutil.copytree(HERE / "../../examples/fleet", self.folder)
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


def draw_session(project: Project) -> str:
    """Draws a session on a terminal."""
    return session.draw([(line, project.run(line, code)) for line, code in SESSION])


def main() -> None:
    command = Path(os.environ["DROPFORGE"])
    stale = []
    for name, draw in {"change.svg": draw_change, "session.svg": draw_session}.items():
        with tempfile.TemporaryDirectory() as folder:
            text = draw(Project(Path(folder), command))
        if "--check" not in sys.argv:
            (HERE / name).write_text(text)
        elif not (HERE / name).exists() or (HERE / name).read_text() != text:
            stale.append(name)
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}; run `docs/pictures/make`")


if __name__ == "__main__":
    main()
