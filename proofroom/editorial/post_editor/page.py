"""The page with the form of a post: sections, modules, errors, what this person may do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

import orjson
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from content.document import PostDocument
from content.layers import Layers
from content.models import Layer, Post, Status
from media.models import Asset
from media.presenters import site_image
from proofroom.core.admin.permissions import may
from proofroom.core.i18n import in_words
from proofroom.core.json import Json
from proofroom.definitions import modules
from proofroom.editorial.post_editor.choices import PostChoices, addable, chosen_ids
from proofroom.editorial.post_editor.controls import Control, control_of
from proofroom.editorial.post_editor.form import ROBOTS, FormUnit, ModuleSection
from proofroom.editorial.post_editor.form_data import Sheet
from proofroom.editorial.post_editor.form_fields import EditorField, Typed, match_item, to_typed
from proofroom.editorial.post_editor.module_cards import cards_of
from proofroom.editorial.post_editor.origins import Origin, ai_share, origin_at, origins_of
from proofroom.editorial.post_editor.rich_text import markdown_of
from proofroom.editorial.posts.panels import FieldActions, FieldPlace, field_actions, panels
from proofroom.editorial.posts.post_pages import post_page, post_url, read, review_url, version_sent

TITLE_MOST: Final = 60
WORDS_MOST: Final = 160


@dataclass(frozen=True, slots=True)
class SearchPreview:
    """The parts of a result. `path` is the address of the post as it stands."""

    host: str
    path: str
    title: str
    words: str
    image: str
    has_title: bool
    has_words: bool
    is_hidden: bool

    @property
    def trail(self) -> str:
        return " › ".join(part for part in self.path.split("/") if part)

    @property
    def is_long_title(self) -> bool:
        return len(self.title) > TITLE_MOST

    @property
    def is_long_words(self) -> bool:
        return len(self.words) > WORDS_MOST

    @property
    def cut_words(self) -> str:
        if not self.is_long_words:
            return self.words
        return self.words[: WORDS_MOST - 1].rstrip() + " …"


def search_preview(request: HttpRequest, post: Post, document: PostDocument) -> SearchPreview:
    """Of what is stored in this layer. One query where the post has an image."""
    fields = document.fields
    title, words = fields.get("metaTitle"), fields.get("metaDescription")
    robots = fields.get("robotsJson")
    id_ = fields.get("featuredMediaId")
    asset = Asset.objects.filter(pk=id_).first() if isinstance(id_, str) else None
    image = site_image(asset) if asset else None
    return SearchPreview(
        host=request.get_host(),
        path=post.path or "",
        title=str(title or fields.get("title") or ""),
        words=str(words or fields.get("excerpt") or ""),
        image=(image["srcset"].partition(" ")[0] or image["url"]) if image else "",
        has_title=bool(title),
        has_words=bool(words),
        is_hidden=isinstance(robots, dict) and robots.get("index") is False,
    )


_RESETTABLE: Final = frozenset({"text", "textarea", "select", "number", "date", "icon"})


def add_script_data(
    control: Control, unit: FormUnit, typed: Typed, default: Json, origins: Mapping[str, Origin]
) -> None:
    """Add it to a control and to those within."""
    _dress(control, unit.field, typed, unit.value)
    control.source = origin_at(unit.path, origins)
    if control.source is not None:
        control.origin, control.is_ai = control.source.words, control.source.is_ai
    if unit.field.kind in _RESETTABLE and default is not None:
        control.default = str(to_typed(unit.field, default))


def _dress(control: Control, field: EditorField, typed: object, stored: Json) -> None:
    control.among = field.among
    if field.kind == "richtext":
        # What the editor opens with, if it is what the Markdown shows; else it reads the Markdown.
        if not control.is_written and isinstance(stored, Mapping) and markdown_of(stored) == typed:
            control.document = orjson.dumps(stored).decode()
    elif field.kind == "repeater" and isinstance(typed, list):
        known = stored if isinstance(stored, list | tuple) else []
        for at, item in enumerate(typed):
            _parts(control.items[at], field, item, match_item(field, item, known, at))
        _parts(control.blank, field, {}, None)
    elif field.kind == "object":
        _parts(control.parts, field, typed, stored)


def _parts(controls: Sequence[Control], field: EditorField, typed: object, stored: Json) -> None:
    values = typed if isinstance(typed, dict) else {}
    kept = stored if isinstance(stored, Mapping) else {}
    for control, inner in zip(controls, field.nested, strict=False):
        _dress(control, inner, values.get(inner.name, ""), kept.get(inner.name))


def defaults_of(module_type: str) -> Mapping[str, Json]:
    """The values of a module that nobody touched."""
    definition = modules.get(module_type)
    return definition.default_props() if definition else {}


def add_field_actions(
    control: Control, unit: FormUnit, module: ModuleSection | None, actions: FieldActions
) -> None:
    """Ask for the field and for each field inside it."""
    if module is not None and (module.is_new or not module.is_known):
        return
    if unit.path == f"post.{ROBOTS}":  # one value, whatever boxes it is shown in
        return
    prefix, start = "post", "post"
    if module is not None:
        start = ".".join(unit.path.split(".")[:3])
        prefix = f"module.{module.type}"
    _offer(control, unit.value, (start, prefix, module.id if module else ""), actions)


def _offer(
    control: Control, value: Json, where: tuple[str, str, str], actions: FieldActions
) -> None:
    start, prefix, module_id = where
    if control.kind not in ("repeater", "object"):
        key = prefix + control.name.removeprefix(start)
        control.actions = actions(FieldPlace(key, control.kind, module_id))
        return
    if isinstance(value, Sequence) and not isinstance(value, str):
        for parts, item in zip(control.items, value, strict=False):
            _offer_parts(parts, item, where, actions)
    _offer_parts(control.parts, value, where, actions)


def _offer_parts(
    parts: Sequence[Control], value: Json, where: tuple[str, str, str], actions: FieldActions
) -> None:
    values = value if isinstance(value, Mapping) else {}
    for part in parts:
        _offer(part, values.get(part.name.rpartition(".")[2]), where, actions)


_STATUSES: Final[Mapping[str, Sequence[Status]]] = {
    Status.DRAFT: (Status.DRAFT, Status.PUBLISHED, Status.ARCHIVED),
    Status.PUBLISHED: (Status.PUBLISHED, Status.DRAFT, Status.ARCHIVED),
    Status.ARCHIVED: (Status.ARCHIVED, Status.DRAFT),
}

Refused = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Frame:
    """The subject of a form. `layer` is None over live content."""

    request: HttpRequest
    post: Post
    layers: Layers
    layer: Layer | None

    @classmethod
    def read(cls, request: HttpRequest, post_id: UUID) -> Frame:
        post, layers = read(post_id)
        layer = Layer.REVIEW if request.GET.get("layer") == Layer.REVIEW else None
        return cls(request, post, layers, layer)

    @property
    def document(self) -> PostDocument:
        return self.layers.document(self.layer)


def show(
    frame: Frame,
    sheet: Sheet,
    *,
    errors: Mapping[str, Sequence[str]] | None = None,
    more: Mapping[str, Any] | None = None,
    sent: bool = False,
    status: int = 200,
) -> HttpResponse:
    """The page. `sent`: keep the version that came with the form, since nothing was read anew."""
    post, layer = frame.post, frame.layer
    now = frame.layers.review.version if layer else post.version
    context = {
        "layer": layer or "",
        "version": version_sent(frame.request) if sent else now,
        **_around(frame),
        **_form(frame, sheet, errors or {}),
        **_rights(frame),
        **(more or {}),
    }
    return post_page(
        frame.request,
        "admin/posts/edit.html",
        post,
        frame.layers,
        context,
        title=gettext("%(title)s (Review)") % {"title": post.title} if layer else post.title,
        tab="edit-review" if layer else "source",
        status=status,
    )


def _around(frame: Frame) -> dict[str, Any]:
    """Return what stands around the form: the layers, a result of a search, what other apps show."""
    post, layers = frame.post, frame.layers
    return {
        "review_count": len(layers.review.changes),
        "ai_review_count": len(layers.ai_review.changes),
        "review_edit_url": post_url("change", post, "?layer=review"),
        "ai_review_url": review_url(post, Layer.AI_REVIEW),
        "search": search_preview(frame.request, post, frame.document),
        "delete_url": post_url("delete", post),
        "panels": panels(frame.request, post),
    }


def _form(frame: Frame, sheet: Sheet, errors: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    found = _Controls(frame, sheet, errors)
    sent = frame.request.POST
    verb, _, opened = sent.get("do", "").partition(":")
    cards = cards_of(
        sheet,
        found.of,
        errors,
        wanted={name.split(".")[1] for name in sent if name.startswith("modules.")},
        opened={opened} if verb == "open" else (),
    )
    own = {unit.path for section in sheet.sections for unit in section.units}
    touched = {unit.path for unit in sheet.touched()}
    controls = [found.of(section.units) for section in sheet.sections]
    # Where the form has to be corrected, in its order: ids and labels.
    to_correct = [
        wrong for shown in controls for control in shown for wrong in control.to_correct()
    ]
    for card in cards:
        if card.errors:
            to_correct.append((f"m-{card.module.id}", card.module.label))
        for control in card.controls or ():
            to_correct += control.to_correct(card.module.label)
    return {
        "sections": [
            (section, shown, any(unit.path in touched for unit in section.units))
            for section, shown in zip(sheet.sections, controls, strict=True)
        ],
        "cards": cards,
        "touched": json.dumps(sorted(touched)),
        "ai_share": ai_share(sheet.units(), found.origins),
        "is_rearranged": sheet.order != sheet.was_order,
        "unplaced": found.unplaced(),
        "to_correct": to_correct,
        "was": json.dumps({path: sheet.was[path] for path in sorted(own)}),
        "was_order": sheet.was_order,
        "addable": addable(frame.post, sheet.shared),
    }


def module_partial(frame: Frame, sheet: Sheet, module_id: str) -> HttpResponse:
    """One module of the form, to be put into the page of somebody who has it open."""
    module = next((one for one in sheet.modules if one.id == module_id), None)
    if module is None:
        raise Http404(gettext("No such module."))
    alone = replace(sheet, modules=[module])
    (card,) = cards_of(alone, _Controls(frame, alone, {}).of, {}, opened=[module_id])
    context = {"card": card, "layer": frame.layer or "", **_rights(frame)}
    return render(frame.request, "admin/posts/module.html", context)


def _rights(frame: Frame) -> dict[str, Any]:
    request, post = frame.request, frame.post
    live = "posts.translate" if post.status == Status.DRAFT else "posts.edit"
    # Where the post may go from here, for this person.
    found = []
    for status in _STATUSES.get(post.status, ()):
        right = "posts.archive" if status == Status.ARCHIVED else "posts.publish"
        if status == post.status or may(request, right):
            chosen = request.POST.get("status", post.status) == status
            found.append((status.value, in_words(str(status.label)), chosen))
    return {
        "may_save": frame.layer is None and may(request, live),
        "may_stage": may(request, "posts.review.save"),
        "may_arrange": may(request, "posts.edit"),
        "may_delete": may(request, "posts.delete"),
        "statuses": found,
    }


class _Controls:
    """Builds the controls of a form, and knows which errors found no field."""

    def __init__(self, frame: Frame, sheet: Sheet, errors: Mapping[str, Sequence[str]]) -> None:
        self.sheet, self.errors = sheet, errors
        self.origins = origins_of(frame.request, frame.post)
        self.choices = PostChoices(frame.post, chosen_ids(sheet.typed.values()))
        self.actions = field_actions(frame.request, frame.post)
        self._names: set[str] = {f"modules.{module.id}" for module in sheet.modules}

    def of(self, units: Iterable[FormUnit], module: ModuleSection | None = None) -> list[Control]:
        controls = []
        defaults = defaults_of(module.type) if module else {}
        for unit in units:
            control = control_of(unit, self.sheet.typed[unit.path], self.errors, self.choices)
            default = defaults.get(unit.field.name)
            add_script_data(control, unit, self.sheet.typed[unit.path], default, self.origins)
            self._names |= _names(control)
            add_field_actions(control, unit, module, self.actions)
            controls.append(control)
        return controls

    def unplaced(self) -> list[str]:
        return [
            sentence
            for name, sentences in self.errors.items()
            if name not in self._names
            for sentence in sentences
        ]


def _names(control: Control) -> set[str]:
    return {control.name}.union(*(_names(part) for part in control.below))
