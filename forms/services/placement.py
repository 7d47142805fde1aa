"""Add a form to a page: to a draft at once, to a published page as a change in Review."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.db.transaction import atomic
from django.utils.translation import gettext as _

from content.document.document import PostDocument
from content.layers import stage
from content.models import Layer, Post, Status
from content.posts.edit import edit_post
from content.store.document_edits import add_module
from content.store.scopes import changeable_by, visible_to
from forms.models import FormDefinition
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid
from proofroom.definitions import allowed_modules, post_types

MODULE: Final = "form"


def pages_for_form(form: FormDefinition, actor: Actor) -> QuerySet[Post]:
    """Return the posts to which the user can add a form, those in the form's language first."""
    types = [
        type_.name
        for type_ in post_types
        if any(module.name == MODULE for module in allowed_modules(type_.name))
    ]
    posts = changeable_by(visible_to(Post.objects.alive(), actor), actor)
    own_first = Case(
        When(locale=form.locale, then=Value(0)), default=Value(1), output_field=IntegerField()
    )
    return posts.filter(type__in=types, is_placeholder=False, variation_of=None).order_by(
        own_first, "-updated_at", "id"
    )


@atomic
def add_to_page(*, form: FormDefinition, post_id: UUID | str, actor: Actor) -> tuple[Post, bool]:
    """Add the form at the end of the page. Returns the page, and whether the change waits in Review.

    Raises `NotFound`, `NotAllowed` or `RuleViolation` as an edit by hand would.
    """
    actor.require_person("add a form to a page")
    post = pages_for_form(form, actor).filter(pk=post_id).first()
    if post is None:
        raise invalid("page", _("Choose a page."))

    def edit(document: PostDocument) -> PostDocument:
        return add_module(document, type=MODULE, props={"form": form.slug})[0]

    if post.status == Status.DRAFT and (actor.can("posts.edit") or actor.can("posts.translate")):
        return edit_post(post_id=post.pk, actor=actor, edit=edit), False
    return stage(post_id=post.pk, layer=Layer.REVIEW, actor=actor, edit=edit).post, True
