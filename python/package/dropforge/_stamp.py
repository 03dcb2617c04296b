"""Stamping of Arrow tables."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _native

Path = str | os.PathLike[str]
Values = Path | Mapping[str, Any]


class Stamp:
    """Renders templates for every row of a table. Each row is a cluster, and its columns are the cluster's values.

    The templates are compiled once. A pickled stamp holds the compiled templates and all values, so other processes
    compile nothing and read no files.

    `templates`: files, folders and artifacts, or an `Artifact`.
    `values`: values that all clusters share: mappings and files, merged in order.
    `set`: assignments over all other values, as `--set` has them: `"image.tag=v2"`.
    `layout`: the pattern of paths.
    `merge`: `"deep"`, or `"replace"` if a column replaces the whole shared value.
    `name_key`: the dotted path of a cluster's name, for rows without `name` and `cluster.name`.
    `root`: the folder that includes are relative to. The default is the common parent of the templates.
    `language`: the language of all templates, whatever their names.
    `check`: fail clusters whose YAML or JSON is not valid.
    `keep_empty`: give outputs of nothing but white space, too.
    """

    def __init__(
        self,
        templates: Path | _native.Artifact | Iterable[Path],
        *,
        values: Values | Iterable[Values] = (),
        set: str | Iterable[str] = (),
        layout: str = "{cluster}/{template}",
        merge: str = "deep",
        name_key: str | None = None,
        root: Path | None = None,
        language: str | None = None,
        check: bool = True,
        keep_empty: bool = False,
    ) -> None:
        artifacts, outputs = _compiled(templates, root, language)
        shared = [values] if isinstance(values, (str, os.PathLike, Mapping)) else values
        options = {
            "values": [_native.values(each) for each in shared],
            "sets": [set] if isinstance(set, str) else list(set),
            "layout": layout,
            "merge": merge,
            "name_key": name_key,
            "check": check,
            "keep_empty": keep_empty,
        }
        self.__setstate__((artifacts, outputs, options))

    def __getstate__(self) -> tuple[list[bytes], list[str], dict[str, Any]]:
        return self._state

    def __setstate__(self, state: tuple[list[bytes], list[str], dict[str, Any]]) -> None:
        self._state = state
        artifacts, outputs, options = state
        self._stamper = _native.Stamper(artifacts, outputs, **options)

    def __call__(self, batch: Any) -> Any:
        """Returns the outputs of a table: `cluster`, `path`, `content` and `error`.

        A table or batch of pyarrow gives a `pyarrow.Table`, any other a `Table`. A cluster that fails has one row for
        each error, with the error as JSON, and no outputs.
        """
        table = self._stamper.stamp(batch)
        if not type(batch).__module__.startswith("pyarrow"):
            return table
        import pyarrow

        return pyarrow.table(table)

    def __repr__(self) -> str:
        return f"<dropforge.Stamp of {', '.join(self._state[1])}>"


def _compiled(
    templates: Path | _native.Artifact | Iterable[Path], root: Path | None, language: str | None
) -> tuple[list[bytes], list[str]]:
    """Returns the artifacts of templates, and the names of those that make an output."""
    if isinstance(templates, _native.Artifact):
        return [bytes(templates)], templates.outputs
    paths = [templates] if isinstance(templates, (str, os.PathLike)) else list(templates)
    opened = [_native.Engine().open(path) for path in paths if _is_artifact(path)]
    sources = [path for path in paths if not _is_artifact(path)]
    if sources or not opened:
        opened.append(_native.compile(sources, root=root, language=language))
    return [bytes(each) for each in opened], [name for each in opened for name in each.outputs]


def _is_artifact(path: Path) -> bool:
    return os.path.isfile(path) and _native.is_artifact(path)
