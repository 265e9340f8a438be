"""The decisions of the steps and of the model, and the functions that lack a part of one or have another.

::

    guard    an `if` that leaves the function or the loop is never taken
    operand  an operand of `and` or `or` is missing, unless the types of the code need it
    bound    a comparison has the other bound, or another number; but at the end of a pass, and of an age
             that a constant limits, either bound is right
    write    a write of a keyed item has no guard
    field    a field of a changed row keeps its former value
    instant  in the code of leases and claims, another instant of the function is used
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from tests.mutation import steps
from tests.mutation.steps import CallMutant, Function, functions_of, line

ROOMS = (*steps.STEPS, "model", "ports")
"""The packages whose functions decide."""

BOUNDS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}
EITHER_BOUND = re.compile(r".+ stop_at|(self\._clock\.now\(\)|now) - \S+(\(.*\))? [<>]=? ([\w.]+\.)?[A-Z_]+")
"""The end of a pass, and the age from which it looks again: at the very instant, either is right."""
COUNTS = (*BOUNDS, ast.Eq, ast.NotEq)
"""The comparisons whose number may be another one."""

CHANGES = frozenset({"replace", "with_fields"})
"""The functions that return a row with some other fields."""

LEASES = re.compile(r"worker\.|model\.(lease|transition|hand_over|slots|rate_limit|expiry|debounce)$")
"""The modules in which an instant may be mistaken for another one."""

INSTANT = re.compile(r"(.+_)?(now|at|until|since|before)|elapsed|deadline|nominal")
"""The names of instants."""

Change = tuple[str, ast.AST, ast.AST]
"""What was done, the node, and what stands in its place."""


def decides(module: str) -> bool:
    return module.partition(".")[0] in ROOMS


def mutants(module: str, tree: ast.Module) -> Iterator[CallMutant]:
    """Yield the mutants of each function of a module."""
    for path, function in functions_of(tree):
        counts = Counter[str]()
        changes = [*_decisions(function), *(_instants(function) if LEASES.match(module) else ())]
        for done, before, after in changes:
            counts[done] += 1
            numbered = done if counts[done] == 1 else f"{done} ({counts[done]})"
            yield CallMutant(module, path, numbered, tree, before, after, kind="logic")


def _decisions(function: Function) -> Iterator[Change]:
    narrowed = dict(_narrowed_code(function))
    for node in _inside(function):
        if isinstance(node, ast.If) and isinstance(node.body[-1], LEAVES):
            never = ast.BoolOp(ast.And(), [node.test, ast.Constant(False)])
            yield f"never if {line(node.test)}", node.test, never
        elif isinstance(node, ast.keyword) and node.arg == "guard":
            yield f"without guard={line(node.value)}", node.value, ast.Tuple([], ast.Load())
        elif isinstance(node, ast.BoolOp):
            yield from _without_operands(node, narrowed.get(id(node)))
        elif isinstance(node, ast.Compare):
            yield from _other_bounds(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CHANGES:
            yield from _without_fields(node)


DEFAULT = re.compile(r"\{\}|\[\]|\(\)|([\w.]+\.)?[A-Z_]+(\.\w+\(\))?|\w+\((0|'')?\)")
"""What stands for nothing: an empty value, a named constant, ``timedelta(0)``."""

LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def _inside(function: Function) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body; annotations and defaults decide nothing."""
    for statement in function.body:
        yield from ast.walk(statement)


def _narrowed_code(function: Function) -> Iterator[tuple[int, list[ast.AST]]]:
    """Yield each test with the code that runs only after it: its operands may give that its types.

    After `and`, that is the code under the test; after `or`, the code that a met test leaves.
    """
    for node in _inside(function):
        if isinstance(node, ast.comprehension):
            yield from ((id(test), [function]) for test in node.ifs)
        elif isinstance(node, ast.If | ast.IfExp):
            is_all = isinstance(getattr(node.test, "op", None), ast.And)
            under = node.body if is_all else node.orelse
            code = list(under) if isinstance(under, list) else [under]
            if not is_all and isinstance(node, ast.If) and isinstance(node.body[-1], LEAVES):
                last = node.end_lineno or node.lineno
                code += [later for later in _inside(function) if getattr(later, "lineno", 0) > last]
            yield id(node.test), code


def _without_operands(node: ast.BoolOp, narrowed: list[ast.AST] | None) -> Iterator[Change]:
    """Yield the whole without each operand.

    Args:
        node: the whole.
        narrowed: the code that runs only after it; None if its value is used.
    """
    word = "and" if isinstance(node.op, ast.And) else "or"
    for place, operand in enumerate(node.values):
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(operand)):
            continue  # the other operands use its name
        is_last = word == "or" and narrowed is None and operand is node.values[-1]
        if isinstance(operand, ast.Constant) or (is_last and DEFAULT.fullmatch(ast.unparse(operand))):
            continue  # a default, which the type of the whole needs
        rest = [*node.values[:place], *node.values[place + 1 :]]
        if any(_needs_type(code, operand) for code in (*rest, *(narrowed or ()))):
            continue  # the type checker notices that
        after = rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)
        yield f"without {line(operand)} {word}: {line(node)}", node, after


def _needs_type(code: ast.AST, operand: ast.expr) -> bool:
    """Return whether code needs the type that an operand gives.

    Such are ``x is None`` and ``isinstance(x, Action)`` before any use of ``x``, and ``x`` before ``x.y``.
    """
    if isinstance(operand, ast.UnaryOp):
        return _needs_type(code, operand.operand)
    nodes = [node for node in ast.walk(code) if isinstance(node, ast.Name | ast.Attribute | ast.Subscript)]
    if isinstance(operand, ast.Name):
        parts = [node.value for node in nodes if not isinstance(node, ast.Name)]
        return operand.id in {part.id for part in parts if isinstance(part, ast.Name)}
    if isinstance(operand, ast.Compare) and isinstance(operand.ops[0], ast.Is | ast.IsNot):
        is_none = isinstance(operand.comparators[0], ast.Constant) and operand.comparators[0].value is None
        checked = ast.unparse(operand.left) if is_none else None
    elif isinstance(operand, ast.Call) and ast.unparse(operand.func) == "isinstance":
        checked = ast.unparse(operand.args[0])
    else:
        return False
    return checked in map(ast.unparse, nodes)


def _other_bounds(node: ast.Compare) -> Iterator[Change]:
    is_free = EITHER_BOUND.fullmatch(ast.unparse(node))
    for place, (sign, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
        if type(sign) in BOUNDS and not is_free:
            other = BOUNDS[type(sign)]
            signs = [*node.ops[:place], other(), *node.ops[place + 1 :]]
            after = ast.Compare(node.left, signs, node.comparators)
            yield f"{SIGNS[type(sign)]} became {SIGNS[other]}: {line(node)}", node, after
        if isinstance(right, ast.Constant) and type(right.value) is int and isinstance(sign, COUNTS):
            # the other sign is the step in the other direction
            step = -1 if isinstance(sign, ast.Lt | ast.GtE) else 1
            number = ast.Constant(right.value + step)
            numbers = [*node.comparators[:place], number, *node.comparators[place + 1 :]]
            after = ast.Compare(node.left, node.ops, numbers)
            yield f"{right.value} became {number.value}: {line(node)}", node, after


def _without_fields(node: ast.Call) -> Iterator[Change]:
    for place, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            rest = [*node.keywords[:place], *node.keywords[place + 1 :]]
            after = ast.Call(node.func, node.args, rest)
            yield f"without the field {keyword.arg}: {line(node)}", node, after


def _instants(function: Function) -> Iterator[Change]:
    """Yield the function with another of its instants, at each place that uses one."""
    given = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    uses = [node for node in _loads(function) if isinstance(node, ast.Name | ast.Attribute)]
    bound = _first_lines(function) | dict.fromkeys(given, 0)
    for node in uses:
        known = {
            ast.unparse(other)
            for other in uses
            if bound.get(_root(other), node.lineno) < node.lineno or _root(other) in given
        } | {name for name in given if INSTANT.fullmatch(name)}
        text = ast.unparse(node)
        if text in {"since", "elapsed"} and "self" in given:
            known = {"self._clock.elapsed()"}
        if others := sorted(known - {text}):
            after = ast.parse(_next(others, text), mode="eval").body
            yield f"{ast.unparse(after)} for {text}", node, after


def _next(others: list[str], text: str) -> str:
    """Return the next text in their order, so that each stands for another one."""
    return next((other for other in others if other > text), others[0])


def _loads(function: Function) -> Iterator[ast.AST]:
    called = {id(node.func) for node in _inside(function) if isinstance(node, ast.Call)}
    for node in _inside(function):
        name = getattr(node, "attr", None) or getattr(node, "id", None)
        is_read = isinstance(getattr(node, "ctx", None), ast.Load) and id(node) not in called
        if name and is_read and INSTANT.fullmatch(name):
            yield node


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _first_lines(function: Function) -> dict[str, int]:
    """Return the line in which each local is bound first."""
    lines: dict[str, int] = {}
    for node in _inside(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            lines[node.id] = min(node.lineno, lines.get(node.id, node.lineno))
    return lines
