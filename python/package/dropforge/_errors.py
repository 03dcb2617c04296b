"""The exception of all errors."""

from __future__ import annotations


class DropforgeError(Exception):
    """An error in a template, its inputs, or a file. Its text shows the place and the likely fix."""

    def __init__(
        self,
        text: str,
        code: str,
        message: str,
        json: str,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        cluster: str | None = None,
    ) -> None:
        # All of them are arguments of the exception, so that it can be pickled.
        super().__init__(text, code, message, json, file, line, column, cluster)
        self.code = code
        """The stable code, such as `E0201`."""
        self.message = message
        """One sentence without a final period."""
        self.json = json
        """All of it as a JSON object, as the command prints it with `--error-format json`."""
        self.file = file
        """The file of the error, if it has a place."""
        self.line = line
        """The line, from 1."""
        self.column = column
        """The column, from 1."""
        self.cluster = cluster
        """The cluster that was rendered."""
        self._text = text

    def __str__(self) -> str:
        return self._text
