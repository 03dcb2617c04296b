import os
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, final

_Path = str | os.PathLike[str]

class _Limits(TypedDict, total=False):
    time: float
    fuel: int
    cost: int
    memory: int
    source_bytes: int
    output_bytes: int
    nesting: int
    value_depth: int
    call_depth: int
    templates: int

@final
class Engine:
    """Compiles templates and opens artifacts.

    `root` is the folder of `load` and of included templates. `limits` bounds every render: seconds (`time`), steps
    (`fuel`), bytes (`memory`, `output_bytes`, `source_bytes`) and depths.
    """

    def __new__(cls, root: _Path | None = None, *, limits: _Limits | None = None) -> Engine: ...
    def compile(self, source: str, name: str = "template.tera", *, language: str | None = None) -> Template:
        """Compiles a text. Its name tells the language: `app.yaml.tera`."""
    def load(self, name: str, *, language: str | None = None) -> Template:
        """Compiles a file below the root."""
    def open(self, artifact: bytes | _Path) -> Artifact:
        """Opens an artifact: its bytes, or its file."""

@final
class Artifact:
    """Compiled templates. `bytes(artifact)` is what `dropforge compile` writes."""

    @property
    def names(self) -> list[str]: ...
    @property
    def outputs(self) -> list[str]:
        """The names of the templates that make an output: those that no other refers to."""
    def template(self, name: str) -> Template: ...
    def __bytes__(self) -> bytes: ...

@final
class Template:
    """A compiled template. Any number of threads may render it at once."""

    @property
    def name(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def inputs(self) -> list[str]:
        """The top-level inputs that it may read, sorted."""
    def render(self, inputs: Mapping[str, Any] | Inputs) -> str:
        """Renders. A mapping is converted each time, `Inputs` only once."""

@final
class Inputs:
    """Inputs that are converted once, for any number of renders and threads. Later changes of the mapping have no effect."""

    def __new__(cls, mapping: Mapping[str, Any]) -> Inputs: ...
    def __len__(self) -> int: ...

@final
class Table:
    """Outputs of clusters: `cluster`, `path`, `content` and `error`. `pyarrow.table(table)` copies nothing."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...

@final
class Stamper:
    def __new__(
        cls,
        artifacts: list[bytes],
        outputs: list[str],
        *,
        values: list[str],
        sets: list[str],
        layout: str,
        merge: str,
        name_key: str | None,
        check: bool,
        keep_empty: bool,
    ) -> Stamper: ...
    def stamp(self, batch: object) -> Table: ...

def compile(paths: Iterable[_Path], *, root: _Path | None = None, language: str | None = None) -> Artifact:
    """Compiles template files and folders into one artifact."""

def values(source: _Path | Mapping[str, Any]) -> str: ...
def is_artifact(path: _Path) -> bool: ...
def main(args: list[str]) -> int: ...
