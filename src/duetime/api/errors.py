"""Errors of the API itself. The module `problems` defines their HTTP form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from duetime.errors import DuetimeError, truncate


@dataclass(frozen=True, slots=True)
class Flaw:
    """One invalid part of a request, and its location."""

    where: str
    problem: str


class InvalidRequest(DuetimeError, ValueError):
    """The request is valid JSON, but the route rejects parts of it; the error lists every flaw."""

    code = "invalid-request"

    def __init__(self, flaws: Sequence[Flaw]) -> None:
        self.flaws = tuple(flaws)
        super().__init__(truncate("; ".join(f"{flaw.where} {flaw.problem}" for flaw in self.flaws)))


class RequestError(DuetimeError, ValueError):
    """A request that no route can answer: its body, its method or its precondition is wrong.

    Attributes:
        code: what is wrong, such as ``malformed-body``.
        headers: further headers of the response.
        members: further members of the problem.
    """

    def __init__(
        self,
        code: str,
        problem: str,
        *,
        headers: Mapping[str, str] | None = None,
        members: Mapping[str, object] | None = None,
    ) -> None:
        self.code, self.headers, self.members = code, headers or {}, members or {}
        super().__init__(problem)
