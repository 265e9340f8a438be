"""A condition of DynamoDB as a tree, and the conditions that lack a part of it or have another one."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

TOKEN = re.compile(r"\s*(<>|<=|>=|[=<>(),]|[#:]?\w+(?:\[\d+\])?(?:\.[#:]?\w+(?:\[\d+\])?)*)")
SWAPPED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "=": "<>", "<>": "="}
OPPOSITES = {
    "attribute_exists": "attribute_not_exists",
    "attribute_not_exists": "attribute_exists",
}
ALWAYS = "(attribute_exists(pk) OR attribute_not_exists(pk))"
"""A condition that holds for all items: a check in a transaction needs one."""
MORE = ":more"
"""Stands for the third and the further ones of alternatives that differ by the numbers in their names."""
_REFERENCE = re.compile(r"[#:]\w+")
_NUMBERS = re.compile(r"_?\d+")


@dataclass(frozen=True)
class Atom:
    """A comparison or a function: its words, such as ``fence = :fence`` or ``contains ( holders , :id )``."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        text = " ".join(self.words)
        for spaced, close in ((" ( ", "("), (" )", ")"), (" ,", ",")):
            text = text.replace(spaced, close)
        return text.replace("IN(", "IN (")

    @property
    def operator(self) -> int | None:
        """The position of its comparison."""
        return next((place for place, word in enumerate(self.words) if word in SWAPPED), None)


@dataclass(frozen=True)
class Not:
    """A negation."""

    part: "Tree"

    def __str__(self) -> str:
        return f"NOT {in_brackets(self.part)}"


@dataclass(frozen=True)
class Group:
    """Parts that ``AND`` or ``OR`` joins."""

    word: str
    parts: tuple["Tree", ...]

    def __str__(self) -> str:
        return f" {self.word} ".join(in_brackets(part) for part in self.parts)


Tree = Atom | Not | Group


def in_brackets(tree: Tree) -> str:
    return f"({tree})" if isinstance(tree, Group) else str(tree)


def parse(text: str) -> Tree:
    """Return the tree of a condition.

    Raises:
        ValueError: the text is no condition.
    """
    words = TOKEN.findall(text)
    if "".join(words) != re.sub(r"\s", "", text):
        raise ValueError(f"not a condition: {text!r}")
    tree, rest = _group(words, "OR")
    if rest:
        raise ValueError(f"not a condition from {rest[0]!r} on: {text!r}")
    return tree


@dataclass(frozen=True)
class Form:
    """A condition without the numbers in its names, which requests of one kind do not share.

    So ``#started_60_5 <= :started_60_50`` has the same mutants at any rate, and
    ``(kind = :kind0) OR (kind = :kind1) OR (kind = :kind2)`` however many kinds there are.

    Attributes:
        text: the condition.
        names: each name of the request, by its name in the form.
    """

    text: str
    names: dict[str, str]

    @classmethod
    def of(cls, text: str, values: Iterable[str] = ()) -> "Form":
        """Return the form of a condition in a request with these values."""
        further = _further(text)
        more = {MORE: further} if further else {}
        short = text.replace(further, MORE) if further else text
        names = [name for name in _REFERENCE.findall(short) if name != MORE]
        names += sorted({*values} - {*_REFERENCE.findall(further)})
        numbered = dict[str, str]()
        for name in dict.fromkeys(names):
            plain = _NUMBERS.sub("", name)
            same = sum(_NUMBERS.sub("", other) == plain for other in numbered)
            numbered[name] = f"{plain}{same + 1}" if same else plain
        return cls(
            _REFERENCE.sub(lambda found: numbered.get(found[0], found[0]), short),
            {form: name for name, form in numbered.items()} | more,
        )

    def filled(self, text: str) -> str | None:
        """Return another text of the form as the request needs it; None if it lacks a value of it."""
        names = _REFERENCE.findall(text)
        if not self.names.keys() >= {*names}:
            return None
        return _REFERENCE.sub(lambda found: self.names[found[0]], text)


def _further(text: str) -> str:
    """Return the third and the further ones of alternatives that differ by the numbers in their names."""
    parts = text.split(" OR ")
    return " OR ".join(parts[2:]) if len({_NUMBERS.sub("", part) for part in parts}) == 1 else ""


def _group(words: list[str], joint: str) -> tuple[Tree, list[str]]:
    part, rest = _group(words, "AND") if joint == "OR" else _negation(words)
    parts = [part]
    while rest[:1] == [joint]:
        part, rest = _group(rest[1:], "AND") if joint == "OR" else _negation(rest[1:])
        parts.append(part)
    return (parts[0] if len(parts) == 1 else Group(joint, tuple(parts))), rest


def _negation(words: list[str]) -> tuple[Tree, list[str]]:
    if words[:1] == ["NOT"]:
        part, rest = _negation(words[1:])
        return Not(part), rest
    if words[:1] == ["("]:
        tree, rest = _group(words[1:], "OR")
        if rest[:1] != [")"]:
            raise ValueError("a bracket is not closed")
        return tree, rest[1:]
    return _atom(words)


def _atom(words: list[str]) -> tuple[Tree, list[str]]:
    end = _operand(words, 0)
    if words[end : end + 1] == ["BETWEEN"]:
        end = _operand(words, _operand(words, end + 1) + 1)
    elif words[end : end + 1] == ["IN"]:
        end = words.index(")", end) + 1
    elif words[end : end + 1] and words[end] in SWAPPED:
        end = _operand(words, end + 1)
    elif end == 1 and words[0] != MORE:
        raise ValueError(f"no comparison: {' '.join(words)}")
    return Atom(tuple(words[:end])), words[end:]


def _operand(words: list[str], start: int) -> int:
    if not words[start:] or not re.match(r"[#:]?\w", words[start]):
        raise ValueError(f"no operand: {' '.join(words[start:])!r}")
    return words.index(")", start) + 1 if words[start + 1 : start + 2] == ["("] else start + 1


def mutants(text: str, types: dict[str, str]) -> dict[str, str]:
    """Return the mutants of a condition of a write, or of a filter: each text, and what was done.

    Args:
        text: the condition.
        types: the type of each value of the request, such as ``{":now": "S"}``.
    """
    tree, found = parse(text), dict[str, str]()
    for mutant, done in _mutated(tree, types):
        found.setdefault(str(mutant), done)
    found["" if text else text] = "drop the condition"
    found.pop(str(tree), None)
    return found


def key_mutants(text: str) -> dict[str, str]:
    """Return those of a key's condition: DynamoDB requires the partition, and knows few forms."""
    tree, found = parse(text), dict[str, str]()
    if not isinstance(tree, Group):
        return found
    partition, sort_key = tree.parts
    found[str(partition)] = f"drop {sort_key}"
    if isinstance(sort_key, Atom):
        for other, done in _key_comparisons(sort_key):
            found[str(Group("AND", (partition, other)))] = done
    return found


def _key_comparisons(atom: Atom) -> Iterator[tuple[Atom, str]]:
    words = atom.words
    if "BETWEEN" in words:
        name, _, first, _, last = words
        yield Atom((name, ">=", first)), f"without the end: {atom}"
        yield Atom((name, "<=", last)), f"without the start: {atom}"
    elif (place := atom.operator) is not None and words[place] in {"<", "<=", ">", ">="}:
        swapped = SWAPPED[words[place]]
        yield Atom((*words[:place], swapped, *words[place + 1 :])), f"{words[place]} became {swapped}: {atom}"


def _mutated(tree: Tree, types: dict[str, str]) -> Iterator[tuple[Tree, str]]:
    if isinstance(tree, Atom):
        yield from _mutated_atom(tree, types)
        return
    if isinstance(tree, Not):
        yield tree.part, f"drop NOT: {tree}"
        yield from ((Not(part), done) for part, done in _mutated(tree.part, types))
        return
    for place, part in enumerate(tree.parts):
        if str(part) == MORE:
            continue  # they are like those before
        before, after = tree.parts[:place], tree.parts[place + 1 :]
        rest = (*before, *after)
        yield (rest[0] if len(rest) == 1 else replace(tree, parts=rest)), f"drop {part}"
        for other, done in _mutated(part, types):
            yield replace(tree, parts=(*before, other, *after)), done
    other_word = "OR" if tree.word == "AND" else "AND"
    yield replace(tree, word=other_word), f"{tree.word} became {other_word}: {tree}"


def _mutated_atom(atom: Atom, types: dict[str, str]) -> Iterator[tuple[Tree, str]]:
    words, place = atom.words, atom.operator
    if words[0] in OPPOSITES:
        yield Atom((OPPOSITES[words[0]], *words[1:])), f"negate {atom}"
        return
    yield from _other_comparisons(atom, types)
    if place is None or words[place] != "=":
        yield Not(atom), f"negate {atom}"
    for at, word in enumerate(words):
        if other := _other_value(word, types):
            yield Atom((*words[:at], other, *words[at + 1 :])), f"{other} for {word}: {atom}"


def _other_comparisons(atom: Atom, types: dict[str, str]) -> Iterator[tuple[Tree, str]]:
    words, place = atom.words, atom.operator
    if place is None:
        return
    is_ordered = words[place] == "=" and types.get(words[-1]) == "N"
    for other in (SWAPPED[words[place]], *(("<=", ">=") if is_ordered else ())):
        yield Atom((*words[:place], other, *words[place + 1 :])), f"{words[place]} became {other}: {atom}"


def _other_value(word: str, types: dict[str, str]) -> str | None:
    """Return the first other value of the request that has the same type."""
    others = (name for name in sorted(types) if name != word and types[name] == types.get(word))
    return next(others, None)
