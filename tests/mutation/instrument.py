"""Imports the package with its conditions marked and its functions counted; mutates them in this process.

Nothing is written: the source is changed between its reading and its compilation.
"""

import ast
import builtins
import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import CodeType, FunctionType

from tests.mutation import differences, sites

hits = set[str]()
"""The functions that were called since it was cleared."""


class Marked(str):
    """A condition that bears the site that made it."""

    __slots__ = ("site",)
    site: str


def mark(text: str, site: str) -> Marked:
    condition = Marked(text)
    condition.site = site
    return condition


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles the marked source, which is never stored."""

    def get_code(self, fullname: str) -> CodeType:
        name = fullname.removeprefix("duetime.")
        tree = differences.marked(name, ast.parse(self.get_data(self.path), self.path))
        return compiled(name, tree, self.path)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self) -> None:
        self._paths = sites.paths()

    def find_spec(self, fullname, _path=None, _target=None):
        found = self._paths.get(fullname.removeprefix("duetime."))
        if found is None or not fullname.startswith("duetime."):
            return None
        return importlib.util.spec_from_file_location(fullname, found, loader=_Loader(fullname, str(found)))


def compiled(module: str, tree: ast.Module, path: str) -> CodeType:
    return compile(sites.marked(module, tree), path, "exec", dont_inherit=True)


def install() -> None:
    """Mark the modules that are imported from now on.

    Raises:
        RuntimeError: the package was imported before.
    """
    if any(name.startswith("duetime.") for name in sys.modules):
        raise RuntimeError("the package was imported before its source could be marked")
    setattr(builtins, sites.MARK, mark)
    setattr(builtins, sites.HIT, hits.add)
    differences.install()
    sys.meta_path.insert(0, _Finder())


def index() -> None:
    """Import all mutated modules, and remember their functions: a child then need not look for them."""
    by_path = {str(path): module for module, path in sites.paths().items()}
    for module in by_path.values():
        importlib.import_module(f"duetime.{module}")
    gc.unfreeze()  # frozen objects are not listed
    living.clear()
    for function in gc.get_objects():
        if type(function) is FunctionType and function.__code__.co_filename in by_path:
            name = by_path[function.__code__.co_filename], function.__code__.co_qualname
            living.setdefault(name, []).append(function)


living: dict[tuple[str, str], list[FunctionType]] = {}
"""The functions of the mutated modules, by module and name."""


def replace_function(module: str, tree: ast.Module, qualname: str) -> None:
    """Give the living functions of that name the code that they have in `tree`.

    Raises:
        LookupError: no function has that name.
    """
    path = str(sites.paths()[module])
    code = _code_of(compiled(module, tree, path), qualname)
    if not living:
        index()
    if code is None or (module, qualname) not in living:
        raise LookupError(f"{module} has no function {qualname}")
    for function in living[module, qualname]:
        function.__code__ = code


def _code_of(outer: CodeType, qualname: str) -> CodeType | None:
    for constant in outer.co_consts:
        if isinstance(constant, CodeType):
            if constant.co_qualname == qualname:
                return constant
            if (found := _code_of(constant, qualname)) is not None:
                return found
    return None
