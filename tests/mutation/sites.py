"""The places in the source that give DynamoDB a condition, and the source with each of them marked."""

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
KINDS = ("ConditionExpression", "KeyConditionExpression", "FilterExpression")
MARK, HIT = "__mutation_mark__", "__mutation_hit__"

ROOMS = (
    *("aws", "worker", "wakeups", "jobs", "actions", "events"),
    *("notifications", "undelivered", "model", "ports"),
)
"""The packages on the roads of an action and of a job, the facts that they decide by, and keyed items."""

MODULES = ("scheduler",)
"""Modules beside them."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def paths() -> dict[str, Path]:
    """Return the source of each module that is mutated, by the module's name below the package."""
    root = SOURCE / "duetime"
    files = [path for room in ROOMS for path in sorted((root / room).rglob("*.py"))]
    files += [root / f"{module.replace('.', '/')}.py" for module in MODULES]
    return {".".join(path.relative_to(root).with_suffix("").parts): path for path in files}


def condition_sites(module: str, tree: ast.Module) -> dict[str, ast.expr]:
    """Return the expression of each condition in a module, by the name of its site."""
    finder = _Finder(module)
    finder.visit(tree)
    return finder.sites


class _Finder(ast.NodeTransformer):
    """Finds the conditions, and marks them if it is to."""

    def __init__(self, module: str, *, marks: bool = False) -> None:
        self._module, self._marks, self._path = module, marks, list[str]()
        self.sites = dict[str, ast.expr]()

    def _scope(self, node: Function | ast.ClassDef) -> ast.AST:
        self._path.append(node.name)
        self.generic_visit(node)
        if self._marks and not isinstance(node, ast.ClassDef):
            _insert_hit(node, f"{self._module}:{'.'.join(self._path)}")
        self._path.pop()
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _scope  # noqa: N815 - names of `ast`

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        for place, key in enumerate(node.keys):
            if isinstance(key, ast.Constant) and key.value in KINDS:
                node.values[place] = self._site(str(key.value), node.values[place])
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        if node.arg in KINDS:
            node.value = self._site(node.arg, node.value)
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        for target in node.targets:
            key = target.slice if isinstance(target, ast.Subscript) else None
            if isinstance(key, ast.Constant) and key.value in KINDS:
                node.value = self._site(str(key.value), node.value)
        return self.generic_visit(node)

    def _site(self, kind: str, value: ast.expr) -> ast.expr:
        name = f"{self._module}:{'.'.join(self._path)}:{kind.removesuffix('Expression')}"
        number = sum(site.split("#")[0] == name for site in self.sites)
        site = f"{name}#{number + 1}" if number else name
        self.sites[site] = value
        if not self._marks:
            return value
        call = ast.Call(ast.Name(MARK, ast.Load()), [value, ast.Constant(site)], [])
        return ast.copy_location(call, value)


def _insert_hit(node: Function, name: str) -> None:
    has_docstring = ast.get_docstring(node, clean=False) is not None
    call = ast.Expr(ast.Call(ast.Name(HIT, ast.Load()), [ast.Constant(name)], []))
    node.body.insert(1 if has_docstring else 0, ast.copy_location(call, node.body[0]))


def marked(module: str, tree: ast.Module) -> ast.Module:
    """Return the tree of a module in which each condition bears its site, and each call is counted."""
    return ast.fix_missing_locations(_Finder(module, marks=True).visit(tree))
