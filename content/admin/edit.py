"""The page of a post: its form over live content or Review, saved through the services."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from content.admin.choices import PostChoices, addable, origins, shared_modules
from content.admin.controls import Control, control_of
from content.admin.pages import post_page, post_url, read, review_url
from content.admin.panels import panels
from content.admin.rearrange import rearrange
from content.admin.sheet import Unit
from content.admin.typed import Sheet, edit_of, open_sheet, read_sheet, refresh
from content.layers import Layers, stage
from content.layers.state import check_version
from content.models import Layer, Post, Status
from content.review.labels import label_of, module_names
from content.services.edit import edit_post
from core.admin.rights import actor_of, answers_refusals, may, require
from core.errors import CmsError, Conflict

_STATUSES = {
    Status.DRAFT: (Status.DRAFT, Status.PUBLISHED, Status.ARCHIVED),
    Status.PUBLISHED: (Status.PUBLISHED, Status.DRAFT, Status.ARCHIVED),
    Status.ARCHIVED: (Status.ARCHIVED, Status.DRAFT),
}


@answers_refusals
def edit(request: HttpRequest, post_id: object) -> HttpResponse:
    """GET shows the form (`?layer=review` over what is staged in Review), POST saves or rearranges it."""
    require(request, "posts.view")
    post, layers = read(post_id)
    layer = Layer.REVIEW if request.GET.get("layer") == Layer.REVIEW else None
    document = layers.document(layer)
    if request.method != "POST":
        return _show(request, post, layers, layer, open_sheet(document, shared_modules()))
    require(request, "posts.edit", "posts.translate", "posts.review.save")
    sheet = read_sheet(document, shared_modules(), request.POST)
    do = request.POST.get("do", "")
    if do not in ("save", "save-review"):
        rearrange(sheet, do, request.POST)
        return _show(request, post, layers, layer, sheet, sent=True)
    return _save(request, post, layers, layer, sheet, to_review=do == "save-review" or layer is not None)


def _save(
    request: HttpRequest,
    post: Post,
    layers: Layers,
    layer: Layer | None,
    sheet: Sheet,
    *,
    to_review: bool,
) -> HttpResponse:
    try:
        saved = _write(request, post, layers, layer, sheet, to_review=to_review)
    except Conflict as error:
        names = module_names(layers.live, layers.review.document)
        moved = [label_of(path, sheet.document, names) for path in refresh(sheet)]
        more = {"problem": error.message, "moved": moved, "is_stale": True}
        return _show(request, post, layers, layer, sheet, more=more, status=409)
    except CmsError as error:
        if error.status == 404:
            raise
        errors = _by_name(error, sheet)
        more = {"problem": error.message}
        return _show(
            request, post, layers, layer, sheet, errors=errors, more=more, sent=True, status=error.status
        )
    if not saved:
        messages.info(request, "Nothing was changed.")
        return HttpResponseRedirect(request.get_full_path())
    if to_review:
        messages.success(request, f"Saved to Review: {saved}. The live text is as it was.")
        return HttpResponseRedirect(review_url(post, Layer.REVIEW))
    messages.success(request, "Saved. The change is live." if post.status == "published" else "Saved.")
    return HttpResponseRedirect(post_url("change", post))


def _write(
    request: HttpRequest,
    post: Post,
    layers: Layers,
    layer: Layer | None,
    sheet: Sheet,
    *,
    to_review: bool,
) -> str:
    """What was saved, in words; empty for nothing."""
    actor, version = actor_of(request), _version(request)
    if not to_review:
        status = request.POST.get("status") or None
        before = post.version
        saved = edit_post(
            post_id=post.pk,
            actor=actor,
            edit=lambda document: edit_of(sheet, document),
            status=status if status != post.status else None,
            expected_version=version,
        )
        post.status = saved.status
        return "live" if saved.version != before else ""
    if layer is None:
        # The form shows live content; Review's own version is not what this person read.
        check_version(version, post.version, "This post")
        version = None
    staged = stage(
        post_id=post.pk,
        layer=Layer.REVIEW,
        actor=actor,
        edit=lambda document: edit_of(sheet, document),
        expected_version=version,
    )
    names = module_names(staged.document, layers.live)
    return ", ".join(label_of(path, staged.document, names) for path in staged.paths)


def _version(request: HttpRequest) -> int:
    text = request.POST.get("version", "")
    return int(text) if text.isdecimal() and len(text) < 10 else -1


def _by_name(error: CmsError, sheet: Sheet) -> dict[str, list[str]]:
    """The sentences of a refusal by the name of the form's field; what belongs to none is under its own key."""
    back = {real: name for name, real in sheet.created.items()}
    found: dict[str, list[str]] = {}
    for key, sentences in error.details.items():
        head, _, rest = key.partition(".")
        if head == "modules":
            id_, _, tail = rest.partition(".")
            key = f"modules.{back.get(id_, id_)}" + (f".{tail}" if tail else "")
        elif head != "post":
            key = f"post.{key}"
        found.setdefault(key, []).extend(sentences)
    return found


def _show(
    request: HttpRequest,
    post: Post,
    layers: Layers,
    layer: Layer | None,
    sheet: Sheet,
    *,
    errors: Mapping[str, Sequence[str]] | None = None,
    more: Mapping[str, Any] | None = None,
    sent: bool = False,
    status: int = 200,
) -> HttpResponse:
    found = _Controls(post, sheet, errors or {})
    shown_version = layers.review.version if layer else post.version
    sections = [(section, found.of(section.units)) for section in sheet.sections]
    modules = [
        (module, found.of(module.units), found.errors.get(f"modules.{module.id}", []))
        for module in sheet.modules
    ]
    context = {
        "layer": layer or "",
        "sections": sections,
        "modules": modules,
        "open_modules": len(sheet.modules) <= 8,
        "unplaced": found.unplaced(),
        "was": json.dumps(sheet.was),
        "was_order": sheet.was_order,
        "version": _version(request) if sent else shown_version,
        "addable": addable(post, sheet.shared),
        "statuses": _statuses(request, post),
        "review_count": len(layers.review.changes),
        "review_edit_url": post_url("change", post, "?layer=review"),
        "may_save": layer is None and may(request, "posts.edit" if post.status != "draft" else "posts.translate"),
        "may_stage": may(request, "posts.review.save"),
        "may_arrange": may(request, "posts.edit"),
        "may_delete": may(request, "posts.delete"),
        "delete_url": post_url("delete", post),
        "panels": panels(request, post),
        **(more or {}),
    }
    title = f"{post.title} (Review)" if layer else post.title
    return post_page(
        request,
        "admin/posts/edit.html",
        post,
        layers,
        context,
        title=title,
        tab="edit-review" if layer else "source",
        status=status,
    )


def _statuses(request: HttpRequest, post: Post) -> list[tuple[str, str, bool]]:
    """Where the post may go from here, for this person."""
    found = []
    for status in _STATUSES.get(Status(post.status), ()):
        right = "posts.archive" if status == Status.ARCHIVED else "posts.publish"
        if status == post.status or may(request, right):
            chosen = request.POST.get("status", post.status) == status
            found.append((status.value, status.label, chosen))
    return found


class _Controls:
    """Builds the controls of a form, and knows which errors found no field."""

    def __init__(self, post: Post, sheet: Sheet, errors: Mapping[str, Sequence[str]]) -> None:
        self.sheet, self.errors = sheet, errors
        self.origins = origins(post)
        self.choices = PostChoices(post, _chosen(sheet))
        self._names: set[str] = {f"modules.{module.id}" for module in sheet.modules}

    def of(self, units: Iterable[Unit]) -> list[Control]:
        controls = []
        for unit in units:
            control = control_of(unit, self.sheet.typed[unit.path], self.errors, self.choices)
            control.origin, control.is_ai = self._origin(unit.path)
            self._names |= _names(control)
            controls.append(control)
        return controls

    def _origin(self, path: str) -> tuple[str, bool]:
        found = self.origins.get(path)
        # What came with a whole module is recorded with the module.
        return found or self.origins.get(".".join(path.split(".")[:2])) or ("", False)

    def unplaced(self) -> list[str]:
        return [
            sentence
            for name, sentences in self.errors.items()
            if name not in self._names
            for sentence in sentences
        ]


def _names(control: Control) -> set[str]:
    below = (*control.parts, *(part for item in control.items for part in item))
    return {control.name}.union(*(_names(part) for part in below)) if below else {control.name}


def _chosen(sheet: Sheet) -> list[str]:
    return [
        str(value)
        for path, value in sheet.typed.items()
        if isinstance(value, str) and len(value) == 36 and path in sheet.was
    ]


