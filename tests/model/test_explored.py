"""An exploration leaves `make test` only if its models have the text that was explored last."""

import pytest

from tests.model import explored

PROTOCOL = "tests.model.test_protocol"


@pytest.mark.long
@pytest.mark.parametrize("module", explored.MODULES)
def test_the_stored_digest_is_that_of_the_present_text(module):
    assert explored.is_explored(module), "`python -m tests.model` explores it, and stores the digest"


def test_the_digest_is_of_all_that_a_model_imports():
    names = {path.name for path in explored.paths_of(PROTOCOL)}
    assert names == {
        "test_protocol.py", "check.py", "guards.py", "protocol.py", "search.py", "states.py", "world.py",
        "action.py",
    }  # fmt: skip


def test_a_changed_text_is_explored_by_make_test(monkeypatch, tmp_path):
    monkeypatch.setattr(explored, "FILE", tmp_path / "explored.json")
    assert not explored.is_explored(PROTOCOL)
    assert marks_of(PROTOCOL) == ["long"]
    explored.store()
    assert explored.is_explored(PROTOCOL)
    assert marks_of(PROTOCOL) == ["nightly", "nightly"]
    digest = explored.digest_of
    monkeypatch.setattr(explored, "digest_of", lambda module: digest(module)[::-1])
    assert not explored.is_explored(PROTOCOL)
    assert marks_of(PROTOCOL) == ["long"]


def marks_of(module):
    """Return the marks of an exploration, and those of a long one."""

    @explored.exploration(module)
    def explores():
        pass

    @explored.long_exploration(module)
    def explores_long():
        pass

    return [mark.name for test in (explores, explores_long) for mark in getattr(test, "pytestmark", [])]
