"""The plain installation has the embedded engine and the command, without any of the extras."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXTRAS = ("pandas", "polars", "pyspark", "py4j", "matplotlib", "hypothesis", "psutil", "google.protobuf")

PROGRAM = f"""
import sys
class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name in {EXTRAS!r}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)
sys.meta_path.insert(0, NotInstalled())
import pyarrow as pa
import ostinato as ost
import ostinato.cli.main
table = pa.table({{"ts": [1, 2, 3], "price": [3.0, 2.0, 4.0]}})
clause = "ORDER BY ts MEASURES B.price AS low PATTERN (A B C) DEFINE B AS price < A.price, C AS price > B.price"
text = "SELECT low FROM t MATCH_RECOGNIZE (" + clause + ")"
assert ost.sql(text, t=table).to_arrow().to_pylist() == [{{"low": 2.0}}]
assert len(ost.match("PATTERN SEQ(T a, T b) WHERE b.price > a.price", t=table)) == 2
print("done")
"""


def test_the_embedded_engine_needs_no_extra():
    finished = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT / "src", capture_output=True, text=True, check=False)
    assert finished.stdout.strip() == "done", finished.stderr


def test_pinned_versions_cover_every_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    names = {"".join(c for c in one.split(",")[0] if c.isalnum() or c in "-_").rstrip("0123456789") for one in wanted}
    pinned = {line.split("==")[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line}
    assert {name.lower() for name in names} - pinned == set()
