"""The page with the form of a post: sections, modules, errors and the user's permissions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

import orjson
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from content.document.document import PostDocument
from content.layers import Layers
from content.models import Layer, Post, Status
from content.rules.publication_gates import find_publication_obstacles
from content.store.page_locks import find_page_lock
from media.models import Asset
from media.presenters import smallest_url
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.content_scope import is_in_scopes
from proofroom.core.i18n.time_zones import current_zone_name, suggested_times, to_local_input
from proofroom.core.json import Json
from proofroom.definitions import modules, steps_of
from proofroom_apps.editorial.post_editor.autosave import copies_of_page, offer_copies
from proofroom_apps.editorial.post_editor.choices import PostChoices, addable_modules, chosen_ids
from proofroom_apps.editorial.post_editor.controls import Control, control_of
from proofroom_apps.editorial.post_editor.form import (
    DATES,
    EXPIRY,
    PUBLICATION,
    ROBOTS,
    SCHEDULE,
    FormUnit,
    ModuleSection,
    date_field,
)
from proofroom_apps.editorial.post_editor.form_data import Sheet
from proofroom_apps.editorial.post_editor.form_fields import EditorField, match_item, to_typed
from proofroom_apps.editorial.post_editor.module_cards import cards_of
from proofroom_apps.editorial.post_editor.origins import ai_share, origin_at, origins_of
from proofroom_apps.editorial.post_editor.page_lock import lock_context
from proofroom_apps.editorial.post_editor.publish_state import (
    SAVE_PENDING,
    PostState,
    header_of,
    merge_actions,
)
from proofroom_apps.editorial.post_editor.related_panel import related_panel
from proofroom_apps.editorial.post_editor.rich_text import markdown_of
from proofroom_apps.editorial.posts.extensions import (
    FieldActions,
    FieldPlace,
    PostPanel,
    field_actions,
    panels,
)
from proofroom_apps.editorial.posts.post_pages import (
    log_url,
    may_edit_live,
    post_page,
    post_url,
    read,
    review_url,
    version_sent,
)
from proofroom_apps.editorial.posts.state_badge import state_of
from proofroom_apps.embeds.providers import known_hosts

# In characters. The preview of a search result cuts longer texts.
MAX_TITLE_LENGTH: Final = 60
MAX_DESCRIPTION_LENGTH: Final = 160


@dataclass(frozen=True, slots=True)
class SearchPreview:
    """The parts of a search result. `path` is the post's current address."""

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
        return len(self.title) > MAX_TITLE_LENGTH

    @property
    def is_long_words(self) -> bool:
        return len(self.words) > MAX_DESCRIPTION_LENGTH

    @property
    def cut_words(self) -> str:
        if not self.is_long_words:
            return self.words
        return self.words[: MAX_DESCRIPTION_LENGTH - 1].rstrip() + " …"


def search_preview(request: HttpRequest, post: Post, document: PostDocument) -> SearchPreview:
    """Return the preview for the content of this layer. One query if the post has an image."""
    fields = document.fields
    title, words = fields.get("metaTitle"), fields.get("metaDescription")
    robots = fields.get("robotsJson")
    id_ = fields.get("featuredMediaId")
    asset = Asset.objects.filter(pk=id_).first() if isinstance(id_, str) else None
    image = smallest_url(asset) if asset else ""
    return SearchPreview(
        host=request.get_host(),
        path=post.path or "",
        title=str(title or fields.get("title") or ""),
        words=str(words or fields.get("excerpt") or ""),
        image=image,
        has_title=bool(title),
        has_words=bool(words),
        is_hidden=isinstance(robots, dict) and robots.get("index") is False,
    )


_RESETTABLE: Final = frozenset({"text", "textarea", "select", "number", "date", "icon"})


def add_script_data(control: Control, field: EditorField, typed: object, stored: Json) -> None:
    """Set the data for the editor's scripts on a control and its descendants."""
    control.among = field.among
    items: list[tuple[Sequence[Control], object, Json]] = []
    if field.kind == "richtext":
        # Open the editor with the stored document only if the Markdown was not changed.
        if not control.is_written and isinstance(stored, Mapping) and markdown_of(stored) == typed:
            control.document = orjson.dumps(stored).decode()
    elif field.kind == "repeater" and isinstance(typed, list):
        known = stored if isinstance(stored, list | tuple) else []
        items = [
            (control.items[at], item, match_item(field, item, known, at))
            for at, item in enumerate(typed)
        ]
        items.append((control.blank, {}, None))
    elif field.kind == "object":
        items = [(control.parts, typed, stored)]
    for parts, item, kept in items:
        values = item if isinstance(item, dict) else {}
        old = kept if isinstance(kept, Mapping) else {}
        for part, inner in zip(parts, field.nested, strict=False):
            add_script_data(part, inner, values.get(inner.name, ""), old.get(inner.name))


def add_field_actions(
    control: Control, unit: FormUnit, module: ModuleSection | None, actions: FieldActions
) -> None:
    """Add the actions of the field and of each nested field."""
    if module is not None and (module.is_new or not module.is_known):
        return
    # One stored value, although it is shown as several controls.
    if unit.path == f"post.{ROBOTS}":
        return
    prefix, start = "post", "post"
    if module is not None:
        start = ".".join(unit.path.split(".")[:3])
        prefix = f"module.{module.type}"

    def add(control: Control, value: Json) -> None:
        if control.kind not in ("repeater", "object"):
            key = prefix + control.name.removeprefix(start)
            control.actions = actions(FieldPlace(key, control.kind, module.id if module else ""))
            return
        items: list[tuple[Sequence[Control], Json]] = [(control.parts, value)]
        if isinstance(value, Sequence) and not isinstance(value, str):
            items += zip(control.items, value, strict=False)
        for parts, item in items:
            values = item if isinstance(item, Mapping) else {}
            for part in parts:
                add(part, values.get(part.name.rpartition(".")[2]))

    add(control, unit.value)


@dataclass(frozen=True, slots=True)
class Frame:
    """The subject of a form. `layer` is None for live content; `sent` is the submitted data.

    `page` is the page to return to after saving.
    """

    request: HttpRequest
    post: Post
    layers: Layers
    layer: Layer | None
    sent: QueryDict
    page: Literal["change", "translate"] = "change"

    @classmethod
    def read(cls, request: HttpRequest, post_id: UUID) -> Frame:
        post, layers = read(request, post_id)
        layer = Layer.REVIEW if request.GET.get("layer") == Layer.REVIEW else None
        return cls(request, post, layers, layer, request.POST)

    @property
    def document(self) -> PostDocument:
        return self.layers.document(self.layer)

    @property
    def saved_at(self) -> datetime:
        """When the content of the form was saved last."""
        draft = self.layers.review.draft if self.layer else None
        return draft.updated_at if draft is not None else self.post.updated_at


def show(
    frame: Frame,
    sheet: Sheet,
    *,
    errors: Mapping[str, Sequence[str]] | None = None,
    more: Mapping[str, Any] | None = None,
    sent: bool = False,
    status: int = 200,
) -> HttpResponse:
    """Return the page. With `sent`, keep the form's version, since nothing was read again."""
    request, post, layers, layer = frame.request, frame.post, frame.layers, frame.layer
    now = layers.review.version if layer else post.version
    rights = rights_of(frame)
    copies = copies_of_page(frame.sent)
    context = {
        "layer": layer or "",
        "saved_at": frame.saved_at,
        "version": version_sent(request) if sent else now,
        # Sent by the translation page, whose conflicts are shown on this page.
        "sources": frame.sent.get("sources", ""),
        "copy": copies.key,
        "follows": copies.fields,
        "offered": offer_copies(request, post.pk, frame.document, layer, copies),
        "review_count": len(layers.review.changes),
        "ai_review_count": len(layers.ai_review.changes),
        "review_edit_url": post_url("change", post, "?layer=review"),
        "ai_review_url": review_url(post, Layer.AI_REVIEW),
        "search": search_preview(request, post, frame.document),
        "history_url": post_url("revisions", post),
        "comments_url": post_url("comments", post),
        "may_comment": may(request, "comments.write", post),
        "log_url": log_url(request, post),
        **_form(frame, sheet, errors or {}),
        **rights,
        **_header(frame, sheet, rights),
        **(more or {}),
    }
    return post_page(
        request,
        "admin/posts/edit.html",
        post,
        layers,
        context,
        title=gettext("%(title)s (Review)") % {"title": post.title} if layer else post.title,
        tab="source",
        status=status,
    )


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section of the form with its controls."""

    name: str
    label: str
    controls: Sequence[Control]
    is_touched: bool

    @property
    def has_errors(self) -> bool:
        return any(control.has_errors for control in self.controls)


@dataclass(frozen=True, slots=True)
class RailTab:
    """A tab beside the content. A tab with a section contains form fields."""

    name: str
    label: str
    section: SectionView | None = None
    panels: Sequence[SafeString] = ()
    is_open: bool = False
    has_errors: bool = False


_RAIL_SECTIONS: Final = {"place": "settings", "seo": "seo"}
"""Form sections shown in a tab, with the name of the tab."""


def _rail(
    sections: Sequence[SectionView], boxes: Sequence[PostPanel], *, has_comments: bool
) -> list[RailTab]:
    """Return the tabs beside the content. The first one with an error is open, else the settings.

    Narrow windows have no room beside the content, which then is a tab too.
    """
    in_tabs = {_RAIL_SECTIONS[one.name]: one for one in sections if one.name in _RAIL_SECTIONS}
    wrong = [name for name, section in in_tabs.items() if section.has_errors]
    opened = wrong[0] if wrong else "settings"
    labels = {
        "content": gettext("Content"),
        "settings": gettext("Settings"),
        "seo": gettext("SEO"),
        "outline": gettext("Outline"),
        "agents": gettext("Agents"),
        "preview": gettext("Preview"),
        "comments": gettext("Comments"),
        "history": gettext("History"),
    }
    if not has_comments:
        del labels["comments"]
    return [
        RailTab(
            name,
            label,
            in_tabs.get(name),
            [box.html for box in boxes if box.tab == name],
            is_open=name == opened,
            has_errors=name in wrong,
        )
        for name, label in labels.items()
    ]


def _form(frame: Frame, sheet: Sheet, errors: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    builder = ControlBuilder(frame, sheet, errors)
    sent = frame.sent
    verb, _, opened = sent.get("do", "").partition(":")
    # A rejected date is shown in its dialog, not in the form.
    touched = {unit.path for unit in sheet.touched()} - DATES
    cards = cards_of(
        sheet,
        builder.build,
        errors,
        touched=touched,
        # Modules whose fields were submitted keep them on the page, with the typed values.
        wanted={name.split(".")[1] for name in sent if name.startswith("modules.")},
        opened={opened} if verb == "open" else (),
    )
    sections_shown = [
        # The dates are shown and changed in the publish menu, not in a section.
        replace(section, units=tuple(unit for unit in section.units if unit.path not in DATES))
        for section in sheet.sections
    ]
    own = {unit.path for section in sections_shown for unit in section.units}
    controls = [builder.build(section.units) for section in sections_shown]
    # Links to the fields with errors, in form order.
    to_correct = [
        wrong for shown in controls for control in shown for wrong in control.to_correct()
    ]
    for card in cards:
        if card.errors:
            to_correct.append((f"m-{card.module.id}", card.module.label))
        for control in card.controls or ():
            to_correct += control.to_correct(card.module.label)
    sections = [
        SectionView(
            section.name,
            section.label,
            shown,
            is_touched=any(unit.path in touched for unit in section.units),
        )
        for section, shown in zip(sections_shown, controls, strict=True)
    ]
    return {
        "sections": [section for section in sections if section.name not in _RAIL_SECTIONS],
        "rail": _rail(
            sections,
            [related_panel(frame.request, frame.post), *panels(frame.request, frame.post)],
            has_comments=may(frame.request, "comments.view"),
        ),
        "schedule_errors": errors.get(SCHEDULE, ()),
        "expiry_errors": errors.get(EXPIRY, ()),
        "publication_errors": errors.get(PUBLICATION, ()),
        "cards": cards,
        "touched": json.dumps(sorted(touched)),
        "ai_share": ai_share(sheet.units(), builder.origins),
        "unplaced": builder.unplaced(),
        "to_correct": to_correct,
        "was": json.dumps({path: sheet.was[path] for path in sorted(own)}),
        "was_order": sheet.was_order,
        "addable": addable_modules(frame.post, sheet.shared),
        "embed_hosts": " ".join(known_hosts()),
    }


def module_partial(frame: Frame, sheet: Sheet, module_id: str) -> HttpResponse:
    """Return one module of the form, to insert into an open page."""
    module = next((one for one in sheet.modules if one.id == module_id), None)
    if module is None:
        raise Http404(gettext("Module not found."))
    alone = replace(sheet, modules=[module])
    touched = {unit.path for unit in alone.touched()}
    controls_of = ControlBuilder(frame, alone, {}).build
    cards = cards_of(alone, controls_of, {}, touched=touched, opened=[module_id])
    context = {"cards": cards, "layer": frame.layer or "", **rights_of(frame)}
    return render(frame.request, "admin/posts/module_part.html", context)


def offer_new_terms(control: Control, choices: PostChoices) -> None:
    """Allow new terms in this control and its descendants, if the user may create them."""
    control.creatable = choices.creatable(control.kind, control.among)
    for part in [*control.below, *control.blank]:
        offer_new_terms(part, choices)


def rights_of(frame: Frame) -> dict[str, Any]:
    """Return what the user may do with the form: save it, send it to Review, arrange its modules."""
    request, post = frame.request, frame.post
    locked = lock_context(request, find_page_lock(post))
    is_free = not locked["is_locked_by_other"]
    may_save = is_free and frame.layer is None and may_edit_live(request, post)
    may_stage = is_free and may(request, "posts.review.save", post)
    return {
        **locked,
        "may_save": may_save,
        "may_stage": may_stage,
        "is_read_only": not (may_save or may_stage),
        "is_outside": not is_in_scopes(post, actor_of(request).scopes),
        "may_arrange": is_free and may(request, "posts.edit", post),
        "may_edit_globals": may(request, "globals.edit"),
        "may_save_snippets": may(request, "snippets.manage"),
    }


def publication_input(post: Post) -> str:
    """Return the publication date as a form value."""
    return to_local_input(post.published_at) if post.published_at is not None else ""


def _header(frame: Frame, sheet: Sheet, rights: Mapping[str, Any]) -> dict[str, Any]:
    """Return the header for a form with and without unsaved changes. A script shows the current one."""
    request, post = frame.request, frame.post
    public = state_of(
        post,
        changes_in_review=len(frame.layers.review.changes),
        in_review=frame.layer is not None,
    )
    has_steps, is_draft = bool(steps_of(post.type)), post.status == Status.DRAFT
    state = PostState(
        **asdict(public),
        may_save=rights["may_save"],
        may_stage=rights["may_stage"],
        is_outside=rights["is_outside"],
        may_publish=may(request, "posts.publish", post),
        may_archive=may(request, "posts.archive", post),
        may_copy=may(request, "posts.create", post),
        may_save_template=may(request, "snippets.manage"),
        may_trash=not rights["is_locked_by_other"] and may(request, "posts.delete", post),
        may_approve=may(request, "posts.review.approve", post),
        is_variation=post.variation_of_id is not None,
        is_locked=rights["is_locked_by_other"],
        has_lock=rights["has_own_lock"],
        has_steps=has_steps,
        open_step=find_publication_obstacles([post])[0] if has_steps and is_draft else "",
    )
    clean, dirty = (header_of(state, is_dirty=is_dirty) for is_dirty in (False, True))
    return {
        "badge": clean.badge,
        "hints": [(clean.hint, "clean"), (dirty.hint, "dirty")],
        "primary": merge_actions(*([one.primary] if one.primary else [] for one in (clean, dirty))),
        "secondary": merge_actions(
            *([one.secondary] if one.secondary else [] for one in (clean, dirty))
        ),
        "menu": merge_actions(clean.menu, dirty.menu),
        "schedule": next((one for one in clean.menu if one.dialog == "schedule"), None),
        "is_scheduled": state.is_scheduled,
        "key_action": SAVE_PENDING if has_steps and state.is_live else "save",
        "schedule_label": date_field("publishAt").label,
        "schedule_at": sheet.typed[SCHEDULE],
        "schedule_from": to_local_input(timezone.now()),
        "expiry": next((one for one in clean.menu if one.dialog == "expiry"), None),
        "expires": state.unpublish_at is not None,
        "expiry_label": date_field("unpublishAt").label,
        "expiry_at": sheet.typed[EXPIRY],
        "suggested_times": suggested_times(),
        "lock_dialog": next((one for one in clean.menu if one.dialog == "page-lock"), None),
        "publication": next((one for one in clean.menu if one.dialog == "publication"), None),
        "publication_label": gettext("First published (%(zone)s)") % {"zone": current_zone_name()},
        "publication_at": frame.sent.get("published_at", publication_input(post)),
        "pages": {
            "review": review_url(post, Layer.REVIEW),
            "ai_review": review_url(post, Layer.AI_REVIEW),
            "steps": post_url("steps", post) if state.open_step else "",
            "copy": f"{reverse('admin:content_post_tree_copy')}?page={post.pk}",
            "template": f"{reverse('admin:proofroom_snippets_posttemplate_add')}?post={post.pk}",
            "trash": post_url("delete", post),
        },
    }


class ControlBuilder:
    """Builds the controls of a form, and collects errors without a field."""

    def __init__(self, frame: Frame, sheet: Sheet, errors: Mapping[str, Sequence[str]]) -> None:
        self.sheet, self.errors = sheet, errors
        self.origins = origins_of(frame.request, frame.post)
        self.choices = PostChoices(
            frame.post, chosen_ids(sheet.typed.values()), actor_of(frame.request)
        )
        self.actions = field_actions(frame.request, frame.post)
        # Errors of a whole module are shown on its card.
        self._names: set[str] = {f"modules.{module.id}" for module in sheet.modules}

    def build(
        self, units: Iterable[FormUnit], module: ModuleSection | None = None
    ) -> list[Control]:
        controls = []
        definition = modules.get(module.type) if module else None
        defaults = definition.default_props() if definition else {}
        for unit in units:
            field, typed = unit.field, self.sheet.typed[unit.path]
            control = control_of(field, unit.path, typed, self.errors, self.choices)
            add_script_data(control, field, typed, unit.value)
            offer_new_terms(control, self.choices)
            default = defaults.get(field.name)
            source = origin_at(unit.path, self.origins)
            # An empty or default value has no author, but show it if AI left it that way.
            is_as_it_came = unit.value in (None, "", [], {}) or unit.value == default
            if source is not None and (source.is_ai or not is_as_it_came):
                control.source = source
                control.origin, control.is_ai = source.sentence, source.is_ai
            if field.kind in _RESETTABLE and default is not None:
                control.default = str(to_typed(field, default))
            self._names |= control.names
            add_field_actions(control, unit, module, self.actions)
            controls.append(control)
        return controls

    def unplaced(self) -> list[str]:
        return [
            sentence
            for name, sentences in self.errors.items()
            # The errors of these two are shown in their dialogs.
            if name not in self._names and name not in (*DATES, PUBLICATION)
            for sentence in sentences
        ]
