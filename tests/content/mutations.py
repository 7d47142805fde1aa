"""Values of every shipped module, and small changes of them, for the laws of the comparison."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from proofroom.definitions import ModuleProps, modules, props_of
from proofroom.definitions.props import Prop
from tests.content.test_richtext_roundtrip import DOCUMENT

IDS = [f"00000000-0000-4000-8000-{number:012d}" for number in range(3)]
TEXTS = st.lists(
    st.sampled_from(
        ["Brew", "slowly", "40", "€ 3", "not", "Anna", ".", "a", "\u200b", "l", "I", "é"]
    ),
    max_size=5,
).map(" ".join)


def values_of(prop: Prop) -> st.SearchStrategy[Any]:
    """Strategy for the values of a field, by its type."""
    if prop.kind == "richtext":
        return DOCUMENT
    if prop.kind in ("text", "textarea"):
        return TEXTS
    if prop.kind == "number":
        return st.sampled_from([0, 1, 2.5])
    if prop.kind == "boolean":
        return st.booleans()
    if prop.kind == "date":
        return st.sampled_from([None, "2030-01-01", "2030-01-02"])
    if prop.kind in ("url", "link"):
        return st.sampled_from(
            ["", "https://a.example/", "https://b.example/", "https://а.example/"]
        )
    if prop.kind in ("media", "post-reference", "taxonomy-reference"):
        return st.sampled_from([None, *IDS]) | st.lists(st.sampled_from(IDS), max_size=2)
    if prop.kind == "multiselect":
        return st.lists(st.sampled_from(["one", "two"]), max_size=2)
    if prop.kind == "repeater" and prop.nested is not None:
        return st.lists(props_strategy(prop.nested), max_size=3)
    if prop.kind == "object" and prop.nested is not None:
        return props_strategy(prop.nested)
    return st.sampled_from(["", "one", "two"])


def props_strategy(props: type[ModuleProps]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {}, optional={prop.name: values_of(prop) for prop in props_of(props).values()}
    )


ALL_PROPS = [(module.name, prop) for module in modules for prop in props_of(module.Props).values()]


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Prop, Any, Any]:
    """Strategy for a field of a shipped module and two values, often a small change of each other."""
    _, prop = draw(st.sampled_from(ALL_PROPS))
    before = draw(values_of(prop))
    if draw(st.booleans()):
        return prop, before, draw(values_of(prop))
    return prop, before, mutated(draw, before)


def mutated(draw: st.DrawFn, value: Any) -> Any:
    """Strategy for the value with one change at any depth."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        name = draw(st.sampled_from(sorted(value)))
        return {**value, name: mutated(draw, value[name])}
    if isinstance(value, list) and value:
        at = draw(st.integers(0, len(value) - 1))
        what = draw(st.integers(0, 3))
        if what == 0:
            return value[:at] + value[at + 1 :]
        if what == 1:
            return [*value[:at], value[at], *value[at:]]
        if what == 2:
            return value[::-1]
        return [*value[:at], mutated(draw, value[at]), *value[at + 1 :]]
    if isinstance(value, str):
        at = draw(st.integers(0, len(value)))
        sign = draw(
            st.sampled_from([" ", "\u200b", "x", "а", "1", "\n", ".", "\u00ad", "\U000e0041"])
        )
        return value[:at] + sign + value[at + draw(st.integers(0, 1)) :]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return draw(st.sampled_from(["", "one", IDS[0]]))
