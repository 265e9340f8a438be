"""Rows that a bound role may try to write: over every form of key, and every attribute that duetime reads."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.hostile.attributes import beside_rows, of_jobs, of_rows

TENANTS = ("acme", "globex", "system")
PLACES = (
    *(
        "3",
        "a",
        "payload#3",
        "key#3",
        "debounce#3",
        "slots#3",
        "tail#till",
        "kb-index",
        "kb-index#3",
        "kb-index#3#3",
        "nightly-purge",
    ),
    *("acme-report", "counts", "audit#job#kb-index", "preferences", "inbox", "grants", "3#", "", "10", "?"),
)
IDS = (
    *(
        "0199c1d2-1111-7111-8111-111111111113",
        "ffffffff-ffff-7fff-bfff-fffffffffff3",
        "3",
        "a b#c",
        "x" * 900,
    ),
    *("kb-index.e20260601T011500Z.0123456789abcde3", "nightly-purge.000001.20260601T031500Z", "a-b.e9"),
    *("kb-index.e99999999T999999Z.0123456789abcde3", "current#state", "current#definition", "order-17"),
)
TEXTS = (
    *("", " ", "system", "globex#order:7", "acme#order:7", "globex#3", "system#a", "pending", "processing"),
    *(
        "executed",
        "failed",
        "done",
        "0",
        "999",
        "-1",
        "x" * 3_000,
        "x" * 300_000,
        "\x1b[31m\x00",
        '"\\ud800"',
    ),
    *("[" * 5_000, "not json", "9" * 5_000, "NaN", "nightly-purge", "kb-index", "note", "refused"),
    *("1970-01-01T00:00:00.000000Z", "2026-01-01 00", "2199-12-31T23:59:59.000000Z", "9999-12-31T23:59:59Z"),
    *("2026-01-01T00:00:00.000000Z", "0001-01-01T00:00:00+14:00", "!", "~", "[3,[60],0.1,null]", "[1e400]"),
)
NUMBERS = ("-1", "0", "1", "1.5", "1E+125", "-9999999999", "99999999999999999999999999999999999999")
VALUES = st.one_of(
    st.sampled_from(TEXTS).map(lambda text: {"S": text}),
    st.text(max_size=40).map(lambda text: {"S": text}),
    st.sampled_from(NUMBERS).map(lambda number: {"N": number}),
    st.sampled_from(
        (
            *({"BOOL": True}, {"BOOL": False}, {"NULL": True}, {"L": []}, {"M": {}}, {"SS": ["a", "b"]}),
            *(
                {"B": b"\xff"},
                {"BS": [b"pending"]},
                {"NS": ["1"]},
                {"L": [{"S": "x"}]},
                {"M": {"q": {"N": "1"}}},
            ),
            {"L": [{"M": {name: {"S": "x"} for name in "qsi"}}] * 3},
        )
    ),
)
NAMES = (*sorted(of_rows() | beside_rows() | of_jobs()), "invented")


@dataclass(frozen=True)
class Forgery:
    """One write: an item, by PutItem or by UpdateItem."""

    tenant: str
    place: str
    id: str | None
    """None for a new one-shot's id that fits its partition."""
    changes: tuple[tuple[str, Any], ...]
    """Attributes with their values; None removes one."""
    is_update: bool = False

    @property
    def partition(self) -> str:
        """The partition key."""
        return f"{self.tenant}#{self.place}"


def forgeries() -> st.SearchStrategy[Forgery]:
    """Return all of them; half are in the right place, with one wrong attribute or a few."""
    changes = st.lists(st.tuples(st.sampled_from(NAMES), st.one_of(st.none(), VALUES)), max_size=4)
    anywhere = st.builds(
        Forgery,
        st.sampled_from(TENANTS),
        st.sampled_from(PLACES),
        st.one_of(st.none(), st.sampled_from(IDS)),
        changes.map(tuple),
        st.booleans(),
    )
    in_place = st.builds(
        Forgery, st.just("acme"), st.sampled_from("3a"), st.none(), changes.map(tuple), st.just(False)
    )
    return st.one_of(in_place, anywhere)
