"""Stamping of Arrow tables: the same outputs as the command, and every kind of table."""

from __future__ import annotations

import decimal
import json
import pickle
import random
from pathlib import Path
from typing import Any

import polars
import pyarrow
import pytest

import dropforge

from .conftest import files, run

ROWS: list[dict[str, Any]] = [
    {"name": "eu-1", "zones": ["a", "b"], "image": {"tag": "v1"}, "env": "prod"},
    {"name": "us-1", "zones": [], "image": {"tag": "long " * 20, "repo": "own"}, "env": "dev"},
    {"name": "ap-1", "zones": ["ü"], "env": "dev"},
]


def command(templates: Path, rows: list[dict[str, Any]], out: Path, *args: str) -> dict[str, str]:
    """Returns the outputs of the command for the same clusters."""
    fleet = out.with_suffix(".ndjson")
    fleet.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("stamp", templates, "--fleet", fleet, "-o", out, "-q", *args)
    assert done.returncode in (0, 4), done.stderr.decode()
    return files(out)


def contents(table: pyarrow.Table) -> dict[str, str]:
    """Returns the outputs of a table, by path."""
    return {row["path"]: row["content"] for row in table.to_pylist() if row["path"] is not None}


def errors(table: pyarrow.Table) -> list[tuple[str | None, str]]:
    """Returns the clusters that failed, and the codes of their errors."""
    return [(row["cluster"], json.loads(row["error"])["code"]) for row in table.to_pylist() if row["error"]]


@pytest.mark.parametrize(
    ("options", "args"),
    [
        ({}, []),
        ({"set": "image.tag=v9"}, ["--set", "image.tag=v9"]),
        ({"set": ["image.repo=x,extra=1", "zones[1]=z"]}, ["--set", "image.repo=x,extra=1", "--set", "zones[1]=z"]),
        ({"merge": "replace"}, ["--merge", "replace"]),
        ({"layout": "{env}/{cluster}-{template}"}, ["--layout", "{env}/{cluster}-{template}"]),
    ],
)
def test_outputs_are_those_of_the_command(
    templates: Path, tmp_path: Path, options: dict[str, Any], args: list[str]
) -> None:
    values = tmp_path / "shared.yaml"
    values.write_text("image: {repo: web, tag: v0}\nzones: [q]\n")
    expected = command(templates, ROWS, tmp_path / "out", "-f", str(values), *args)
    stamp = dropforge.Stamp(templates, values=values, **options)
    table = stamp(pyarrow.Table.from_pylist(ROWS))
    assert contents(table) == expected and len(expected) >= 4
    assert bool(errors(table)) == (options == {"merge": "replace"})
    again = pickle.loads(pickle.dumps(stamp))
    (templates / "app.yaml.tera").unlink()
    values.unlink()
    assert again(pyarrow.Table.from_pylist(ROWS)) == table


def test_documents_get_files_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    (tmp_path / "t/all.yaml.tera").write_text("kind: A\nmetadata: {name: {{ name }}}\n---\nkind: B\nmetadata: {name: b}\n")
    layout = "{cluster}/{kind}-{name}"
    expected = command(tmp_path / "t", ROWS, tmp_path / "out", "--layout", layout)
    table = dropforge.Stamp(tmp_path / "t", layout=layout)(pyarrow.Table.from_pylist(ROWS))
    assert contents(table) == expected and len(expected) == 6


def test_every_table_is_read(templates: Path) -> None:
    stamp = dropforge.Stamp(templates, values={"image": {"repo": "web", "tag": "v0"}, "zones": []})
    table = pyarrow.Table.from_pylist(ROWS)
    expected = contents(stamp(table))
    frame = stamp(polars.DataFrame(ROWS))
    assert isinstance(frame, dropforge.Table) and len(frame) == len(expected)
    assert contents(pyarrow.table(frame)) == expected
    assert polars.DataFrame(frame)["path"].to_list() == list(expected)
    assert contents(stamp(table.to_batches()[0])) == expected
    assert contents(stamp(table.to_batches()[0].to_struct_array())) == expected
    assert contents(stamp(table.to_reader(max_chunksize=1))) == expected
    assert contents(stamp(pyarrow.concat_tables([table.slice(2), table.slice(0, 2)]))) == expected
    assert contents(stamp(table.slice(1, 1))) == {p: c for p, c in expected.items() if p.startswith("us-1/")}
    assert stamp(table.slice(0, 0)).num_rows == 0
    for other in (None, ROWS, {"name": ["a"]}, pyarrow.array([1])):
        with pytest.raises(dropforge.DropforgeError) as caught:
            stamp(other)
        assert caught.value.code == "E0921"


def value(rng: random.Random, depth: int) -> tuple[pyarrow.DataType, Any]:
    """Returns a type and a function that makes values of it."""
    kinds: list[tuple[pyarrow.DataType, Any]] = [
        (rng.choice([pyarrow.int8(), pyarrow.uint8(), pyarrow.int32(), pyarrow.uint64()]), lambda: rng.randrange(100)),
        (pyarrow.int64(), lambda: rng.randrange(-(2**63), 2**63)),
        (pyarrow.float64(), rng.random),
        (pyarrow.bool_(), lambda: rng.random() < 0.5),
        (rng.choice([pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()]), lambda: "é'x\n"[: rng.randrange(5)] * rng.choice([1, 30])),
        (pyarrow.dictionary(pyarrow.int8(), pyarrow.string()), lambda: rng.choice("abc")),
    ]
    if depth == 0:
        return rng.choice(kinds)
    inner = [value(rng, depth - 1) for _ in range(3)]

    def maybe(make: Any) -> Any:
        return None if rng.random() < 0.2 else make()

    item_type, item = inner[0]
    if pyarrow.types.is_dictionary(item_type):
        item_type = pyarrow.string()
    lists = [pyarrow.list_(item_type), pyarrow.large_list(item_type)]
    nested: list[tuple[pyarrow.DataType, Any]] = [
        (rng.choice(lists), lambda: [maybe(item) for _ in range(rng.randrange(4))]),
        (
            pyarrow.struct([(f"f{at}", kind) for at, (kind, _) in enumerate(inner)]),
            lambda: {f"f{at}": maybe(make) for at, (_, make) in enumerate(inner)},
        ),
    ]
    return rng.choice(kinds[:2] + nested * 3)


def without_nulls(data: Any) -> Any:
    """Leaves out the fields that are null, as Arrow's structs have every field."""
    if isinstance(data, dict):
        return {key: without_nulls(each) for key, each in data.items() if each is not None}
    return [without_nulls(each) for each in data] if isinstance(data, list) else data


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_as_their_json(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    (tmp_path / "all.json.tera").write_text("{{ __tera_context | safe }}")
    columns = {f"c{at}": value(rng, 3) for at in range(4)}
    arrays = {name: pyarrow.array([None if rng.random() < 0.2 else make() for _ in range(6)], kind) for name, (kind, make) in columns.items()}
    table = pyarrow.table({"name": [f"n{at}" for at in range(6)], **arrays})
    outputs = dropforge.Stamp(tmp_path / "all.json.tera")(table)
    assert errors(outputs) == []
    found = [json.loads(row["content"]) for row in outputs.to_pylist()]
    assert found == [without_nulls(row) for row in table.to_pylist()]


def test_other_types_are_text_or_errors(tmp_path: Path) -> None:
    (tmp_path / "a.txt.tera").write_text("{{ x }}")
    stamp = dropforge.Stamp(tmp_path / "a.txt.tera")

    def text(array: pyarrow.Array) -> str:
        [row] = stamp(pyarrow.table({"name": ["n"], "x": array})).to_pylist()
        return str(row["content"])

    assert text(pyarrow.array([decimal.Decimal("1.50")])) == "1.50"
    assert text(pyarrow.array([0.1], pyarrow.float32())) == "0.1"
    assert text(pyarrow.array([0], pyarrow.date32())) == "1970-01-01"
    assert text(pyarrow.array([1_500], pyarrow.timestamp("ms"))) == "1970-01-01T00:00:01.5"
    assert text(pyarrow.array([0], pyarrow.timestamp("s", "Europe/Berlin"))) == "1970-01-01T00:00:00Z"
    assert text(pyarrow.array([[("k", "v")]], pyarrow.map_(pyarrow.string(), pyarrow.string()))) == "[object]"
    for array in (pyarrow.array([b"raw"]), pyarrow.array([1], pyarrow.duration("s"))):
        with pytest.raises(dropforge.DropforgeError, match="column `x` has the type"):
            text(array)


def test_a_failing_cluster_has_errors_and_no_outputs(templates: Path) -> None:
    stamp = dropforge.Stamp(templates, values={"image": {"repo": "web", "tag": "v0"}})
    rows = [{"name": "a", "zones": ["z"]}, {"name": "b", "zones": None}, {"name": None, "zones": []}]
    rows += [{"name": name, "zones": []} for name in ("a", "A", "..", "x/y", "", "é")]
    table = stamp(pyarrow.Table.from_pylist(rows))
    assert list(contents(table)) == ["a/app.yaml", "a/zones.txt"]
    unnamed, twice = (None, "E0918"), "E0914"
    assert errors(table) == [
        ("b", "E0201"), unnamed, ("a", twice), ("a", twice), ("A", twice), ("A", twice), ("..", "E0912"), ("x/y", "E0912"), unnamed, ("é", "E0912"),
    ]  # fmt: skip
    assert errors(stamp(pyarrow.table({"x": [1]}))) == [unnamed]


def test_names_come_from_any_column(templates: Path) -> None:
    (templates / "app.yaml.tera").unlink()
    stamp = dropforge.Stamp(templates, values={"name": "shared", "zones": []}, name_key="meta.id")
    rows = [{"cluster": {"name": "c"}, "meta": {"id": 7}}, {"cluster": {"name": None}, "meta": {"id": 8}}]
    assert list(contents(stamp(pyarrow.Table.from_pylist(rows)))) == ["c/zones.txt", "8/zones.txt"]


def test_outputs_are_checked_unless_told_otherwise(tmp_path: Path) -> None:
    (tmp_path / "a.yaml.tera").write_text("a: b: c\n")
    (tmp_path / "b.txt.tera").write_text(" \n")
    table = pyarrow.table({"name": ["n"]})
    assert errors(dropforge.Stamp(tmp_path)(table)) == [("n", "E0906")]
    assert list(contents(dropforge.Stamp(tmp_path, check=False)(table))) == ["n/a.yaml"]
    assert list(contents(dropforge.Stamp(tmp_path, check=False, keep_empty=True)(table))) == ["n/a.yaml", "n/b.txt"]


def test_arguments_are_checked(templates: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.tera").write_text("{{ }}")
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (tmp_path / "none", {}, "E0901"),
        (tmp_path / "bad.tera", {}, "E0001"),
        (templates, {"layout": "{"}, "E0913"),
        (templates, {"layout": "{cluster}/{kind}"}, "E0913"),
        (templates, {"merge": "none"}, "E0921"),
        (templates, {"set": "a[=1"}, "E0802"),
        (templates, {"values": {"a": float("nan")}}, "E0807"),
        (templates, {"values": [{"a": 1}, tmp_path / "none.yaml"]}, "E0901"),
        (templates, {"language": "none"}, "E0921"),
    ]
    for path, options, code in wrong:
        with pytest.raises(dropforge.DropforgeError) as caught:
            dropforge.Stamp(path, **options)
        if code != "E0001":
            assert caught.value.code == code, str(caught.value)
    stamp = dropforge.Stamp(dropforge.compile([templates]))
    assert repr(stamp) == "<dropforge.Stamp of app.yaml.tera, zones.txt.tera>"


def test_invalid_arrays_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt.tera").write_text("{{ x }}")
    stamp = dropforge.Stamp(tmp_path / "a.txt.tera")
    names = pyarrow.array(["n"])
    not_utf8 = pyarrow.StringArray.from_buffers(1, pyarrow.py_buffer(b"\0\0\0\0\2\0\0\0"), pyarrow.py_buffer(b"\xff\xfe"))
    offsets = b"".join(at.to_bytes(4, "little") for at in (0, 9, 2))
    wild = pyarrow.StringArray.from_buffers(2, pyarrow.py_buffer(offsets), pyarrow.py_buffer(b"ab"))
    for names, array in ((names, not_utf8), (pyarrow.array(["n", "m"]), wild)):
        with pytest.raises(dropforge.DropforgeError, match="cannot read the Arrow table"):
            stamp(pyarrow.Table.from_arrays([names, array], ["name", "x"]))
    keys = pyarrow.DictionaryArray.from_arrays(pyarrow.array([7], pyarrow.int8()), ["a"], safe=False)
    assert errors(stamp(pyarrow.table({"name": ["n"], "x": keys}))) == [(None, "E0807")]
