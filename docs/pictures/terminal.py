"""Text of a terminal as SVG: lines with colours, wrapped at a width, readable on light and dark pages."""

from html import escape

from rich.text import Text

# The size of a character, of the font below.
WIDE, HIGH, SIZE = 7.8, 18, 13

STYLE = f"""\
svg{{--page:#ffffff;--edge:#d0d7de;--text:#1f2328;--dim:#656d76;--red:#c93c37;--green:#1a7f37;--blue:#0969da;--cyan:#1b7c83}}
@media(prefers-color-scheme:dark){{svg{{--page:#0d1117;--edge:#30363d;--text:#e6edf3;--dim:#8b949e;--red:#ff7b72;--green:#7ee787;\
--blue:#79c0ff;--cyan:#76e3ea}}}}
text{{font:{SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--text);white-space:pre}}
.page{{fill:var(--page);stroke:var(--edge)}}
.red{{fill:var(--red)}}.green{{fill:var(--green)}}.blue{{fill:var(--blue)}}.cyan{{fill:var(--cyan)}}.dim{{fill:var(--dim)}}
.bold{{font-weight:600}}
"""
# The colours by their numbers, plain and bright alike.
COLORS = {1: "red", 2: "green", 4: "blue", 6: "cyan"}


def lines(output: str, columns: int) -> list[Text]:
    """The lines of an output with ANSI colours, wrapped as terminals do."""
    result: list[Text] = []
    for line in output.split("\n"):
        text = Text.from_ansi(line)
        result += text.divide(range(columns, len(text), columns)) if len(text) > columns else [text]
    return result


def classes(text: Text, at: int) -> str:
    """The classes of the character at a position."""
    names = set()
    for start, end, style in text.spans:
        if start <= at < end and not isinstance(style, str):
            names |= {"bold"} if style.bold else set()
            names |= {"dim"} if style.dim else set()
            if style.color and style.color.number is not None:
                names.add(COLORS[style.color.number % 8])
    return " ".join(sorted(names))


def draw(text: Text, x: float, y: float) -> str:
    """A line at a place. Each run of one style has its place, so that columns are straight in every font."""
    plain, runs, start = text.plain, [], 0
    for at in range(1, len(plain) + 1):
        if at == len(plain) or classes(text, at) != classes(text, start):
            runs.append(run(plain[start:at], classes(text, start), x + start * WIDE))
            start = at
    return f'<text y="{y:g}">{"".join(runs)}</text>' if plain.strip() else ""


def run(plain: str, names: str, x: float) -> str:
    shown = plain.lstrip(" ")
    if not shown.rstrip():
        return ""
    x += (len(plain) - len(shown)) * WIDE
    shown = shown.rstrip()
    style = f' class="{names}"' if names else ""
    return f'<tspan x="{x:.1f}" textLength="{len(shown) * WIDE:.1f}"{style}>{escape(shown)}</tspan>'


def page(width: float, height: float, title: str, style: str, content: str) -> str:
    """A whole picture."""
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(title)}">\n'
        f"<title>{escape(title)}</title>\n<style>\n{STYLE}{style}</style>\n"
        f'<rect class="page" x=".5" y=".5" width="{width - 1:g}" height="{height - 1:g}" rx="8"/>\n{content}\n</svg>\n'
    )
