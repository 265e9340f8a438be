"""The conformance suite: its facts, its runner, and duetime against it."""

import sys
from pathlib import Path

import pytest

from tests.conformance.__main__ import main, verdicts
from tests.conformance.facts import made, read

DUETIME = f"{sys.executable} -m tests.conformance.duetime_adapter"


@pytest.mark.long
def test_the_file_has_the_facts_that_the_oracle_computes():
    assert read() == [*made()]


def test_duetime_passes_all(capsys):
    assert main([DUETIME]) == 0
    assert capsys.readouterr().out == f"{len(read())} passed, 0 failed, 0 unsupported\n"


def test_a_library_with_another_rule_fails_and_each_failed_fact_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    adapter = tmp_path / "adapter.py"
    adapter.write_text(
        "from tests.conformance.adapter import serve\n"
        "from tests.conformance.duetime_adapter import answer\n"
        "serve(lambda question: answer(question | {'rule': 'cronos'}))\n"
    )
    assert main([f"{sys.executable} {adapter}"]) == 1
    output = capsys.readouterr().out
    assert ", vixie, after" in output
    assert ", eventbridge, after" in output
    assert ", cronos, after" not in output


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import sys; sys.exit()", "the adapter ended at fact 1"),
        ("print('hello', flush=True); input()", "fact 1: the adapter wrote 'hello'"),
    ],
)
def test_an_adapter_that_breaks_is_named(tmp_path, source, problem):
    adapter = tmp_path / "adapter.py"
    adapter.write_text(source)
    with pytest.raises(SystemExit, match=problem):
        [*verdicts([sys.executable, str(adapter)], read()[:2])]


def test_an_unsupported_expression_is_no_failure(tmp_path, capsys):
    adapter = tmp_path / "adapter.py"
    adapter.write_text('for _ in iter(input, None):\n    print(\'{"unsupported": "all"}\', flush=True)\n')
    assert main([f"{sys.executable} {adapter}", "--rule", "vixie"]) == 0
    assert "0 passed, 0 failed" in capsys.readouterr().out
