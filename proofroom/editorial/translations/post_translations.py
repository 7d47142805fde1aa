"""The pages of what belongs to a post: its translations, and the links to these pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from content.models import Post
from content.review.labels import label_of, module_label, module_names
from content.translations.translate import create_translation, mark_up_to_date
from content.translations.translation_status import TranslationState, states_of
from proofroom.core.admin.form_pages import save_form
from proofroom.core.admin.permissions import (
    actor_of,
    answers_refusals,
    may,
    refusals_as_messages,
    require,
)
from proofroom.editorial.posts.panels import post_panels
from proofroom.editorial.posts.post_pages import post_page, post_url, read
from proofroom.editorial.posts.preview_links import previews
from proofroom.editorial.posts.variations import variations
from proofroom.editorial.translations.copy_forms import TranslationForm


@dataclass(slots=True)
class CopyRow:
    """A copy in its list: where it leads, what is said of it, and the button that it has."""

    title: str
    facts: list[str]
    url: str = ""
    status: str = ""
    do: str = ""
    value: str = ""
    button: str = ""
    details: list[str] = field(default_factory=list)


@answers_refusals
def translations(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET lists the languages, POST makes one, or says that this one is up to date."""
    require(request, "posts.view")
    post, layers = read(post_id)
    group = Post.objects.alive().filter(translation_group=post.translation_group)
    rows = list(group.order_by("locale"))
    form = TranslationForm(_data(request, "create"), taken={row.locale for row in rows})

    def create() -> None:
        words = form.cleaned_data
        made = create_translation(
            post_id=post.pk,
            locale=words["locale"],
            slug=words["slug"] or None,
            actor=actor_of(request),
        )
        messages.success(
            request,
            gettext("“%(title)s” is a draft in %(locale)s.")
            % {"title": made.title, "locale": made.locale},
        )

    states = states_of(rows)
    if form.is_bound and save_form(form, create):
        return HttpResponseRedirect(request.path)
    if request.POST.get("do") == "checked" and post.pk in states:
        with refusals_as_messages(request):
            paths = _open_paths(states[post.pk])
            mark_up_to_date(post_id=post.pk, actor=actor_of(request), paths=paths)
        return HttpResponseRedirect(request.path)
    may_write = may(request, "posts.translate")
    lines = [_translation(row, states.get(row.pk), post, may_write) for row in rows]
    if post.pk in states:
        own = next(line for line, row in zip(lines, rows, strict=True) if row.pk == post.pk)
        # What is older than the source, in the words of the review.
        state = states[post.pk]
        names = module_names(layers.live)
        own.details = [
            *(label_of(path, layers.live, names) for path in state.stale_paths),
            *(
                gettext("%(module_label)s: new in the source")
                % {"module_label": module_label(new.type)}
                for new in state.new_modules
            ),
            *(
                gettext("%(get)s: gone from the source") % {"get": names.get(own, own)}
                for own, _ in state.removed_modules
            ),
        ]
    is_full = not form.fields["locale"].choices or post.variation_of_id is not None  # type: ignore[attr-defined]
    shown = form if may_write and not is_full else None
    return _page(request, post_id, gettext("Translations"), lines, shown, gettext("Translate"))


def _open_paths(state: TranslationState) -> list[str]:
    new = [f"modules.{module.id}" for module in state.new_modules]
    return [*state.stale_paths, *new, *(f"modules.{own}" for own, _ in state.removed_modules)]


def _translation(row: Post, state: TranslationState | None, post: Post, may_write: bool) -> CopyRow:
    details = _open_paths(state) if state else []
    facts = [row.locale, gettext("this post")] if row.pk == post.pk else [row.locale]
    if details:
        facts.append(gettext("%(number)s older than the source") % {"number": len(details)})
    line = CopyRow(row.title, facts, post_url("change", row), row.status)
    if row.pk == post.pk and details and may_write:
        line.do, line.button = "checked", gettext("It is right as it is")
    return line


def _data(request: HttpRequest, do: str) -> Any:
    return request.POST if request.method == "POST" and request.POST.get("do") == do else None


def _page(
    request: HttpRequest,
    post_id: UUID,
    title: str,
    lines: list[CopyRow],
    form: forms.Form | None,
    button: str,
) -> HttpResponse:
    post, layers = read(post_id)
    context = {"lines": lines, "form": form, "button": button}
    status = 422 if form is not None and form.errors else 200
    return post_page(
        request,
        "admin/posts/copies.html",
        post,
        layers,
        context,
        title=f"{title}: {post.title}",
        tab=title,
        status=status,
    )


def copies_panel(request: HttpRequest, post: Post) -> SafeString:
    """Links to the pages above. No query."""
    pages = [(gettext("Translations"), "translations"), (gettext("Variations"), "variations")]
    if may(request, "posts.preview"):
        pages.append((gettext("Preview links"), "previews"))
    links = [(label, post_url(name, post)) for label, name in pages]
    return SafeString(render_to_string("admin/posts/copies_panel.html", {"links": links}))


VIEWS: dict[str, Callable[..., HttpResponseBase]] = {
    "translations": translations,
    "variations": variations,
    "previews": previews,
}

post_panels.register(copies_panel)
