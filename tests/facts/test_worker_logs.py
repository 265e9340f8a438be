"""What a worker logs about an action is found by `duetime actions log`, which reads two fields."""

import ast
from pathlib import Path

import pytest

import duetime.worker

MODULES = sorted(Path(duetime.worker.__file__).parent.glob("*.py"))


def literals(text):
    """Yield the constant keys of each dict in a module's source."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Dict):
            yield {key.value for key in node.keys if isinstance(key, ast.Constant)}


def without_tenant(text):
    return [keys for keys in literals(text) if "action" in keys and "tenant" not in keys]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_each_line_that_names_an_action_names_its_tenant(module):
    assert without_tenant(module.read_text()) == []


def test_a_line_without_the_tenant_is_found():
    assert without_tenant('log.info("x", extra={"action": 1})') == [{"action"}]
