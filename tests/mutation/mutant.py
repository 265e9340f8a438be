"""All mutants: of the conditions that the tests have sent, and of the calls and decisions in the source."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.mutation import condition_text, differences, logic, sites, steps
from tests.mutation.instrument import replace_function
from tests.mutation.wire import Seen, Wire


@dataclass(frozen=True)
class Mutant:
    """One change of the source.

    Attributes:
        where: the site of the condition, or the module and function of the calls or of the decision.
        done: the change.
        keys: of a decision, its key and that of its function's version; see `differences`.
    """

    where: str
    done: str
    condition: tuple[str, str, str] | None = None
    function: steps.CallMutant | None = None
    keys: tuple[str, str] | None = None

    @property
    def id(self) -> str:
        return f"{self.where} | {self.done}"

    @property
    def kind(self) -> str:
        return self.function.kind if self.function else "conditions"

    @property
    def module(self) -> str:
        return self.where.split(":")[0]

    def apply(self, wire: Wire) -> None:
        """Change this process."""
        if self.function is None:
            wire.mutant = self.condition
        else:
            replace_function(self.module, self.function.tree, self.function.function)


def all_of(seen: Iterable[Seen]) -> Iterator[Mutant]:
    """Yield the mutants of conditions that were seen, and those of the calls and decisions in the source."""
    source = trees()
    yield from of_conditions(seen)
    yield from of_calls(source)
    yield from of_logic(source)


def trees() -> dict[str, ast.Module]:
    return {module: ast.parse(path.read_text()) for module, path in sites.paths().items()}


def of_logic(source: dict[str, ast.Module]) -> Iterator[Mutant]:
    """Yield the mutants of the decisions."""
    for module, tree in source.items():
        if logic.decides(module):
            for mutant, *keys in differences.keys(module, tree):
                yield Mutant(f"{module}:{mutant.function}", mutant.done, None, mutant, tuple(keys))


def of_calls(source: dict[str, ast.Module]) -> Iterator[Mutant]:
    """Yield the mutants of the order of calls; the model makes none."""
    source = {module: tree for module, tree in source.items() if not module.startswith("model.")}
    effects = steps.Effects(steps.writing_methods(), source)
    for module, tree in source.items():
        if steps.is_step(module):
            for mutant in steps.mutants(module, tree, effects):
                yield Mutant(f"{module}:{mutant.function}", mutant.done, function=mutant)


def of_conditions(seen: Iterable[Seen]) -> Iterator[Mutant]:
    """Yield the mutants of the conditions that were seen at each site."""
    for (site, text), known in sorted(types_of(seen).items()):
        kind = site.split(":")[2].split("#")[0]
        found = (
            condition_text.key_mutants(text)
            if kind == "KeyCondition"
            else condition_text.mutants(text, known)
        )
        for changed, done in sorted(found.items()):
            yield Mutant(site, f"{text} → {changed or 'none'} ({done})", condition=(site, text, changed))


def types_of(seen: Iterable[Seen]) -> dict[tuple[str, str], dict[str, str]]:
    """Return the types of the values of each condition at its site.

    A damaged value may have several types. The first by name is used: a number, N, has more mutants than a
    text, S.
    """
    types: dict[tuple[str, str], dict[str, str]] = {}
    for site, text, values in seen:
        known = types.setdefault((site, text), {})
        known.update({name: min(kind, known.get(name, kind)) for name, kind in values})
    return types
