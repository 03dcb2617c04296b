"""Compiling, rendering, artifacts, limits."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import dropforge

from .conftest import run


def test_languages_come_from_the_name_or_the_argument() -> None:
    engine = dropforge.Engine()
    assert engine.compile("{{ a }}", "x.tera").language == "tera"
    assert engine.compile("${a}", "x", language="hcl").render({"a": "1"}) == "1"
    assert engine.compile("{'n': n + 1}", "x.cel").render({"n": 1}) == '{"n":2}\n'
    with pytest.raises(dropforge.DropforgeError) as caught:
        engine.compile("", "x", language="teraa")
    assert (caught.value.code, "did you mean `tera`?" in str(caught.value)) == ("E0921", True)
    with pytest.raises(dropforge.DropforgeError, match="language"):
        engine.compile("", "x")


def test_templates_know_what_they_are() -> None:
    template = dropforge.Engine().compile("{{ b.c }}{{ a }}", "x.tera")
    assert (template.name, template.inputs) == ("x.tera", ["a", "b"])
    assert repr(template) == '<dropforge.Template "x.tera" in tera>'


def test_includes_are_below_the_root(templates: Path) -> None:
    engine = dropforge.Engine(templates)
    assert engine.load("zones.txt.tera").render({"name": "a", "zones": [1]}) == "# a\n1\n"
    with pytest.raises(dropforge.DropforgeError) as caught:
        engine.compile("{% include '../x.tera' %}", "x.tera")
    assert caught.value.file == "x.tera"
    with pytest.raises(dropforge.DropforgeError, match="E0901"):
        dropforge.Engine(templates / "none")


def test_an_artifact_is_what_the_command_writes(templates: Path, tmp_path: Path) -> None:
    artifact = dropforge.compile([templates])
    assert artifact.names == ["_head.tera", "app.yaml.tera", "zones.txt.tera"]
    assert artifact.outputs == ["app.yaml.tera", "zones.txt.tera"]
    path = tmp_path / "all.mpk"
    assert run("compile", templates, "-o", path).returncode == 0
    assert path.read_bytes() == bytes(artifact)
    opened = dropforge.Engine().open(path)
    assert opened.template("zones.txt.tera").render({"name": "a", "zones": []}) == "# a\n"
    with pytest.raises(dropforge.DropforgeError, match="zones.txt.tera"):
        opened.template("zones.tera")


@pytest.mark.parametrize("cut", [0, 1, 40, 200, -1])
def test_bad_artifacts_are_errors(templates: Path, cut: int) -> None:
    data = bytes(dropforge.compile([templates]))
    with pytest.raises(dropforge.DropforgeError) as caught:
        dropforge.Engine().open(data[:cut])
    assert caught.value.code.startswith("E093")


def test_limits_bound_a_render() -> None:
    source = "{% for a in range(end=1000000) %}{% for b in range(end=1000000) %}{% endfor %}{% endfor %}"
    engines = [(dropforge.Engine(limits={"time": 0.05}), "limit.time"), (dropforge.Engine(limits={"fuel": 1000}), "limit.fuel")]
    for engine, code in engines:
        template = engine.compile(source, "x.tera")
        with pytest.raises(dropforge.DropforgeError) as caught:
            template.render({})
        assert f'"name":"{code}"' in caught.value.json
    with pytest.raises(dropforge.DropforgeError, match="no limit `speed`"):
        dropforge.Engine(limits={"speed": 1})  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        dropforge.Engine(limits={"fuel": -1})


def test_errors_have_code_place_and_json() -> None:
    with pytest.raises(dropforge.DropforgeError) as caught:
        dropforge.Engine().compile("a\n{{ b | nope }}\n{{ c | nope2 }}", "x.tera")
    error = caught.value
    assert (error.code, error.file, error.line, error.column, error.cluster) == (error.code, "x.tera", 2, 8, None)
    assert "nope2" in str(error) and '"also":[{' in error.json
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.json, again.line) == (str(error), error.json, 2)


def test_the_docstring_of_the_package_runs() -> None:
    code = "import doctest, dropforge; assert doctest.testmod(dropforge).attempted == 3 and not doctest.testmod(dropforge).failed"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
