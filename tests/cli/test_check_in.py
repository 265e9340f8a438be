"""``duetime actions check-in``: against a server with an app that includes the handler."""

import json

import pytest

from duetime import App, check_ins
from duetime.cli import main
from tests.cli.conftest import shop_app


@pytest.fixture
def app():
    """The app of the other tests, with check-ins."""
    app = App()
    app.include(shop_app(), check_ins)
    return app


def test_a_check_in_moves_the_deadline_of_its_name(url, capsys):
    for within, calls in (("1h", 0), ("26h", 1)):
        assert main(["actions", "check-in", "backup", "--within", within, "--url", url, "--json"]) == 0
        action = json.loads(capsys.readouterr().out)
        assert (action["type"], action["coalesced"]) == ("check-in", calls)
        assert action["correlation_id"] == "check-in:backup"
    assert main(["actions", "check-in", "backup", "--within", "26h", "--url", url]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("backup has checked in; the next one is due 20")
    assert "(in 26 h)" in printed


@pytest.mark.parametrize(
    ("words", "problem"),
    [(["a b", "--within", "1h"], "name"), (["backup", "--within", "1s"], "within"), (["backup"], "--within")],
)
def test_bad_input_is_named(url, capsys, words, problem):
    try:
        status = main(["actions", "check-in", *words, "--url", url])
    except SystemExit as ended:
        status = ended.code
    assert status in (1, 2)
    assert problem in capsys.readouterr().err
