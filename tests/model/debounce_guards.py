"""The guards of debounce keys: what each write's condition or effect adds, by name.

The model can leave any of them out.
"""

from enum import StrEnum


class DebounceGuard(StrEnum):
    """What is kept, in the words of docs/protocol.md."""

    KEY_ABSENT = "take: the key is absent"
    KEY_AS_READ = "take over: the key is as read"
    NOT_BEGUN = "coalesce: no run has begun"
    PENDING = "coalesce: the row is pending"
    AS_READ = "coalesce: the generation is as read"
    RECOGNISED = "coalesce: the row names its latest calls"
    BOUND = "coalesce: not past the bound"


ALL_OF_DEBOUNCE = frozenset(DebounceGuard)

BREAKS_WITHOUT = {
    DebounceGuard.KEY_ABSENT: "two first calls at one instant schedule two actions",
    DebounceGuard.KEY_AS_READ: "two calls that find the former action begun schedule two",
    DebounceGuard.NOT_BEGUN: "a retry runs with the payload of a call that should have a run of its own",
    DebounceGuard.PENDING: "a call changes the payload of a run that has begun, and is lost",
    DebounceGuard.AS_READ: "of two calls at one instant, the payload of one is lost",
    DebounceGuard.RECOGNISED: "a call whose response was lost is merged or scheduled twice",
    DebounceGuard.BOUND: "calls put the action off for ever",
}
"""What happens without each guard."""
