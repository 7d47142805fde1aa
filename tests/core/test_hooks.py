"""Hooks and extension points."""

from __future__ import annotations

import pytest

from proofroom.core.hooks import ExtensionPoint, Hook


def test_functions_are_called_in_their_order_and_answer_in_it() -> None:
    doubled: Hook[[int], str] = Hook()

    @doubled.register
    def second(number: int) -> str:
        return f"second {2 * number}"

    doubled.register(lambda number: f"first {number}", order=-1)
    doubled.register(second)

    assert doubled(4) == ["first 4", "second 8"]


def test_what_one_raises_ends_the_call() -> None:
    called: list[str] = []
    hook: Hook[[], None] = Hook()
    hook.register(lambda: called.append("first"))
    hook.register(lambda: [][0])
    hook.register(lambda: called.append("third"))

    with pytest.raises(IndexError):
        hook()
    assert called == ["first"]


def test_a_name_leads_to_one_item() -> None:
    colours: ExtensionPoint[str] = ExtensionPoint()
    colours.register("red", name="stop")
    colours.register("red", name="stop")
    colours.register("green", name="go")

    assert (list(colours), colours.get("go"), colours.get("wait")) == (
        ["red", "green"],
        "green",
        None,
    )
    colours.register("blue", name="go")
    assert (list(colours), colours.get("go")) == (["red", "blue"], "blue")


def test_what_is_registered_temporarily_is_gone_afterwards() -> None:
    colours: ExtensionPoint[str] = ExtensionPoint()
    colours.register("red", name="stop")

    with colours.registered_temporarily("amber", "blue"):
        assert list(colours) == ["red", "amber", "blue"]
    with colours.registered_temporarily("amber", name="stop"):
        assert (list(colours), colours.get("stop")) == (["amber"], "amber")
    with colours.registered_temporarily("blue", alone=True):
        assert list(colours) == ["blue"]

    assert list(colours) == ["red"]
