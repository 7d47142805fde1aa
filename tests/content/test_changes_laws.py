"""The laws of diff, apply and merge."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from content.document.changes import ABSENT, apply, diff, merge, same, value_at
from content.document.document import ModuleDocument, PostDocument
from tests.content.documents import documents, modules, sides

many = settings(max_examples=50, deadline=None)
Sides = tuple[PostDocument, PostDocument, PostDocument]


def equal(one: PostDocument, other: PostDocument) -> bool:
    return len(diff(one, other)) == 0 and same(one.to_json(), other.to_json())


@many
@given(documents(), documents())
def test_applying_the_diff_gives_the_other_document(a: PostDocument, b: PostDocument) -> None:
    assert equal(apply(a, diff(a, b)), b)


@many
@given(documents())
def test_a_document_does_not_differ_from_itself(a: PostDocument) -> None:
    assert len(diff(a, a)) == 0


@many
@given(documents(), documents())
def test_json_there_and_back_is_the_same(a: PostDocument, b: PostDocument) -> None:
    assert PostDocument.from_json(a.to_json()).modules == a.modules
    assert len(
        diff(PostDocument.from_json(a.to_json()), PostDocument.from_json(b.to_json()))
    ) <= len(diff(a, b))


@many
@given(sides())
def test_a_side_that_changed_nothing_leaves_the_other(three: Sides) -> None:
    base, ours, theirs = three

    assert equal(merge(base, base, theirs).document, theirs)
    assert equal(merge(base, ours, base).document, ours)
    assert merge(base, base, theirs).conflicts == ()


@many
@given(sides())
def test_two_equal_sides_never_conflict(three: Sides) -> None:
    base, ours, _ = three

    merged = merge(base, ours, ours)

    assert equal(merged.document, ours)
    assert merged.conflicts == ()


@many
@given(sides())
def test_merging_again_changes_nothing(three: Sides) -> None:
    base, ours, theirs = three

    once = merge(base, ours, theirs)
    twice = merge(base, once.document, theirs)

    assert equal(twice.document, once.document)
    assert {conflict.path for conflict in twice.conflicts} <= {c.path for c in once.conflicts}


@many
@given(sides())
def test_every_change_is_taken_or_a_conflict(three: Sides) -> None:
    base, ours, theirs = three

    merged = merge(base, ours, theirs)

    conflicts = {conflict.path for conflict in merged.conflicts}
    for change in diff(base, theirs):
        if change.kind != "moved" and change.path not in conflicts:
            assert same(value_at(merged.document, change.path), change.after)


@many
@given(sides())
def test_a_conflict_keeps_our_value(three: Sides) -> None:
    base, ours, theirs = three

    merged = merge(base, ours, theirs)

    for conflict in merged.conflicts:
        if not conflict.path.endswith(".position"):
            assert same(value_at(merged.document, conflict.path), value_at(ours, conflict.path))


@many
@given(sides())
def test_preferring_theirs_leaves_nothing_of_theirs_out(three: Sides) -> None:
    base, ours, theirs = three

    merged = merge(base, ours, theirs, prefer="theirs").document

    for change in diff(base, theirs):
        if change.kind != "moved":
            assert same(value_at(merged, change.path), change.after)


@many
@given(documents(), st.data())
def test_an_added_module_marks_no_other(base: PostDocument, data: st.DataObject) -> None:
    new = data.draw(modules("new"))
    index = data.draw(st.integers(0, len(base.modules)))

    changes = diff(base, base.with_module(new, index))

    assert changes.paths == ("modules.new",)


@many
@given(documents(), documents(), st.data())
def test_taking_changes_in_two_parts_leaves_nothing_over(
    a: PostDocument, b: PostDocument, data: st.DataObject
) -> None:
    changes = diff(a, b)
    chosen = (
        set(data.draw(st.lists(st.sampled_from(changes.paths), unique=True)))
        if changes.paths
        else set()
    )

    half = apply(a, changes.only(chosen))
    rest = merge(a, half, b).document

    for change in changes:
        if change.kind != "moved":
            assert same(value_at(rest, change.path), change.after)
    assert set(rest.order) == set(b.order)


def test_a_swap_of_two_is_one_move() -> None:
    one, two, three = (ModuleDocument(id=id_, type="hero", instance_id=id_) for id_ in "123")
    base = PostDocument("blog", "en", {}, (one, two, three))

    changes = diff(base, replace(base, modules=(two, one, three)))

    assert [(change.kind) for change in changes] == ["moved"]


def test_an_absent_prop_is_not_null() -> None:
    one = PostDocument("blog", "en", {}, (ModuleDocument("1", "hero", "1", props={"a": None}),))
    other = PostDocument("blog", "en", {}, (ModuleDocument("1", "hero", "1", props={}),))

    (change,) = diff(one, other)

    assert (change.before, change.after) == (None, ABSENT)
    assert apply(one, diff(one, other)) == other


def test_true_is_not_one() -> None:
    one = PostDocument("blog", "en", {"robotsJson": {"index": True}})
    other = PostDocument("blog", "en", {"robotsJson": {"index": 1}})

    assert diff(one, other).paths == ("post.robotsJson",)
