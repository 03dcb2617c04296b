"""The picture of one change: the line of the values, the diff of the outputs, the clusters that change."""

from difflib import unified_diff

from rich.text import Text

import terminal
from terminal import HIGH, WIDE

COLUMNS, MARGIN = 116, 24
# The clusters: so many in a row, so large.
ROW, CELL = 100, 7
STYLE = """\
.cell{fill:var(--edge)}.changed{fill:var(--green)}
"""


def draw(before: list[str], after: list[str], diff: str, clusters: list[str], changed: set[str]) -> str:
    lines = [caption("values.yaml", "one line changes")]
    lines += [signed(line) for line in list(unified_diff(before, after, n=1, lineterm=""))[3:]]
    lines += [Text(""), caption("dropforge stamp --diff", "all clusters with the same change are one group")]
    lines += terminal.lines(diff, COLUMNS)
    few = f"{len(changed):,} of {len(clusters):,} clusters"
    lines += [Text(""), caption("the fleet", f"{few} change, the files of the others stay as they are")]
    content = [terminal.draw(line, MARGIN, MARGIN + (at + 0.8) * HIGH) for at, line in enumerate(lines)]
    top = MARGIN + (len(lines) + 0.3) * HIGH
    step = COLUMNS * WIDE / ROW
    content += [cell(at, name in changed, top, step) for at, name in enumerate(clusters)]
    height = top + -(-len(clusters) // ROW) * step + MARGIN
    title = f"A change of one line in values.yaml, and the {few} that it changes"
    return terminal.page(2 * MARGIN + COLUMNS * WIDE, round(height), title, STYLE, "\n".join(filter(None, content)))


def caption(name: str, meaning: str) -> Text:
    text = Text.from_ansi(f"\x1b[1m{name}\x1b[0m")
    return text.append_text(Text.from_ansi(f"\x1b[2m   {meaning}\x1b[0m"))


def signed(line: str) -> Text:
    code = {"-": 31, "+": 32}.get(line[0])
    return Text.from_ansi(f"  \x1b[{code}m{line}\x1b[0m" if code else f"  {line}")


def cell(at: int, is_changed: bool, top: float, step: float) -> str:
    x, y = MARGIN + at % ROW * step, top + at // ROW * step
    style = "cell changed" if is_changed else "cell"
    return f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{CELL}" height="{CELL}" rx="1"/>'
