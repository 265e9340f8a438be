"""Whether the models and the modules of TLA+ have the text that was explored last.

Nothing but this text decides what an exploration finds, and of Python neither comments nor docstrings. So
`make test` explores only the models that have changed since, and `make proof` what needs minutes or Java;
each night explores all again.
``python -m tests.model`` explores in full those that have changed, and stores their digests; `make proof`
fails until then.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import pytest

HERE = Path(__file__).parent
FILE = HERE / "explored.json"
MODELS = ("", "batch_", "checkpoint_", "debounce_", "jobs_", "slots_")
SPECIFICATION = "tests.spec.test_specification"
MODULES = (*(f"tests.model.test_{name}protocol" for name in MODELS), SPECIFICATION)
IMPORTED = re.compile(r"^(?:from|import) ((?:tests\.model|duetime)\.[\w.]+)", re.MULTILINE)

Test = TypeVar("Test", bound=Callable[..., object])


def exploration(module: str) -> Callable[[Test], Test]:
    """Return the mark of an exploration: `make test` runs it only if its text has changed."""
    # nightly: the same text has been explored with the same result, and nothing else decides it
    return pytest.mark.nightly if is_explored(module) else lambda test: test


def long_exploration(module: str) -> Callable[[Test], Test]:
    """Return the mark of one that needs minutes or Java: `make proof` runs it if its text has changed."""
    # nightly: as above
    return pytest.mark.nightly if is_explored(module) else pytest.mark.long


def is_explored(module: str) -> bool:
    """Return whether a module of tests, and all that it imports, has the text that was explored last."""
    return read().get(module) == digest_of(module)


def digest_of(module: str) -> str:
    """Return the digest of the text of a module and of all models that it imports."""
    digest = sha256()
    for path in sorted(paths_of(module)):
        digest.update(code_of(path) if path.suffix == ".py" else path.read_bytes())
    return digest.hexdigest()


def code_of(path: Path) -> bytes:
    """Return what a module executes: its syntax tree without docstrings."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [one for one in node.body if not is_text(one)]
    return ast.unparse(tree).encode()


def is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def paths_of(module: str) -> set[Path]:
    """Return the module, the modules of this directory that it imports, and what these import of duetime.

    A module of TLA+ may extend each other one, so the specification is all of them.
    """
    found: set[Path] = set()
    if module == SPECIFICATION:
        folder = path_of(module).parent
        found = {*folder.glob("*.tla"), *folder.glob("*.cfg"), folder / "tlc.py"}
    to_read = [module]
    while to_read:
        path = path_of(to_read.pop())
        if path not in found:
            found.add(path)
            to_read += imports_of(path) if path.parent == HERE else ()
    return found - {Path(__file__)}


def path_of(module: str) -> Path:
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ImportError(module)
    return Path(spec.origin)


def imports_of(path: Path) -> Iterator[str]:
    yield from IMPORTED.findall(path.read_text())


def read() -> dict[str, str]:
    """Return the stored digests, by module."""
    return json.loads(FILE.read_text()) if FILE.exists() else {}


def store() -> None:
    """Store the digests of the present text."""
    FILE.write_text(json.dumps({module: digest_of(module) for module in MODULES}, indent=2) + "\n")
