"""Tables fit the terminal, and elsewhere 80 columns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duetime.cli import outbox, views
from duetime.cli.tables import Table, table

WORDS = st.text(st.sampled_from("abcdefgh-é 日"), max_size=60)
TABLES = {
    f"{module.__name__.rpartition('.')[2]}.{name}": one
    for module in (views, outbox)
    for name, value in vars(module).items()
    for one in (value.values() if isinstance(value, dict) else [value])
    if isinstance(one, Table)
}
AN_ID = "01a22969-8ee8-77cc-b0f5-92fd1878e00d"


@pytest.fixture
def of_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


@given(st.data(), st.integers(1, 8), st.integers(60, 200))
def test_any_table_fits_the_width(data, columns, width):
    heads = [f"HEAD {number}" for number in range(columns)]
    rows = data.draw(st.lists(st.lists(WORDS, min_size=columns, max_size=columns), max_size=4))
    rows = [[cell[:30] for cell in row[:1]] + row[1:] for row in rows]
    least = data.draw(
        st.lists(st.sampled_from(heads[1:] or heads), unique=True, max_size=max(0, columns - 1))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        for line in table(heads, rows, [] if columns == 1 else least).splitlines():
            assert line.startswith("left out: ") or len(line) <= width


@pytest.mark.parametrize("name", TABLES)
def test_what_a_narrow_table_leaves_out_is_a_column_of_it_and_not_the_first(name):
    assert {*TABLES[name].least} <= {*list(TABLES[name].columns)[1:]}


@pytest.mark.usefixtures("of_80_columns")
def test_a_wide_table_shortens_instants_then_leaves_columns_out_then_folds_sentences():
    heads = ["ID", "DUE", "TYPE", "NOTE"]
    row = [AN_ID, "2027-06-01T07:00:00Z (in 3 s)", "send-mail", "the bank"]
    assert table(heads, [row]).splitlines()[1].split("  ") == [AN_ID, "in 3 s", "send-mail", "the bank"]
    row[3] = "the bank is down, and its answers come late"
    first, second, *_ = table(heads, [row]).splitlines()[1:]
    assert (first.split("  ")[-1], second.strip()) == ("the bank is down, and", "its answers come late")
    *_, last = table(heads, [row], ["TYPE", "DUE"]).splitlines()
    assert "left out" not in last
    row[2] = "send-the-weekly-mail"
    shown = table(heads, [row], ["TYPE", "DUE"]).splitlines()
    assert shown[0].split() == ["ID", "DUE", "NOTE"]
    assert shown[-1] == "left out: TYPE; --json has all"


@pytest.mark.usefixtures("of_80_columns")
def test_the_time_of_this_machines_clock_is_shortened_too():
    row = [
        "billing-nightly",
        "Mon 2027-06-07 09:00:00 +02:00 (in 3 s)",
        "every day at 02:30, Europe/Paris time",
    ]
    assert "Mon 06-07 09:00  every day" in table(["NAME", "NEXT", "CADENCE"], [row])


@pytest.mark.usefixtures("of_80_columns")
def test_a_list_in_a_pipe_fits_80_columns(duetime):
    status = duetime("schedule", "remark", "--in", "2h", "--correlation-id", "order-of-the-week-7")[0]
    printed = duetime("actions", "list")[1]
    assert status == 0
    assert max(map(len, printed.splitlines())) <= 80
    assert printed.splitlines()[-1] == "left out: CORRELATION ID; --json has all"
