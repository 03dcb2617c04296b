"""Conversion of Python objects, sharing between threads, the interpreter's lock."""

from __future__ import annotations

import collections
import datetime
import decimal
import json
import pathlib
import threading
import time
import types
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import numpy
import pytest

import dropforge

SHOW = dropforge.Engine().compile("{{ x | json_encode }}", "x.tera")


@pytest.mark.parametrize(
    "value",
    [
        True, 0, -1, 2**63 - 1, -(2**63), 2**64 - 1, 0.1, 1e300, "", "é\n\"", "long " * 50, [], [1, [2, "a"]], {},
        {"a": {"b": [{"c": "d"}]}, "": 1},
    ],
)  # fmt: skip
def test_values_of_json_are_as_in_json(value: object) -> None:
    for inputs in ({"x": value}, dropforge.Inputs({"x": value})):
        assert json.loads(SHOW.render(inputs)) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ((1, 2), [1, 2]),
        (collections.OrderedDict(a=1), {"a": 1}),
        (types.MappingProxyType({"a": 1}), {"a": 1}),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.datetime(2026, 1, 2, 3, tzinfo=datetime.timezone.utc), "2026-01-02T03:00:00+00:00"),
        (decimal.Decimal("1.50"), "1.50"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (numpy.int32(7), 7),
        (numpy.float64(0.5), 0.5),
        (numpy.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
    ],
)
def test_other_values_are_converted(value: object, expected: object) -> None:
    assert json.loads(SHOW.render({"x": value})) == expected


class Raising(Mapping[str, Any]):
    """A mapping that fails."""

    def __getitem__(self, key: str) -> Any:
        raise KeyError(f"no {key}")

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


class Rendering(Mapping[str, Any]):
    """A mapping that renders a template when it is read."""

    def __getitem__(self, key: str) -> Any:
        return SHOW.render({"x": key})

    def __iter__(self) -> Iterator[str]:
        return iter(["a"])

    def __len__(self) -> int:
        return 1


def test_objects_with_code_of_their_own() -> None:
    assert json.loads(SHOW.render({"x": Rendering()})) == {"a": '"a"'}
    with pytest.raises(KeyError, match="no a"):
        SHOW.render({"x": Raising()})
    assert SHOW.render({"x": 1}) == "1"


def test_unfit_values_are_errors_with_their_path() -> None:
    itself: dict[str, Any] = {}
    itself["x"] = [itself]
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    cases: list[tuple[Any, str, str]] = [
        ({"a": [0, {"b": b"raw"}]}, "E0807", "`a.1.b`: a value of the type bytes"),
        ({"a": {1: 2}}, "E0807", "`a`: a key has the type int"),
        ({"a": 2**64}, "E0807", "`a`: an integer of more than 64 bits"),
        ({"a": {1, 2}}, "E0807", "type set"),
        ({"a": "\ud800"}, "", "surrogates"),
        (itself, "E0602", "nest too deep"),
        ({"x": deep}, "E0602", "nest too deep"),
        ([], "E0921", "inputs must be a mapping, found list"),
        (None, "E0921", "NoneType"),
    ]
    for inputs, code, text in cases:
        for convert in (SHOW.render, dropforge.Inputs):
            with pytest.raises((dropforge.DropforgeError, UnicodeEncodeError)) as caught:
                convert(inputs)
            assert text in str(caught.value) and getattr(caught.value, "code", "") == code
    while isinstance(deep, list):
        deep = deep.pop()


def test_inputs_do_not_follow_their_mapping() -> None:
    mapping = {"x": [1]}
    inputs = dropforge.Inputs(mapping)
    mapping["x"].append(2)
    del mapping["x"]
    assert (SHOW.render(inputs), len(inputs), repr(inputs)) == ("[1]", 1, "<dropforge.Inputs of x>")


def test_threads_share_inputs_and_templates() -> None:
    template = dropforge.Engine().compile("{% for i in x %}{{ i.name }}={{ i.n }};{% endfor %}", "x.tera")
    items = [{"name": f"item-{n}", "n": n} for n in range(200)]
    inputs, expected = dropforge.Inputs({"x": items}), "".join(f"item-{n}={n};" for n in range(200))
    results: list[bool] = []

    def work() -> None:
        results.append(all(template.render(inputs) == expected for _ in range(50)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8


def test_rendering_does_not_hold_the_lock() -> None:
    loop, end = "{% for a in range(end=10000) %}", "{% endfor %}"
    slow = loop * 4 + end * 4
    template = dropforge.Engine(limits={"time": 1.0, "fuel": 2**60}).compile(slow, "x.tera")
    ends: list[float] = []

    def work() -> None:
        with pytest.raises(dropforge.DropforgeError):
            template.render({})
        ends.append(time.monotonic())

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.1)
    steps, last = 0, time.monotonic()
    while thread.is_alive() and steps < 5:
        time.sleep(0.02)
        steps, last = steps + 1, time.monotonic()
    thread.join()
    # Five steps were taken while the other thread was rendering.
    assert steps == 5 and last < ends[0]
