"""Large frozen dataclasses whose fields are set in one step behave as generated ones."""

import copy
import pickle
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields, replace

import pytest

from duetime.memory.store import MemoryStore
from duetime.model.action import Action, Status
from duetime.model.quick_fields import quick_fields, with_fields
from duetime_contract.specimens import fresh

ACTION = fresh(MemoryStore())


def values(action):
    return {field.name: getattr(action, field.name) for field in fields(action)}


def test_fields_that_are_not_given_have_their_defaults():
    required = {field.name: "x" for field in fields(Action) if field.default is MISSING}
    made = Action(**required)
    defaults = {field.name: field.default for field in fields(Action) if field.name not in required}
    assert values(made) == defaults | required
    assert "fence" in defaults


def test_actions_are_equal_if_their_values_are_however_they_were_made():
    spelled_out = Action(**values(ACTION))
    for same in (spelled_out, copy.copy(ACTION), copy.deepcopy(ACTION), pickle.loads(pickle.dumps(ACTION))):  # noqa: S301 - its own
        assert (same, hash(same), repr(same)) == (ACTION, hash(ACTION), repr(ACTION))
    assert with_fields(ACTION, fence=3) != ACTION


def test_a_copy_has_other_values_of_the_named_fields_alone():
    changed = {"status": Status.PROCESSING, "fence": 7}
    copied = with_fields(ACTION, **changed)
    assert copied == replace(ACTION, **changed)
    assert values(copied) == values(ACTION) | changed
    assert ACTION.status is Status.PENDING


def test_an_action_stays_frozen():
    with pytest.raises(FrozenInstanceError):
        ACTION.fence = 1
    with pytest.raises(FrozenInstanceError):
        with_fields(ACTION, fence=2).fence = 1


@pytest.mark.parametrize("make", [Action, with_fields], ids=["made", "copied"])
def test_an_unknown_field_is_rejected_by_name(make):
    arguments = () if make is Action else (ACTION,)
    with pytest.raises(TypeError, match="fnce"):
        make(*arguments, **values(ACTION), fnce=1)


def test_a_missing_field_is_rejected_by_name():
    given = values(ACTION)
    del given["due_shard"]
    with pytest.raises(TypeError, match="due_shard"):
        Action(**given)


def test_a_class_that_needs_its_generated_constructor_is_rejected():
    @dataclass(frozen=True, kw_only=True)
    class WithFactory:
        names: list[str] = field(default_factory=list)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class WithSlots:
        name: str = ""

    @dataclass(frozen=True, kw_only=True)
    class Checked:
        name: str = ""

        def __post_init__(self):
            raise AssertionError(self.name)

    for cls in (WithFactory, WithSlots, Checked):
        with pytest.raises(TypeError, match=f"{cls.__name__} needs its generated constructor"):
            quick_fields(cls)
