"""Editing a staged change in its review. It stays in its layer and keeps its author."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _

from content.document.document import CUSTOM_PREFIX, PostDocument
from content.layers import stage
from content.models import Layer
from content.store import document_edits
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.errors import CmsError, Conflict
from proofroom.core.json import JsonObject
from proofroom_apps.editorial.post_editor.choices import PostChoices
from proofroom_apps.editorial.post_editor.controls import control_of
from proofroom_apps.editorial.post_editor.form import (
    FormUnit,
    module_section,
    post_sections,
    shared_modules,
)
from proofroom_apps.editorial.post_editor.form_fields import (
    Typed,
    from_typed,
    read,
    to_typed,
    value_stamp,
)
from proofroom_apps.editorial.post_editor.page import add_script_data
from proofroom_apps.editorial.post_editor.rich_text import is_as_stored, normalize_line_ends
from proofroom_apps.editorial.posts.post_pages import post_page, post_url, review_url
from proofroom_apps.editorial.posts.post_pages import read as read_post
from proofroom_apps.editorial.review.page import Reviewed, may_edit

_PART_HEADER = "X-Part"
"""The header with which a script requests only the form."""
_MAX_TEXT_SHOWN = 5000


@service_errors_as_http
def review_edit(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Edit the change at `?layer=&path=`: GET shows its form, POST stages the new value."""
    require(request, "posts.edit", "posts.review.save")
    post, layers = read_post(request, post_id)
    layer = Layer.REVIEW if request.GET.get("layer") == Layer.REVIEW else Layer.AI_REVIEW
    if not may_edit(request, post, layer):
        raise PermissionDenied
    reviewed = Reviewed(request, post, layers, layers.view(layer))
    path = request.GET.get("path", "")
    if path not in reviewed.view.changes.paths:
        # It was decided meanwhile or never existed. Show the typed text so that the user can copy it.
        messages.warning(request, _("This change is no longer waiting."))
        lost = normalize_line_ends(request.POST.get(path, ""))
        if lost.strip() and value_stamp(lost) != request.POST.get(f"was.{path}"):
            text = _("Your text was not saved: %(words)s")
            messages.warning(request, text % {"words": lost[:_MAX_TEXT_SHOWN]})
        return _leave_form(reviewed, "")
    units = units_of(path, reviewed.view.document)
    if not units:
        raise Http404(_("Field not found."))
    if request.method == "POST":
        return _save(reviewed, path)
    typed = {unit.path: to_typed(unit.field, unit.value) for unit in units}
    return _show(reviewed, path, units, typed)


def _leave_form(reviewed: Reviewed, path: str) -> HttpResponse:
    if _PART_HEADER in reviewed.request.headers:
        return HttpResponse(status=204)
    anchor = f"#c-{path}" if path else ""
    return HttpResponseRedirect(review_url(reviewed.post, reviewed.view.layer) + anchor)


def units_of(path: str, document: PostDocument) -> list[FormUnit]:
    """Return the units of a change: the one at its path, or all of a module."""
    if path.startswith("post."):
        units = [unit for section in post_sections(document) for unit in section.units]
        return [unit for unit in units if unit.path == path]
    module = document.module(path.split(".", 2)[1])
    if module is None:
        return []
    shared = dict(shared_modules().values()) if module.scope == "global" else {}
    units = list(module_section(module, shared).units)
    whole = path == f"modules.{module.id}"
    return [unit for unit in units if whole or unit.path == path]


def _save(reviewed: Reviewed, path: str) -> HttpResponse:
    request = reviewed.request
    units = units_of(path, reviewed.view.document)
    typed = {
        unit.path: read(unit.field, request.POST, unit.path, actor_of(request)) for unit in units
    }
    was = {unit.path: request.POST.get(f"was.{unit.path}", "") for unit in units}

    def change(document: PostDocument) -> PostDocument:
        now = units_of(path, document)
        # Compare these values only, not the layer's version: other changes of the layer are no conflict.
        if any(value_stamp(to_typed(unit.field, unit.value)) != was.get(unit.path) for unit in now):
            raise Conflict(
                _(
                    "Somebody changed this while you were editing. Your text is "
                    "below. Compare both."
                ),
                code="stale_version",
            )
        touched = [
            unit
            for unit in now
            if value_stamp(typed[unit.path]) != was[unit.path]
            and not is_as_stored(typed[unit.path], unit.value)
        ]
        if not touched:
            return document
        values: JsonObject = {
            unit.field.name: from_typed(unit.field, typed[unit.path], unit.value, unit.path)
            for unit in touched
        }
        if not path.startswith("post."):
            return document_edits.update_module(document, path.split(".", 2)[1], props=values)
        if path.removeprefix("post.").startswith(CUSTOM_PREFIX):
            return document_edits.patch_fields(document, {"customFields": values})
        return document_edits.patch_fields(document, values)

    try:
        staged = stage(
            post_id=reviewed.post.pk,
            layer=reviewed.view.layer,
            actor=actor_of(request),
            edit=change,
        )
    except CmsError as error:
        if error.status in (403, 404):
            raise
        return _show(reviewed, path, units, typed, error)
    if staged.paths:
        messages.success(request, _("Saved. The change is still waiting for a decision."))
    else:
        messages.info(request, _("No changes to save."))
    return _leave_form(reviewed, path)


def _show(
    reviewed: Reviewed,
    path: str,
    units: list[FormUnit],
    typed: Mapping[str, Typed],
    error: CmsError | None = None,
) -> HttpResponse:
    request, post = reviewed.request, reviewed.post
    label = reviewed.labels([path])[0][1]
    errors: dict[str, list[str]] = {}
    for key, sentences in (error.details if error else {}).items():
        name = key if key.startswith(("post.", "modules.")) else f"post.{key}"
        errors.setdefault(name, []).extend(sentences)
    # Chosen ids must be available as choices.
    found: list[str] = []
    for unit in units:
        if unit.field.kind in ("media", "post-reference", "taxonomy-reference", "terms"):
            values = unit.value if isinstance(unit.value, list | tuple) else [unit.value]
            found += [str(value) for value in values if value]
    choices = PostChoices(reviewed.post, found, actor_of(reviewed.request))
    controls = [
        control_of(unit.field, unit.path, typed[unit.path], errors, choices) for unit in units
    ]
    for control, unit in zip(controls, units, strict=True):
        add_script_data(control, unit.field, typed[unit.path], unit.value)
    is_at_fields = any(control.has_errors for control in controls)
    context = {
        "controls": controls,
        # Stamps of the current values, not of the submitted ones: after a conflict the next attempt can succeed.
        "stamps": [(unit.path, value_stamp(to_typed(unit.field, unit.value))) for unit in units],
        "problem": error.message if error and not is_at_fields else "",
        "label": label,
        "action": post_url(
            "review_edit", post, "?" + urlencode({"layer": reviewed.view.layer, "path": path})
        ),
        "back": review_url(post, reviewed.view.layer) + f"#c-{path}",
        "post": post,
    }
    status = error.status if error else 200
    title = _("Edit: %(label)s") % {"label": label}
    if _PART_HEADER in request.headers:
        return TemplateResponse(request, "admin/cms/edit_part.html", context, status=status)
    return post_page(
        request,
        "admin/posts/review_edit.html",
        post,
        reviewed.layers,
        context,
        title=title,
        tab=reviewed.view.layer,
        status=status,
    )
