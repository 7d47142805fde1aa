"""Previews of a post: the page of a layer in a frame, and temporary links that show it to others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from content.document.changes import Changes, diff
from content.document.document import PostDocument
from content.document.labels import label_of, module_names
from content.layers import Layers
from content.models import Layer, Post
from proofroom.core.admin.form_pages import save_form
from proofroom.core.admin.permissions import (
    actor_of,
    may,
    require,
    service_errors_as_http,
    service_errors_as_messages,
)
from proofroom.core.middleware import allow_admin_frame
from proofroom.core.site_urls import preview_url
from proofroom_apps.comments.queries import count_open_by_module, open_threads
from proofroom_apps.editorial.posts.comments import threads_context
from proofroom_apps.editorial.posts.post_pages import post_page, post_url, read
from proofroom_apps.previews.models import PreviewLink
from proofroom_apps.previews.services import (
    LAYERS,
    LONGEST_HOURS,
    USUAL_HOURS,
    closed_reason,
    create_preview_link,
    preview_labels,
    revoke_preview_link,
)
from proofroom_apps.website.layer_pages import (
    WORDS,
    add_empty_note,
    list_removed_modules,
    marks_of,
    outline_changes,
    preview_page,
)

WIDTHS: Final = {
    "full": gettext_lazy("Full width"),
    "768": gettext_lazy("Tablet, 768"),
    "390": gettext_lazy("Phone, 390"),
}
_PARTS: Final = {"all": gettext_lazy("All"), "changes": gettext_lazy("Changes only")}
_MAX_LINKS: Final = 100


@dataclass(frozen=True, slots=True)
class PreviewSwitch:
    """A link of a switch: one value of an option."""

    label: str
    url: str
    is_current: bool
    count: int | None = None


@dataclass(frozen=True, slots=True)
class LayerPreview:
    """The preview settings: a layer or live content (`source`), the modules, and the width."""

    post: Post
    layer: str
    show: str
    width: str
    below: PostDocument
    document: PostDocument
    changes: Changes

    @classmethod
    def read(cls, request: HttpRequest, post: Post, layers: Layers) -> LayerPreview:
        """Return the settings in an address; without a layer, the first one with changes."""
        layer = request.GET.get("layer", "")
        if layer not in LAYERS:
            layer = next(
                (view.layer.value for view in (layers.ai_review, layers.review) if view.exists),
                "source",
            )
        show, width = request.GET.get("show", ""), request.GET.get("width", "")
        view = None if layer == "source" else layers.view(Layer(layer))
        return cls(
            post,
            layer,
            show if show in _PARTS else "all",
            width if width in WIDTHS else "full",
            view.below if view else layers.live,
            view.document if view else layers.live,
            view.changes if view else diff(layers.live, layers.live),
        )

    def url(self, name: str = "preview", **other: str) -> str:
        query = {"layer": self.layer, "show": self.show, "width": self.width, **other}
        return post_url(name, self.post, f"?{urlencode(query)}")

    def switch(self, name: str, labels: Mapping[str, str | Promise]) -> list[PreviewSwitch]:
        """Return a link for each value of an option."""
        return [
            PreviewSwitch(str(label), self.url(**{name: value}), value == getattr(self, name))
            for value, label in labels.items()
        ]


@service_errors_as_http
def preview(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Show the changes, and a frame with the page of the site."""
    require(request, "posts.view")
    post, layers = read(request, post_id)
    shown = LayerPreview.read(request, post, layers)
    document, changes, labels = shown.document, shown.changes, preview_labels(post)
    names = module_names(document, shown.below)
    marks = marks_of(changes)
    context = {
        "asked": shown,
        "layer_label": labels[shown.layer],
        "layers": [
            PreviewSwitch(
                label,
                shown.url(layer=name),
                name == shown.layer,
                None if name == "source" else len(layers.view(Layer(name)).changes),
            )
            for name, label in labels.items()
        ],
        "parts": shown.switch("show", _PARTS) if len(changes) else [],
        "widths": shown.switch("width", WIDTHS),
        "frame_url": shown.url("preview_page"),
        # Changes in words: of present modules, of removed modules, and of fields.
        "changed": [
            (id_, names[id_], ", ".join(str(WORDS[kind]) for kind in marks[id_]))
            for id_ in document.order
            if id_ in marks
        ],
        "removed": [names[str(change.module_id)] for change in list_removed_modules(changes)],
        "fields": [
            label_of(change.path, document, names) for change in changes if change.module_id is None
        ],
        "links_url": post_url("previews", post) if may(request, "posts.preview", post) else "",
        "link_form": PreviewForm(post, initial={"layer": shown.layer}),
    }
    if may(request, "comments.view"):
        query = f"preview={shown.layer}&"
        threads = threads_context(request, post, layers, query=query, show="open")
        threads["frame_url"] = context["frame_url"]
        # Rendered by itself, because its names are those of other things here.
        context["comments"] = render_to_string("admin/posts/comment_threads.html", threads, request)
        context["comment_count"] = open_threads(post.pk).count()
    title = _("Preview: %(title)s") % {"title": post.title}
    return post_page(
        request, "admin/posts/preview.html", post, layers, context, title=title, tab="preview"
    )


@service_errors_as_http
@allow_admin_frame
def preview_frame(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Return the page of the site with the content of the layer."""
    require(request, "posts.view")
    post, layers = read(request, post_id)
    shown = LayerPreview.read(request, post, layers)
    marks = marks_of(shown.changes)
    only = set(marks) if shown.show == "changes" and len(shown.changes) else None
    html = preview_page(post, shown.document, preview_labels(post)[shown.layer], only=only)
    html = outline_changes(html, marks, _comment_labels(request, post))
    # Without changed modules, as when only fields changed, the page would be empty.
    response = HttpResponse(add_empty_note(html) if only == set() else html)
    # Unpublished content must not get into caches and search engines, nor its address to linked sites.
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"
    return response


def _comment_labels(request: HttpRequest, post: Post) -> dict[str, str]:
    """Return the number of open threads in words, by the id of their module. One query."""
    if not may(request, "comments.view"):
        return {}
    numbers = count_open_by_module(post)
    return {
        id_: ngettext("%(n)s comment", "%(n)s comments", number) % {"n": number}
        for id_, number in numbers.items()
    }


def lifetimes() -> list[tuple[int, str]]:
    hours = [(n, ngettext("%(n)s hour", "%(n)s hours", n) % {"n": n}) for n in (1, 2, 8)]
    days = [(1, 24), (3, 72), (7, 168), (LONGEST_HOURS // 24, LONGEST_HOURS)]
    return [*hours, *((n, ngettext("%(n)s day", "%(n)s days", d) % {"n": d}) for d, n in days)]


class PreviewForm(forms.Form):
    layer = forms.ChoiceField(label=gettext_lazy("Layer"))
    expiresInHours = forms.TypedChoiceField(
        label=gettext_lazy("Expires after"), coerce=int, initial=USUAL_HOURS, choices=lifetimes
    )

    def __init__(self, post: Post, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        layer = cast("forms.ChoiceField", self.fields["layer"])
        layer.choices = [*preview_labels(post).items()]


@dataclass(frozen=True, slots=True)
class PreviewLinkRow:
    """A link in the list. `closed` says why it does not work."""

    link: PreviewLink
    layer: str
    closed: str | None


@service_errors_as_http
def previews(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET lists the links, POST creates one (its address is shown only once) or revokes one."""
    require(request, "posts.preview")
    post, layers = read(request, post_id)
    do = request.POST.get("do", "")
    if do == "revoke":
        with service_errors_as_messages(request):
            chosen = request.POST.get("value", "")
            revoke_preview_link(post_id=post_id, link_id=chosen, actor=actor_of(request))
            messages.success(request, _("Link revoked. It no longer works."))
        return HttpResponseRedirect(request.path)
    form = PreviewForm(post, request.POST if do == "create" else None)
    made: list[str] = []

    def create() -> None:
        values = form.cleaned_data
        _link, token = create_preview_link(
            post_id=post.pk,
            layer=values["layer"],
            hours=values["expiresInHours"],
            actor=actor_of(request),
        )
        made.append(preview_url(token))

    if form.is_bound:
        save_form(form, create)
    rows = post.preview_links.select_related("created_by").order_by("-created_at")[:_MAX_LINKS]
    labels = preview_labels(post)
    lines = [PreviewLinkRow(row, labels[row.layer], closed_reason(row)) for row in rows]
    return post_page(
        request,
        "admin/structure/preview_links.html",
        post,
        layers,
        {"lines": lines, "form": form, "made": made},
        title=_("Preview links: %(title)s") % {"title": post.title},
        tab="preview",
        status=422 if form.errors else 200,
    )
