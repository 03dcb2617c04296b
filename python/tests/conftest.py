"""Files and commands of the tests."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).with_name("dropforge")


def run(*args: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    """Runs the command of the package."""
    return subprocess.run([COMMAND, *args], cwd=cwd, capture_output=True, timeout=120)


def files(folder: Path) -> dict[str, str]:
    """Returns the outputs in a folder, by path."""
    found = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".dropforge"))
    return {path.relative_to(folder).as_posix(): path.read_text() for path in found}


@pytest.fixture
def templates(tmp_path: Path) -> Iterator[Path]:
    """A folder with a few templates."""
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "app.yaml.tera").write_text("name: {{ name }}\nimage: {{ image.repo }}:{{ image.tag }}\n")
    (folder / "zones.txt.tera").write_text("{% include '_head.tera' %}{% for zone in zones %}{{ zone }}\n{% endfor %}")
    (folder / "_head.tera").write_text("# {{ name }}\n")
    yield folder
