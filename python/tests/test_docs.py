"""Every Python block of the documentation runs, in order."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path

import pytest

from .conftest import ROOT


def test_blocks_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/python.md").read_text(), re.DOTALL)
    assert len(blocks) >= 7
    scope: dict[str, object] = {}
    for block in blocks:
        needed = re.findall(r"^(?:import|from) (ray|pyspark)\b", block, re.MULTILINE)
        if all(importlib.util.find_spec(name) for name in needed):
            exec(compile(block, "docs/python.md", "exec"), scope)
        else:
            # The environment of the tests with Ray must not skip its block.
            assert needed == ["pyspark"] or not os.environ.get("DROPFORGE_RAY")
    if ray := sys.modules.get("ray"):
        # Other tests start a cluster of their own.
        ray.shutdown()
