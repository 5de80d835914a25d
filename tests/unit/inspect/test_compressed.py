"""What may be decoded, and what is refused."""

import pyarrow as pa
import pytest

import ostinato as ost

EVENTS = pa.table({"ts": [1, 2, 3, 4], "kind": ["A", "A", "B", "B"], "name": ["é", None, "x", "y"]})
TEXT = "PATTERN SEQ(A a, B? b) WHERE skip_till_any_match(a, b)"


@pytest.fixture(scope="module")
def compressed():
    return ost.match(TEXT, events=EVENTS, type_by="kind", output="compressed")


@pytest.fixture(scope="module")
def rows():
    return ost.match(TEXT, events=EVENTS, type_by="kind").to_arrow().to_pylist()


def test_every_form_of_the_value(compressed, rows):
    table = compressed.to_arrow()
    forms = [compressed, table, table.column("matches"), table["matches"].combine_chunks(), table["matches"][0], table.to_pylist()]
    forms += [table["matches"].to_pylist(), table["matches"].to_pylist()[0], table.to_batches()[0], table.to_pandas()]
    for form in forms:
        assert list(ost.decode(form)) == rows
    assert ost.decode(compressed).to_pandas().shape == (len(rows), 5)


def test_parts_of_it(compressed, rows):
    found = ost.decode(compressed)
    assert len(rows) == len(found) == 6
    assert found[2] == rows[2] and found[-1] == rows[-1] and found[::2] == rows[::2] and found[4:100] == rows[4:]
    assert found.to_arrow(1, 3).to_pylist() == rows[1:3]
    with pytest.raises(IndexError):
        found[6]


def test_no_match_is_no_value():
    nothing = ost.match(TEXT, events=EVENTS.slice(2), type_by="kind", output="compressed")
    assert len(nothing) == 0 and list(ost.decode(nothing)) == [] and ost.decode(nothing).to_arrow().num_rows == 0
    assert ost.decode([]).count() == 0


def test_what_is_no_compressed_match():
    with pytest.raises(ost.DataError, match="no column matches"):
        ost.decode(EVENTS)
    with pytest.raises(ost.DataError, match="no compressed match"):
        ost.decode({"a": 1})


def test_a_session_gives_a_value_for_each_call_that_decides_something():
    query = ost.compile(TEXT + " OUTPUT compressed", {"events": EVENTS.schema}, type_by="kind")
    session = query.open()
    values = [session.push(EVENTS.slice(place, 2)) for place in (0, 2)] + [session.close()]
    assert [len(value) for value in values] == [1, 1, 0]
    assert [ost.decode(value).count() for value in values] == [2, 4, 0]
    assert "the graph of all matches" in query.explain("program")


def test_return_has_no_place_in_it():
    with pytest.raises(ost.UnsupportedError) as caught:
        ost.match(TEXT + " RETURN a.name OUTPUT compressed", events=EVENTS, type_by="kind")
    assert caught.value.span is not None and "RETURN" in caught.value.hint
