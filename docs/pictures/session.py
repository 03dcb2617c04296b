"""The picture of a session: commands are typed, their outputs appear, the screen scrolls. It begins again at its end."""

from rich.text import Text

import terminal
from terminal import HIGH, WIDE

COLUMNS, ROWS, MARGIN = 112, 22, 16
# Seconds: to type a character, before and after the output of a command, to read a line of it, before the next round.
TYPE, WAIT, PAUSE, READ, END = 0.035, 0.4, 0.9, 0.22, 4
PROMPT = "$ "


class Session:
    """Lines with the times at which they appear."""

    def __init__(self) -> None:
        self.now = 0.6
        self.lines: list[tuple[float, Text]] = []
        # The typed lines: their line, times and length.
        self.typed: list[tuple[int, float, float, int]] = []

    def command(self, line: str, output: str) -> None:
        for at, part in enumerate(terminal.lines(PROMPT + line, COLUMNS)):
            begin, skipped = self.now, 0 if at else len(PROMPT)
            self.now += (len(part) - skipped) * TYPE
            self.typed.append((len(self.lines), begin, self.now, skipped))
            self.lines.append((begin, part))
        self.now += WAIT
        shown = terminal.lines(output, COLUMNS) if output else []
        self.lines += [(self.now, text) for text in shown]
        self.now += PAUSE + READ * len(shown)


def draw(commands: list[tuple[str, str]]) -> str:
    session = Session()
    for line, output in commands:
        session.command(line, output)
    total = session.now + END
    style, content = [static(len(session.lines))], []
    style.append(scroll(session, total))
    for at, (time, text) in enumerate(session.lines):
        drawn = terminal.draw(text, MARGIN, (at + 0.75) * HIGH)
        content.append(f'<g class="l l{at}">{drawn}</g>')
        style.append(appear(at, time, total))
    for at, begin, end, skipped in session.typed:
        length = len(session.lines[at][1].plain)
        content.append(cover(at, skipped))
        style.append(typing(at, begin, end, length - skipped, total))
    width, height = 2 * MARGIN + COLUMNS * WIDE, 2 * MARGIN + ROWS * HIGH
    screen = f'<svg y="{MARGIN}" width="{width:g}" height="{ROWS * HIGH}"><g class="all">\n' + "\n".join(content) + "\n</g></svg>"
    title = "A session: a fleet is stamped, a typo is reported and mended, a line is explained, the outputs are checked"
    return terminal.page(width, height, title, "\n".join(style) + "\n", screen)


def percent(time: float, total: float) -> str:
    return f"{100 * time / total:.3f}%"


def static(count: int) -> str:
    """The last screen, for readers who want no motion."""
    return (
        f".all{{transform:translateY({min(0, ROWS - count) * HIGH}px)}}.cover{{visibility:hidden;fill:var(--page)}}"
        ".cursor{fill:var(--dim)}\n@media(prefers-reduced-motion:reduce){*{animation:none!important}}"
    )


def scroll(session: Session, total: float) -> str:
    """The keyframes of the screen: it moves up when it is full."""
    places = {0.0: 0}
    for count, (time, _) in enumerate(session.lines, 1):
        places[time] = min(0, ROWS - count) * HIGH
    frames = "".join(f"{percent(time, total)}{{transform:translateY({y}px)}}" for time, y in places.items())
    return f"@keyframes all{{{frames}}}.all{{animation:all {total:.2f}s step-end infinite}}"


def appear(at: int, time: float, total: float) -> str:
    frames = f"0%{{visibility:hidden}}{percent(time, total)}{{visibility:visible}}"
    return f"@keyframes l{at}{{{frames}}}.l{at}{{animation:l{at} {total:.2f}s step-end infinite}}"


def cover(at: int, skipped: int) -> str:
    """The cover of a command that is not typed yet, with the cursor at its left."""
    x, y = MARGIN + skipped * WIDE, at * HIGH
    return (
        f'<g class="cover c{at}"><rect x="{x:.1f}" y="{y}" width="{COLUMNS * WIDE:.1f}" height="{HIGH}"/>'
        f'<rect class="cursor" x="{x:.1f}" y="{y + 1}" width="{WIDE}" height="{HIGH - 3}"/></g>'
    )


def typing(at: int, begin: float, end: float, length: int, total: float) -> str:
    """The keyframes of a cover: it moves right by a character at a time, then hides."""
    start = f"visibility:visible;transform:translateX(0);animation-timing-function:steps({length})"
    over = f"visibility:hidden;transform:translateX({length * WIDE:.1f}px)"
    frames = f"0%{{visibility:hidden}}{percent(begin, total)}{{{start}}}{percent(end, total)},100%{{{over}}}"
    return f"@keyframes c{at}{{{frames}}}.c{at}{{animation:c{at} {total:.2f}s step-end infinite}}"
