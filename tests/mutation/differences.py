"""Which decisions would differ in a test: a mutant whose expression has the same value there cannot fail it.

The package is imported with the expressions of its decisions marked. A mark returns the value of its
expression, and notes each mutant whose value is another one.
"""

import ast
import builtins
import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from tests.mutation import logic
from tests.mutation.steps import CallMutant, Function, functions_of

seen = set[str]()
"""The mutants that would have differed since it was cleared, and the versions of the functions that ran."""

NAME = "__mutation_{}__"
"""The name of a mark; one that ended otherwise would be private to its class."""


def keys(module: str, tree: ast.Module) -> Iterator[tuple[CallMutant, str, str]]:
    """Yield the mutants of decisions, each with its key and that of its function's version."""
    versions = {path: key_of(module, path, ast.unparse(function)) for path, function in functions_of(tree)}
    for mutant in logic.mutants(module, tree):
        version = versions[mutant.function]
        yield mutant, key_of(version, mutant.done), version


def key_of(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:10]


def install() -> None:
    """Make the functions of the marks known to all modules."""
    for mark in (is_met, decides, compared, is_other, changes, runs):
        setattr(builtins, NAME.format(mark.__name__), mark)


def is_met(key: str, value: Any) -> Any:
    """A guard, which its mutant never meets."""
    if value:
        seen.add(key)
    return value


def decides(key: str, value: Any, ends: bool, is_value: bool) -> Any:
    """An operand of `and` or `or`, which ends the whole if it is false, or true.

    Of the last one, the value may matter too, unless it is a truth.
    """
    if bool(value) is ends or (is_value and not isinstance(value, bool)):
        seen.add(key)
    return value


def compared(left: Any, right: Any, compare: Callable[..., Any], **others: Callable[..., Any]) -> Any:
    """A comparison with other bounds."""
    value = compare(left, right)
    for key, other in others.items():
        if other(left, right) != value:
            seen.add(key[1:])
    return value


def is_other(key: str, value: Any, other: Callable[[], Any]) -> Any:
    """An instant, for which its mutant has another one."""
    if key not in seen:
        try:
            is_same = other() == value
        except Exception:  # noqa: BLE001 - whatever it raises makes a difference
            is_same = False
        if not is_same:
            seen.add(key)
    return value


def changes(key: str, row: Any, name: str, value: Any) -> Any:
    """A field of a changed row."""
    if getattr(row, name, seen) != value:
        seen.add(key)
    return value


def runs(key: str, value: Any) -> Any:
    """An expression whose mutant differs whenever it runs."""
    seen.add(key)
    return value


def marked(module: str, tree: ast.Module) -> ast.Module:
    """Return the tree of a module with the expressions of its decisions marked."""
    if not logic.decides(module):
        return tree
    by_node, versions = defaultdict(list), dict[str, str]()
    for mutant, key, version in keys(module, tree):
        by_node[id(mutant.before)].append((key, mutant))
        versions[mutant.function] = version
    functions = dict(functions_of(tree))
    tests = {id(test) for node in ast.walk(tree) for test in _tests(node)}
    marks = _Marks(by_node, tests)
    for path, version in versions.items():
        _mark_function(functions[path], version, marks)
    return ast.fix_missing_locations(tree)


def _mark_function(function: Function, version: str, marks: "_Marks") -> None:
    function.body = [marks.visit(statement) for statement in function.body]
    call = ast.Expr(_call(runs, ast.Constant(version), ast.Constant(None)))
    start = 0 if ast.get_docstring(function, clean=False) is None else 1
    function.body.insert(start, ast.copy_location(call, function.body[0]))


def _tests(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the expressions of which only the truth matters."""
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield node.test
    elif isinstance(node, ast.comprehension):
        yield from node.ifs
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand


class _Marks(ast.NodeTransformer):
    def __init__(self, by_node: dict[int, list[tuple[str, CallMutant]]], tests: set[int]) -> None:
        self._by_node, self._tests = by_node, tests

    def visit(self, node: ast.AST) -> Any:
        found = self._by_node.get(id(node), [])
        operands = list(node.values) if isinstance(node, ast.BoolOp) else []
        fields = {keyword.arg: keyword for keyword in node.keywords} if isinstance(node, ast.Call) else {}
        if id(node) in self._tests and isinstance(node, ast.BoolOp):
            self._tests.update(map(id, node.values))
        marked: Any = self.generic_visit(node)
        comparisons = [
            (key, mutant)
            for key, mutant in found
            if isinstance(node, ast.Compare) and isinstance(mutant.after, ast.Compare)
        ]
        for key, mutant in found:
            after = mutant.after
            if mutant.done.startswith("never if"):
                marked = _call(is_met, ast.Constant(key), marked)
            elif operands and mutant.done.startswith("without "):
                rest = {id(one) for one in (after.values if len(operands) > 2 else [after])}
                place = next(at for at, one in enumerate(operands) if id(one) not in rest)
                is_value = place == len(operands) - 1 and id(node) not in self._tests
                ends = ast.Constant(isinstance(node.op, ast.Or))
                values = [ast.Constant(key), node.values[place], ends, ast.Constant(is_value)]
                node.values[place] = _call(decides, *values)
            elif mutant.done.startswith("without the field"):
                rest = {id(keyword) for keyword in after.keywords}
                keyword = next(one for one in fields.values() if id(one) not in rest)
                row = node.args[0] if node.args else None
                if isinstance(row, ast.Name):
                    values = [ast.Constant(key), ast.Name(row.id, ast.Load()), ast.Constant(keyword.arg)]
                    keyword.value = _call(changes, *values, keyword.value)
                else:
                    keyword.value = _call(runs, ast.Constant(key), keyword.value)
            elif (key, mutant) in comparisons:
                continue
            elif isinstance(node, ast.Name | ast.Attribute):
                marked = _call(is_other, ast.Constant(key), marked, _lambda([], after))
            else:
                marked = _call(runs, ast.Constant(key), marked)
        return self._compared(node, marked, comparisons) if comparisons else marked

    def _compared(self, node: ast.Compare, marked: Any, found: list[tuple[str, CallMutant]]) -> Any:
        if len(node.ops) > 1:
            for key, _ in found:
                marked = _call(runs, ast.Constant(key), marked)
            return marked
        left, right = ast.Name("left", ast.Load()), ast.Name("right", ast.Load())
        same = _lambda(["left", "right"], ast.Compare(left, node.ops, [right]))
        call = _call(compared, node.left, node.comparators[0], same)
        for key, mutant in found:
            other = mutant.after.comparators[0] if mutant.done[0] not in "<>" else right
            value = ast.Compare(left, mutant.after.ops, [other])
            call.keywords.append(ast.keyword(f"k{key}", _lambda(["left", "right"], value)))
        # a guard over the comparison has marked it already
        return _replaced(marked, node, call)


def _replaced(marked: Any, node: ast.AST, call: ast.expr) -> Any:
    if marked is node:
        return call
    marked.args[1] = _replaced(marked.args[1], node, call)
    return marked


def _call(mark: Callable[..., Any], *values: Any) -> ast.Call:
    return ast.Call(ast.Name(NAME.format(mark.__name__), ast.Load()), list(values), [])


def _lambda(names: list[str], body: ast.expr) -> ast.Lambda:
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    return ast.Lambda(arguments, body)
