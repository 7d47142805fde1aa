"""`migrate` renders a new model alone, and the models that it refers to know of it."""

from __future__ import annotations

from django.db import models
from django.db.migrations.state import ModelState, ProjectState

from proofroom.core.management.commands.migrate import new_models_rendered_alone


def model_state(model: str, **fields: models.Field) -> ModelState:
    return ModelState(
        "library", model, [("id", models.AutoField(primary_key=True)), *fields.items()]
    )


def library() -> ProjectState:
    """Return a state whose models are rendered."""
    state = ProjectState()
    state.add_model(model_state("Author"))
    state.add_model(model_state("Book", author=models.ForeignKey("library.Author", models.CASCADE)))
    assert len(state.apps.get_models()) == 2
    return state


def names_of_related(state: ProjectState, name: str) -> set[str]:
    related = state.apps.get_model("library", name)._meta.related_objects
    return {relation.related_model.__name__ for relation in related}


def test_a_new_model_leaves_the_rendered_ones_as_they_are() -> None:
    state = library()
    before = [state.apps.get_model("library", name) for name in ("Author", "Book")]
    prize = model_state("Prize", author=models.ForeignKey("library.Author", models.CASCADE))

    with new_models_rendered_alone():
        state.add_model(prize)

    assert [state.apps.get_model("library", name) for name in ("Author", "Book")] == before
    assert names_of_related(state, "Author") == {"Book", "Prize"}
    field = state.apps.get_model("library", "Prize")._meta.get_field("author")
    assert field.related_model is before[0]
    assert state.relations["library", "author"].keys() == {
        ("library", "book"),
        ("library", "prize"),
    }


def test_a_replaced_model_is_rendered_with_all_that_refer_to_it() -> None:
    state = library()
    author = model_state("Author", name=models.TextField())

    with new_models_rendered_alone():
        state.add_model(author)

    book = state.apps.get_model("library", "Book")
    assert book._meta.get_field("author").related_model is state.apps.get_model("library", "Author")
    assert "name" in {
        field.name for field in state.apps.get_model("library", "Author")._meta.fields
    }


def test_a_state_of_before_does_not_get_the_new_model() -> None:
    state = library()
    with new_models_rendered_alone():
        before = state.clone()
        state.add_model(model_state("Prize"))

    assert {model.__name__ for model in before.apps.get_models()} == {"Author", "Book"}


def test_django_has_its_own_way_again_after_the_command() -> None:
    own = ProjectState.add_model
    with new_models_rendered_alone():
        assert ProjectState.add_model is not own
    assert ProjectState.add_model is own
