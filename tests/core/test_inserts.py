"""Compiled inserts: they store the same as the ORM, and `ignore_conflicts` works."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import DatabaseError, transaction
from django.db.models import F

from content.models import ModuleInstance, Post, PostModule
from proofroom.core.database.compiled_queries import Update, new_instance
from proofroom.core.database.inserts import (
    insert_ignoring_conflicts,
    insert_rows,
    insert_unless_conflict,
    upsert_rows,
)
from proofroom.core.models import Event
from tests import make

pytestmark = pytest.mark.django_db
PROPS: dict[str, object] = {
    "title": 'Kessel "über" \\ 100 % \n',
    "items": [1, 2.5, None, True, {"a": []}],
    "none": None,
}


def instance(**values: object) -> ModuleInstance:
    return ModuleInstance(id=uuid4(), type="hero", scope="local", **values)


def test_rows_of_several_tables_are_stored_as_they_are() -> None:
    post = make.post()
    module = instance(props=PROPS, label="Größe")
    place = PostModule(id=uuid4(), post=post, instance=module, order_index=7, overrides={})

    insert_rows([module], [], [place])

    stored = PostModule.objects.select_related("instance").get(pk=place.pk)
    assert stored.instance.props == PROPS
    assert (stored.instance.label, stored.instance.global_slug) == ("Größe", None)
    assert (stored.order_index, stored.locked, stored.post_id) == (7, False, post.pk)
    assert stored.instance.updated_at is not None
    assert not module._state.adding


def test_keys_that_the_database_gives_are_set_in_order() -> None:
    events = [Event(name="post.updated", payload={"number": number}) for number in range(3)]
    for event in events:
        event.actor_name, event.via = "anna", "api"
    insert_rows(events)
    keys = [event.pk for event in events]
    assert keys == sorted(keys)
    assert [Event.objects.get(pk=key).payload["number"] for key in keys] == [0, 1, 2]


def test_a_text_that_is_too_long_is_refused_not_cut() -> None:
    module = instance(props={}, label="x" * 300)
    if transaction.get_connection().vendor == "postgresql":
        with pytest.raises(DatabaseError), transaction.atomic():
            insert_rows([module])
        assert not ModuleInstance.objects.filter(pk=module.pk).exists()


def test_what_another_one_has_is_not_stored() -> None:
    post = make.post()
    other = Post(id=uuid4(), type=post.type, locale=post.locale, slug=post.slug, title="Other")
    assert not insert_unless_conflict(other)
    assert not Post.objects.filter(pk=other.pk).exists()
    other.slug = f"{post.slug}-2"
    assert insert_unless_conflict(other, [instance(props={})])
    assert Post.objects.get(pk=other.pk).title == "Other"


def test_updates_go_with_the_rows_and_without_any() -> None:
    first, second, third = (instance(props={}, label=name) for name in ("A", "B", "C"))
    insert_rows([first])
    label = Update(lambda id_, label: (ModuleInstance.objects.filter(pk=id_), {"label": label}))

    insert_rows([second], updates=[label.bound(first.pk, "A2")])
    insert_ignoring_conflicts(
        [first, third], updates=[label.bound(first.pk, "A3"), label.bound(second.pk, "B2")]
    )
    insert_ignoring_conflicts([], updates=[label.bound(third.pk, "C2")])

    ids = [first.pk, second.pk, third.pk]
    labels = dict(ModuleInstance.objects.filter(pk__in=ids).values_list("pk", "label"))
    assert [labels[id_] for id_ in ids] == ["A3", "B2", "C2"]


def test_updates_come_once_with_rows_of_several_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofroom.core.database.inserts._BATCH_SIZE", 2)
    counted = instance(props={}, version=1)
    insert_rows([counted])
    count = Update(
        lambda id_: (ModuleInstance.objects.filter(pk=id_), {"version": F("version") + 1})
    )

    insert_rows([instance(props={}) for _ in range(5)], updates=[count.bound(counted.pk)])
    insert_ignoring_conflicts(
        [instance(props={}) for _ in range(5)], updates=[count.bound(counted.pk)]
    )

    counted.refresh_from_db()
    assert counted.version == 3


def test_only_the_named_columns_are_written_over() -> None:
    module = instance(props={"title": "A"}, label="Before")
    insert_rows([module])
    module.props, module.label = {"title": "B"}, "After"
    upsert_rows([module], ["props"])
    upsert_rows([], ["props"])
    module.refresh_from_db()
    assert (module.props, module.label) == ({"title": "B"}, "Before")


def test_updates_beside_rows_answer_how_many_they_changed() -> None:
    insert_rows([instance(props={}, label="a"), instance(props={}, label="a")])
    relabel = Update(
        lambda label: (ModuleInstance.objects.filter(label=label), {"label": F("type")})
    )

    updates = [relabel.bound("a"), relabel.bound("nothing")]
    changed = insert_rows([instance(props={}), instance(props={})], updates=updates)

    assert changed == [2, 0]
    assert insert_rows([], updates=[relabel.bound("hero")]) == [2]


def test_rows_are_deleted_by_a_statement_that_sets_nothing() -> None:
    insert_rows([instance(props={}, label=label) for label in ("a", "b", "c")])
    forget = Update(lambda labels: (ModuleInstance.objects.filter(label__in=labels), None))

    assert forget.execute(["a", "b"]) == 2
    assert [*ModuleInstance.objects.values_list("label", flat=True)] == ["c"]


def test_an_object_that_is_made_plainly_is_what_the_model_makes() -> None:
    id_, post_id = uuid4(), uuid4()
    plain = new_instance(PostModule, id=id_, post_id=post_id, order_index=2)
    usual = PostModule(id=id_, post_id=post_id, order_index=2)

    assert {name: value for name, value in vars(plain).items() if name != "_state"} == {
        name: value for name, value in vars(usual).items() if name != "_state"
    }
    assert plain._state.adding
    another = new_instance(PostModule)
    assert another.overrides is not new_instance(PostModule).overrides or another.overrides is None
    assert new_instance(Event).uid != new_instance(Event).uid
