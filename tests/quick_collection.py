"""Hooks of pytest, with which tests are collected in half the processor time.

Modules and collected tests are millions of objects that stay for the whole run: each full collection of
garbage would look at all of them again, and so would many while they are made. And the import of a checker
of schemes compiles forty grammars, of which no test needs more than one.
"""

import functools
import gc
import importlib
import sys
from types import ModuleType

YOUNG = 20_000
"""New objects up to a collection of garbage. A test makes far more than Python's 700."""

_GRAMMAR = "rfc3987_syntax"


@functools.cache
def _grammar() -> ModuleType:
    sys.modules.pop(_GRAMMAR, None)
    return importlib.import_module(_GRAMMAR)


def is_valid_syntax(term: str, value: str) -> bool:
    """Return what the checker of international addresses returns, which is only now imported."""
    return bool(_grammar().is_valid_syntax(term, value))


def pytest_configure() -> None:
    """Stand in for that checker."""
    if _GRAMMAR not in sys.modules:
        stand_in = ModuleType(_GRAMMAR)
        vars(stand_in)["is_valid_syntax"] = is_valid_syntax
        sys.modules[_GRAMMAR] = stand_in


def pytest_collection() -> None:
    """Collect no garbage while the tests are collected."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep what is there for the whole run, out of sight of the collector."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, 10, 10)
    gc.enable()
