"""The post as a layer has it: the page itself in a frame, changed modules outlined, removed ones named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from content.changes import Changes, diff
from content.layers import Layers
from content.models import Layer, Post
from content.models.preview_link import PREVIEW_LAYERS
from content.review.labels import label_of, module_names
from proofroom.core.admin.permissions import answers_refusals, may, require
from proofroom.core.http.frame_options import allow_admin_frame
from proofroom.editorial.posts.post_pages import post_page, post_url, read
from proofroom.editorial.translations.copy_forms import PreviewForm
from proofroom.website.layer_pages import (
    WORDS,
    empty_note,
    list_removed_modules,
    marks_of,
    outline_changes,
    preview_page,
)

_LABELS: Final = dict(PREVIEW_LAYERS)
_WIDTHS: Final = {"full": _("Full width"), "768": _("Tablet, 768"), "390": _("Phone, 390")}
_PARTS: Final = {"all": _("All"), "changes": _("Changes only")}


@dataclass(frozen=True, slots=True)
class PreviewSwitch:
    """A link of a switch."""

    label: str
    url: str
    is_current: bool
    count: int | None = None


@dataclass(frozen=True, slots=True)
class PreviewOptions:
    """The options of a preview."""

    layer: str
    show: str
    width: str

    def query(self, **other: str) -> str:
        return "?" + urlencode(
            {"layer": self.layer, "show": self.show, "width": self.width, **other}
        )


@answers_refusals
def preview(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """The page of the admin: what changed, and a frame with the page of the site."""
    require(request, "posts.view")
    post, layers = read(post_id)
    asked = _asked(request, layers)
    changes = _changes(layers, asked.layer)
    # The changes in words: of modules that are there, of those that are gone, and of fields.
    document = _document(layers, asked.layer)
    below = document if asked.layer == "source" else layers.view(Layer(asked.layer)).below
    names = module_names(document, below)
    marks = marks_of(changes)
    context = {
        "asked": asked,
        "layer_label": _LABELS[asked.layer],
        "layers": [
            PreviewSwitch(
                label,
                post_url("preview", post, asked.query(layer=name)),
                name == asked.layer,
                None if name == "source" else len(_changes(layers, name)),
            )
            for name, label in _LABELS.items()
        ],
        "parts": _links(post, asked, "show", _PARTS) if len(changes) else [],
        "widths": _links(post, asked, "width", _WIDTHS),
        "frame_url": post_url("preview_page", post, asked.query()),
        **{
            "changed": [
                (id_, names[id_], ", ".join(str(WORDS[kind]) for kind in marks[id_]))
                for id_ in document.order
                if id_ in marks
            ],
            "removed": [names[str(change.module_id)] for change in list_removed_modules(changes)],
            "fields": [
                label_of(change.path, document, names)
                for change in changes
                if change.module_id is None
            ],
        },
        "links_url": post_url("previews", post) if may(request, "posts.preview") else "",
        "link_form": PreviewForm(initial={"layer": asked.layer}),
    }
    title = _("Preview: %(title)s") % {"title": post.title}
    return post_page(
        request, "admin/posts/preview.html", post, layers, context, title=title, tab="preview"
    )


@answers_refusals
@allow_admin_frame
def preview_frame(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """The page of the site itself, as the layer has it."""
    require(request, "posts.view")
    post, layers = read(post_id)
    asked = _asked(request, layers)
    changes = _changes(layers, asked.layer)
    marks = marks_of(changes)
    only = set(marks) if asked.show == "changes" and len(changes) else None
    page = preview_page(post, _document(layers, asked.layer), _LABELS[asked.layer], only=only)
    page = outline_changes(page, marks)
    response = HttpResponse(empty_note(page) if only == set() else page)
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"
    return response


def _asked(request: HttpRequest, layers: Layers) -> PreviewOptions:
    layer = request.GET.get("layer", "")
    if layer not in _LABELS:
        layer = next(
            (view.layer.value for view in (layers.ai_review, layers.review) if view.exists),
            "source",
        )
    show, width = request.GET.get("show", ""), request.GET.get("width", "")
    return PreviewOptions(
        layer, show if show in _PARTS else "all", width if width in _WIDTHS else "full"
    )


def _changes(layers: Layers, layer: str) -> Changes:
    """Return what the layer changes of the one below; nothing for what is live."""
    if layer == "source":
        return diff(layers.live, layers.live)
    return layers.view(Layer(layer)).changes


def _document(layers: Layers, layer: str) -> Any:
    return layers.document(None if layer == "source" else Layer(layer))


def _links(
    post: Post, asked: PreviewOptions, name: str, known: dict[str, Any]
) -> list[PreviewSwitch]:
    return [
        PreviewSwitch(
            str(label),
            post_url("preview", post, asked.query(**{name: value})),
            value == getattr(asked, name),
        )
        for value, label in known.items()
    ]
