"""The command as a person uses it: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from ostinato.cli import main as command_line
from ostinato.kernels._jit import warm_up

DIPS = """
SELECT symbol, bottom FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES LAST(FALL.price) AS bottom
  PATTERN (PEAK FALL+ RISE+)
  DEFINE FALL AS price < PREV(price), RISE AS price > PREV(price))
ORDER BY symbol
"""
RISES = """PATTERN SEQ(Ticks a, Ticks b) WHERE partition_contiguity(a, b) { [symbol] and b.price > a.price }
RETURN a.price AS low, b.price AS high"""
TICKS = pa.table(
    {
        "symbol": ["A", "B", "A", "B", "A", "B"],
        "ts": pa.array(range(6), pa.timestamp("s")),
        "price": [3.0, 5.0, 1.0, 4.0, 2.0, 6.0],
    }
)
DIPS_FOUND = [{"symbol": "A", "bottom": 1.0}, {"symbol": "B", "bottom": 4.0}]


@pytest.fixture(scope="module", autouse=True)
def compiled_kernels():
    """So that no command has to announce that it compiles them."""
    warm_up()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyarrow.parquet.write_table(TICKS, tmp_path / "ticks.parquet")
    pyarrow.csv.write_csv(TICKS, tmp_path / "ticks.csv")
    (tmp_path / "dips.sql").write_text(DIPS)
    (tmp_path / "rises.sase").write_text(RISES)
    return tmp_path


def ostinato(*arguments) -> int:
    with pytest.raises(SystemExit) as ended:
        command_line.app(args=[str(argument) for argument in arguments])
    return ended.value.code or 0


def test_a_budget_stops_the_query_or_sheds_the_oldest(folder, capsys):
    (folder / "pairs.sase").write_text("PATTERN SEQ(Ticks a, Ticks b) WHERE skip_till_any_match(a, b) { b.price > a.price }")
    assert ostinato("run", "pairs.sase", "-i", "ticks=ticks.parquet", "--budget-runs", "2") == 1
    assert "more than 2 partial matches" in capsys.readouterr().err
    shed = ("--budget-runs", "2", "--overflow", "shed", "-o", "few.csv")
    assert ostinato("run", "pairs.sase", "-i", "ticks=ticks.parquet", *shed) == 0
    assert ostinato("run", "pairs.sase", "-i", "ticks=ticks.parquet", "-o", "all.csv") == 0
    few, whole = (len((folder / name).read_text().splitlines()) for name in ("few.csv", "all.csv"))
    assert 1 < few < whole
    assert ostinato("run", "dips.sql", "-i", "ticks=ticks.parquet", "--budget-bytes", "1") == 2
    assert ostinato("run", "pairs.sase", "-i", "ticks=ticks.parquet", "--engine", "spark", "--overflow", "shed") == 2


def test_matches_are_written_as_they_are_found(folder, capsys):
    (folder / "pairs.sase").write_text("PATTERN SEQ(Ticks a, Ticks b) WHERE skip_till_any_match(a, b) { b.price > a.price }")
    run = ("run", "pairs.sase", "-i", "ticks=ticks.parquet")
    assert ostinato(*run, "--lazy", "-o", "lazily.parquet") == 0
    assert "rows written to lazily.parquet" in capsys.readouterr().err
    assert ostinato(*run, "-o", "whole.parquet") == 0
    lazily, whole = (pyarrow.parquet.read_table(folder / name) for name in ("lazily.parquet", "whole.parquet"))
    assert lazily.equals(whole) and whole.num_rows
    assert ostinato(*run, "--lazy") == ostinato(*run, "--lazy", "-o", "lazily.csv") == 2


def test_version(capsys):
    assert ostinato("--version") == 0
    assert capsys.readouterr().out.startswith("ostinato 0.")


@pytest.mark.parametrize("name", ["ticks.parquet", "ticks.csv"])
def test_a_table_on_the_terminal(folder, capsys, name):
    assert ostinato("run", "dips.sql", "-i", f"ticks={name}") == 0
    printed = capsys.readouterr()
    assert "bottom" in printed.out and "2 rows" in printed.out
    assert printed.err == ""


@pytest.mark.parametrize("suffix", ["parquet", "csv", "json", "jsonl"])
def test_output_files(folder, suffix):
    assert ostinato("run", "dips.sql", "-i", "ticks=ticks.parquet", "-o", f"dips.{suffix}") == 0
    written = folder / f"dips.{suffix}"
    if suffix == "parquet":
        rows = pyarrow.parquet.read_table(written).to_pylist()
    elif suffix == "csv":
        rows = pyarrow.csv.read_csv(written).to_pylist()
    else:
        rows = json.loads(written.read_text()) if suffix == "json" else [json.loads(line) for line in written.read_text().splitlines()]
    assert rows == [{"symbol": "A", "bottom": 1.0}, {"symbol": "B", "bottom": 4.0}]


def test_sase_with_options(folder, capfdbinary):
    assert ostinato("run", "rises.sase", "-i", "ticks=ticks.parquet", "--time", "ts", "--output", "all", "--format", "jsonl") == 0
    rows = [json.loads(line) for line in capfdbinary.readouterr().out.splitlines()]
    assert rows == [{"low": 1.0, "high": 2.0}, {"low": 4.0, "high": 6.0}]


@pytest.mark.parametrize("stage", ["syntax", "algebra", "automaton", "plan", "program"])
@pytest.mark.parametrize("query", ["dips.sql", "rises.sase"])
def test_explain(folder, capsys, stage, query):
    assert ostinato("explain", query, "-i", "ticks=ticks.parquet", "--stage", stage) == 0
    assert len(capsys.readouterr().out.strip()) > 10


def test_run_explains_on_stderr(folder, capsys):
    assert ostinato("run", "dips.sql", "-i", "ticks=ticks.parquet", "--explain") == 0
    assert "scan" in capsys.readouterr().err


def failing(folder, capsys, *arguments) -> str:
    """What is said by a run that must fail, and leave the old output alone."""
    (folder / "out.csv").write_text("old")
    before = sorted(path.name for path in folder.iterdir())
    assert ostinato("run", *arguments, "-o", "out.csv") == 1
    assert (folder / "out.csv").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == before
    return capsys.readouterr().err


def test_a_missing_file(folder, capsys):
    said = failing(folder, capsys, "dips.sql", "-i", "ticks=nowhere.parquet")
    assert "ticks" in said and "nowhere.parquet" in said


def test_a_file_that_is_not_what_it_says(folder, capsys):
    (folder / "broken.parquet").write_bytes(b"PAR1 but not really")
    said = failing(folder, capsys, "dips.sql", "-i", "ticks=broken.parquet")
    assert "ticks" in said


def test_a_missing_column(folder, capsys):
    (folder / "q.sql").write_text(DIPS.replace("price < PREV(price)", "prize < PREV(price)"))
    said = failing(folder, capsys, "q.sql", "-i", "ticks=ticks.parquet")
    assert "prize" in said and "line 6" in said and "^" in said


def test_a_wrong_type(folder, capsys):
    (folder / "q.sql").write_text(DIPS.replace("price > PREV(price)", "symbol > 5"))
    said = failing(folder, capsys, "q.sql", "-i", "ticks=ticks.parquet")
    assert "line 6" in said and "^" in said


def test_a_syntax_error(folder, capsys):
    (folder / "q.sql").write_text(DIPS.replace("PATTERN (", "PATTERN (("))
    assert "^" in failing(folder, capsys, "q.sql", "-i", "ticks=ticks.parquet")


def test_a_time_that_cannot_be_ordered(folder, capsys):
    unordered = TICKS.set_column(1, "ts", pa.array([0, 1, None, 3, 4, 5], pa.timestamp("s")))
    pyarrow.parquet.write_table(unordered, folder / "null.parquet")
    (folder / "soon.sase").write_text(RISES.replace("RETURN", "WITHIN 1 minute RETURN"))
    said = failing(folder, capsys, "soon.sase", "-i", "ticks=null.parquet")
    assert '"ts"' in said and "null" in said and "Hint" in said
    texts = TICKS.set_column(1, "ts", pa.array(["now", "then", "soon", "x", "y", "z"]))
    pyarrow.parquet.write_table(texts, folder / "text.parquet")
    assert "ts" in failing(folder, capsys, "rises.sase", "-i", "ticks=text.parquet")


def test_no_time_column(folder, capsys):
    pyarrow.parquet.write_table(TICKS.rename_columns(["symbol", "at", "price"]), folder / "at.parquet")
    assert "ts" in failing(folder, capsys, "rises.sase", "-i", "ticks=at.parquet")
    assert ostinato("run", "rises.sase", "-i", "ticks=at.parquet", "--time", "at") == 0


def test_an_unknown_stream(folder, capsys):
    assert "ticks" in failing(folder, capsys, "dips.sql", "-i", "trades=ticks.parquet")


def test_an_empty_file(folder, capsys):
    (folder / "empty.csv").touch()
    assert "empty" in failing(folder, capsys, "dips.sql", "-i", "ticks=empty.csv")


def test_an_input_without_rows_has_no_matches(folder, capsys):
    pyarrow.parquet.write_table(TICKS.slice(0, 0), folder / "none.parquet")
    assert ostinato("run", "dips.sql", "-i", "ticks=none.parquet", "-o", "out.parquet") == 0
    assert pyarrow.parquet.read_table(folder / "out.parquet").num_rows == 0
    assert "no rows" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["run"],
        ["run", "dips.sql"],
        ["run", "dips.sql", "-i", "ticks=ticks.parquet", "-o", "out.xlsx"],
        ["run", "dips.sql", "-i", "ticks=ticks.parquet", "--time", "ts"],
        ["run", "dips.sql", "-i", "ticks=ticks.parquet", "--engine", "abacus"],
        ["explain", "dips.sql", "-i", "ticks=ticks.parquet", "--stage", "dress rehearsal"],
        ["jump"],
    ],
)
def test_usage_errors(folder, arguments):
    assert ostinato(*arguments) == 2
    assert not (folder / "out.xlsx").exists()


def test_an_interrupted_run_leaves_nothing(folder):
    """A signal in the middle of the work, as Ctrl-C sends it."""
    script = (
        "import time\n"
        "from ostinato.cli import outputs\n"
        "from ostinato.cli.main import main\n"
        "def slow(table, stream):\n"
        "    stream.write(b'half')\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(60)\n"
        "outputs.WRITERS['csv'] = slow\n"
        "main(['run', 'dips.sql', '-i', 'ticks=ticks.parquet', '-o', 'out.csv'])\n"
    )
    before = sorted(path.name for path in folder.iterdir())
    for sent, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        running = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder)
        assert running.stdout.readline() == b"writing\n"
        time.sleep(0.2)
        running.send_signal(sent)
        assert running.wait(30) == code
        assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("moment", ["half of it is written", "all of it is written", "it has its name"])
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_run_that_is_killed_leaves_the_old_file_or_the_new_one(folder, name, moment):
    """Whoever is killed cannot tidy up: what is left beside has another name, which no pattern of files finds."""
    script = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from ostinato.cli import outputs\n"
        "from ostinato.cli.main import main\n"
        "name, moment = sys.argv[1:]\n"
        "kind = name.split('.')[1]\n"
        "writer, replace = outputs.WRITERS[kind], Path.replace\n"
        "def reached(this):\n"
        "    if this == moment:\n"
        "        print('now', flush=True)\n"
        "        time.sleep(600)\n"
        "def written(table, stream):\n"
        "    if moment == 'half of it is written':\n"
        "        stream.write(b'half')\n"
        "        stream.flush()\n"
        "    reached('half of it is written')\n"
        "    writer(table, stream)\n"
        "def replaced(self, target):\n"
        "    reached('all of it is written')\n"
        "    replace(self, target)\n"
        "    reached('it has its name')\n"
        "outputs.WRITERS[kind], Path.replace = written, replaced\n"
        "main(['run', 'dips.sql', '-i', 'ticks=ticks.parquet', '-o', name])\n"
    )
    running = subprocess.Popen([sys.executable, "-c", script, name, moment], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder)
    (folder / name).write_text("old")
    assert running.stdout.readline() == b"now\n"
    running.kill()
    assert running.wait(30) == -signal.SIGKILL
    if moment == "it has its name":
        assert rows_of(folder / name) == DIPS_FOUND
    else:
        assert (folder / name).read_text() == "old"
    assert sorted(path.name for path in folder.glob("[!.]*")) == sorted(["ticks.parquet", "ticks.csv", "dips.sql", "rises.sase", name])
    assert not [path for path in folder.glob(".*") if path.suffix != ".partial"]
    assert ostinato("run", "dips.sql", "-i", "ticks=ticks.parquet", "-o", name) == 0
    assert rows_of(folder / name) == DIPS_FOUND


def rows_of(path):
    read = pyarrow.parquet.read_table if path.suffix == ".parquet" else pyarrow.csv.read_csv
    return read(path).to_pylist()


def test_an_interrupt_when_all_is_written_changes_nothing(folder):
    """The message about the file is held up, and so is the end of the process: the signal comes before and after it."""
    script = (
        "import atexit, time\n"
        "from ostinato.cli import run_command\n"
        "from ostinato.cli.main import main\n"
        "def held(*_):\n"
        "    print('done', flush=True)\n"
        "    time.sleep(0.6)\n"
        "run_command._say_written = held\n"
        "atexit.register(held)\n"
        "main(['run', 'dips.sql', '-i', 'ticks=ticks.parquet', '-o', 'out.csv'])\n"
    )
    running = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
    for _ in range(2):
        assert running.stdout.readline() == b"done\n"
        running.send_signal(signal.SIGINT)
    assert running.wait(30) == 0 and running.stderr.read() == b""
    assert (folder / "out.csv").exists()


def test_the_automaton_is_drawn_into_a_file(folder, capsys):
    assert ostinato("explain", "rises.sase", "-i", "ticks=ticks.parquet", "--svg", "rises.svg") == 0
    assert (folder / "rises.svg").read_text(encoding="utf-8").startswith("<svg ")
    assert ostinato("explain", "dips.sql", "-i", "ticks=ticks.parquet", "--svg", "dips.svg") == 1
    assert "SASE+" in capsys.readouterr().err and not (folder / "dips.svg").exists()


def test_two_streams_with_times_of_their_own(folder, capfdbinary):
    pyarrow.parquet.write_table(pa.table({"placed": [1, 5], "k": ["x", "x"]}), folder / "orders.parquet")
    pyarrow.parquet.write_table(pa.table({"at": [2, 6], "k": ["x", "y"]}), folder / "trades.parquet")
    text = "PATTERN SEQ(Orders o, Trades t) WHERE [k] RETURN Hit(o.placed); PATTERN SEQ(Hit h) RETURN h.placed, h.ts"
    (folder / "two.sase").write_text(text)
    inputs = ("-i", "orders=orders.parquet", "-i", "trades=trades.parquet", "--time", "orders=placed,trades=at")
    assert ostinato("run", "two.sase", *inputs, "--format", "jsonl") == 0
    assert capfdbinary.readouterr().out.strip() == b'{"placed": 1, "ts": 2}'
    assert ostinato("run", "two.sase", *inputs[:-1], "orders=") == 2


def test_warnings_are_shown_once(folder, capsys):
    (folder / "wild.sase").write_text("PATTERN SEQ(ticks a, ticks+ b[]) WHERE skip_till_any_match(a, b[])\nRETURN a.ts, b.LEN AS n")
    for command in (("run",), ("run", "--explain"), ("explain",), ("explain", "--stage", "syntax")):
        assert ostinato(*command, "wild.sase", "-i", "ticks=ticks.parquet") == 0
        said = capsys.readouterr()
        assert (said.err + said.out).count("warning: The number of matches can double") == 1, command


@pytest.mark.parametrize("command", ["run", "explain"])
def test_the_sandbox(folder, capsys, command):
    (folder / "other.csv").write_text("a\n1\n")
    clause = "MATCH_RECOGNIZE (ORDER BY ts MEASURES A.price AS p PATTERN (A) DEFINE A AS TRUE)"
    (folder / "mine.sql").write_text(f"SELECT p FROM ticks {clause}")
    (folder / "theirs.sql").write_text(f"SELECT p, a FROM ticks {clause}, 'other.csv'")
    assert ostinato(command, "mine.sql", "-i", "ticks=ticks.parquet", "--sandbox") == 0
    assert ostinato(command, "theirs.sql", "-i", "ticks=ticks.parquet") == 0
    assert ostinato(command, "theirs.sql", "-i", "ticks=ticks.parquet", "--sandbox") == 1
    assert "only the streams that were given" in capsys.readouterr().err


def test_a_file_of_nested_patterns(folder):
    (folder / "pairs.neel").write_text(
        "PATTERN AND(Ticks a, Ticks b, a.price < b.price) WITHIN 2 events RETURN a.price AS low, b.price AS high"
    )
    assert ostinato("run", "pairs.neel", "-i", "ticks=ticks.parquet", "-o", "pairs.csv") == 0
    found = pyarrow.csv.read_csv("pairs.csv")
    assert found.num_rows and all(row["low"] < row["high"] for row in found.to_pylist())
