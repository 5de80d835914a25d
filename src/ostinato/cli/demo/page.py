"""A small page beside the picture: the queries, what they found, and that both ways agree."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pyarrow as pa

from ostinato.cli.terminal import readable

SHOWN = 8
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1d2330; }
pre { background: #f4f5f7; padding: .8rem 1rem; overflow-x: auto; font-size: 13px; }
table { border-collapse: collapse; font-size: 13px; } th, td { padding: .2rem .7rem; border-bottom: 1px solid #dde; text-align: right; }
img { max-width: 100%; } .wide { overflow-x: auto; }
"""


def write_page(path: Path, picture: str, sections: list[tuple[str, str, str, pa.Table, bool]], ticks: int) -> None:
    """Sections are (title, explanation, query text, matches, live and archived agree)."""
    body = "\n".join(_section(*section) for section in sections)
    path.write_text(
        "<!doctype html>\n"
        f"<html lang='en'><head><meta charset='utf-8'><title>Ostinato: the demonstration</title><style>{STYLE}</style></head><body>\n"
        f"<h1>Ostinato: {ticks:,} ticks, live and archived</h1>\n"
        f"<p><img src='{escape(picture)}' alt='A few matches drawn on the price line'></p>\n{body}\n</body></html>\n",
        encoding="utf-8",
    )


def _section(title: str, explanation: str, text: str, matches: pa.Table, agree: bool) -> str:
    verdict = "The stream and the archive gave the same matches." if agree else "The stream and the archive gave different matches!"
    head = "".join(f"<th>{escape(name)}</th>" for name in matches.column_names)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(readable(value))}</td>" for value in row.values()) + "</tr>"
        for row in matches.slice(0, SHOWN).to_pylist()
    )
    return (
        f"<h2>{escape(title)}</h2><p>{escape(explanation.capitalize())}. {matches.num_rows:,} matches. {verdict}</p>"
        f"<pre>{escape(text)}</pre><div class='wide'><table><tr>{head}</tr>{rows}</table></div>"
    )
