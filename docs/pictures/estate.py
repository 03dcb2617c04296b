"""The picture of a platform: a line of the values of an environment, the diff, the releases of all clusters."""

from difflib import unified_diff

from rich.text import Text

import terminal
from change import caption, signed
from terminal import HIGH, WIDE

COLUMNS, MARGIN = 100, 24
# The block of a cluster: so many in a row, so high; and the box of a release.
ROW, BLOCK, BOX, GAP = 4, 50, 17, 6
STYLE = """\
.box{fill:none;stroke:var(--edge)}.changed{fill:var(--green);stroke:var(--green)}.in{fill:var(--page)}
"""


def draw(path: str, before: list[str], after: list[str], diff: str, clusters: dict[str, dict[str, bool]]) -> str:
    """`clusters` has for each cluster its releases, with `True` for those that change."""
    lines = [caption(path, "one line of an environment changes")]
    lines += [signed(line) for line in list(unified_diff(before, after, n=1, lineterm=""))[3:]]
    lines += [Text(""), caption("dropforge stamp --diff", "layers, charts and own templates in one run")]
    lines += terminal.lines(diff, COLUMNS)
    count = sum(len(releases) for releases in clusters.values())
    changed = sum(is_changed for releases in clusters.values() for is_changed in releases.values())
    few = f"{changed} of {count} releases change"
    lines += [Text(""), caption("the platform", f"{len(clusters)} clusters, {few}")]
    content = [terminal.draw(line, MARGIN, MARGIN + (at + 0.8) * HIGH) for at, line in enumerate(lines)]
    top = MARGIN + (len(lines) + 0.5) * HIGH
    for at, (name, releases) in enumerate(clusters.items()):
        step = COLUMNS * WIDE / ROW
        content += block(name, releases, MARGIN + at % ROW * step, top + at // ROW * BLOCK)
    height = top + -(-len(clusters) // ROW) * BLOCK + MARGIN / 2
    title = f"A change of one line in {path}: {few}"
    return terminal.page(2 * MARGIN + COLUMNS * WIDE, round(height), title, STYLE, "\n".join(filter(None, content)))


def block(name: str, releases: dict[str, bool], x: float, y: float) -> list[str]:
    """A cluster: its name above a box for each release, with the first letters of its name."""
    dim = "\x1b[2m"
    drawn = [terminal.draw(Text.from_ansi(f"{dim}{name}\x1b[0m"), x, y + 0.7 * HIGH)]
    for release, is_changed in releases.items():
        shown = release[:4]
        wide = len(shown) * WIDE + 6
        style = "box changed" if is_changed else "box"
        drawn.append(f'<rect class="{style}" x="{x:.1f}" y="{y + HIGH:.1f}" width="{wide:.1f}" height="{BOX}" rx="3"/>')
        inner = "in" if is_changed else "dim"
        drawn.append(
            f'<text y="{y + HIGH + 0.72 * BOX:.1f}"><tspan class="{inner}" x="{x + 3:.1f}" '
            f'textLength="{len(shown) * WIDE:.1f}">{shown}</tspan></text>'
        )
        x += wide + GAP
    return drawn
