"""A patch replaces a function of moto within its block only."""

import pytest

from tests.emulated import moto_patches


class Owner:
    def name(self):
        return "own"


def fail_within(patch, instance):
    with patch:
        assert instance.name() == "replaced own"
        raise ValueError("stop")


@pytest.mark.parametrize("is_class", [True, False])
def test_a_patch_is_undone_after_its_block_even_after_an_error(is_class):
    instance = Owner()
    owner = Owner if is_class else instance
    before = dict(vars(owner))
    patch = moto_patches.replaced(owner, "name", lambda original: lambda *self: f"replaced {original(*self)}")
    with pytest.raises(ValueError, match="stop"):
        fail_within(patch, instance)
    assert dict(vars(owner)) == before
