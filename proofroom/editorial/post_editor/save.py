"""Saving what was typed into the form of a post: live or to Review, through the services."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext as _

from content.changes import diff, same, value_at
from content.document import PostDocument
from content.layers import stage
from content.layers.state import check_version
from content.models import Layer, Status
from content.posts.edit import edit_post
from content.posts.reference_titles import references_of
from content.review.cards import ChangeCard, cards_between
from content.review.labels import label_of, module_names
from proofroom.core.admin.permissions import actor_of, answers_refusals, require
from proofroom.core.errors import CmsError, Conflict
from proofroom.editorial.post_editor.choices import shared_modules
from proofroom.editorial.post_editor.form_data import (
    Sheet,
    edit_of,
    open_sheet,
    read_sheet,
    refresh,
)
from proofroom.editorial.post_editor.form_fields import value_stamp
from proofroom.editorial.post_editor.module_actions import rearrange
from proofroom.editorial.post_editor.page import Frame, show, version_sent
from proofroom.editorial.post_editor.rich_text_values import DOCUMENT, normalize_line_ends
from proofroom.editorial.posts.post_pages import post_url, read, review_url


def collect_unsaved_text(sheet: Sheet, data: QueryDict) -> list[str]:
    """To be asked before the sheet is refreshed: later it knows of these modules no more."""
    order = set(data.getlist("order"))
    gone = [
        f"modules.{id_}."
        for id_ in sheet.was_order
        if id_ in order and sheet.document.module(id_) is None
    ]
    texts = {
        name: normalize_line_ends(data.get(name, ""))
        for name in data
        if name.startswith(tuple(gone))
    }
    return [
        text
        for name, text in texts.items()
        if text.strip()
        and not name.endswith((DOCUMENT, ".count"))
        and sheet.was.get(name) != value_stamp(text)
    ]


def is_saved_in_place(request: HttpRequest) -> bool:
    """Return whether a script asks, which keeps the page open."""
    return request.headers.get("Accept") == "application/json"


def save_response(frame: Frame, url: str) -> HttpResponse:
    if is_saved_in_place(frame.request):
        return JsonResponse({"stays": False, "url": url})
    return HttpResponseRedirect(url)


def current_stamps(frame: Frame, sheet: Sheet) -> HttpResponse | None:
    """The version and the stamps of what stands now; None where the page does not show just that."""
    if any(name.startswith("take.") for name in frame.request.POST):
        return None
    post, layers = read(frame.post.pk)
    fresh = open_sheet(layers.document(frame.layer), shared_modules())
    is_same = fresh.was_order == [module.id for module in sheet.modules]
    if not is_same or any(sheet.typed.get(path) != typed for path, typed in fresh.typed.items()):
        return None
    return JsonResponse(
        {
            "stays": True,
            "version": layers.review.version if frame.layer else post.version,
            "was": {path: was for path, was in fresh.was.items() if sheet.was.get(path) != was},
            "order": fresh.was_order,
        }
    )


@dataclass(frozen=True, slots=True)
class ConflictChoice:
    """A difference between what stands and what was typed. `is_both`: others changed it too since it was shown."""

    group: str
    card: ChangeCard
    is_both: bool
    is_field: bool


def build_conflict_choices(sheet: Sheet, moved: Collection[str]) -> list[ConflictChoice]:
    """What a save of this form would change, those that others changed too first; nothing for what is refused."""
    try:
        typed = edit_of(sheet, sheet.document)
    except CmsError:
        return []
    sheet.created.clear()
    changes = diff(sheet.document, typed)
    fields = {unit.path for unit in sheet.touched()}
    groups = cards_between(
        sheet.document, typed, changes, references_of(changes, sheet.document, typed)
    )
    found = [
        ConflictChoice(group.name, card, card.path in moved, card.path in fields)
        for group in groups
        for card in group.cards
    ]
    return sorted(found, key=lambda choice: not choice.is_both)


@answers_refusals
def edit(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET shows the form (`?layer=review` over what is staged in Review), POST saves or rearranges it."""
    require(request, "posts.view")
    post, layers = read(post_id)
    layer = Layer.REVIEW if request.GET.get("layer") == Layer.REVIEW else None
    frame = Frame(request, post, layers, layer)
    document = layers.document(layer)
    if request.method != "POST":
        return show(frame, open_sheet(document, shared_modules()))
    require(request, "posts.edit", "posts.translate", "posts.review.save")
    sheet = read_sheet(document, shared_modules(), request.POST)
    do = request.POST.get("do", "")
    if do in ("restore", "compare"):
        # What a browser kept of a form that was never saved, over what stands now.
        names = module_names(frame.layers.live, frame.layers.review.document)
        lost = collect_unsaved_text(sheet, frame.request.POST)
        paths = refresh(sheet)
        more = {
            "moved": [label_of(path, sheet.document, names) for path in paths],
            "is_restored": True,
            "is_compared": (do == "compare"),
            "choices": build_conflict_choices(sheet, paths),
            "lost": lost,
        }
        return show(frame, sheet, more=more)
    if do not in ("save", "save-review"):
        rearrange(sheet, do, request.POST)
        return show(frame, sheet, sent=True)
    return _save(frame, sheet, to_review=do == "save-review" or layer is not None)


def _save(frame: Frame, sheet: Sheet, *, to_review: bool) -> HttpResponse:
    status = frame.post.status
    try:
        saved = _stage(frame, sheet) if to_review else _write_live(frame, sheet)
    except Conflict as error:
        return _stale(frame, sheet, error)
    except CmsError as error:
        if error.status == 404:
            raise
        # The sentences of a refusal by the name of the form's field.
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
        errors = found
        more = {"problem": "" if errors else error.message}
        return show(frame, sheet, errors=errors, more=more, sent=True, status=error.status)
    is_elsewhere = frame.post.status != status or (to_review and frame.layer is None)
    may_stay = is_saved_in_place(frame.request) and not is_elsewhere and not sheet.created
    if may_stay and (answer := current_stamps(frame, sheet)) is not None:
        return answer
    return save_response(frame, _told(frame, saved, to_review=to_review))


def _told(frame: Frame, saved: str, *, to_review: bool) -> str:
    """Say what was done with the next page; answers where that is."""
    request, post = frame.request, frame.post
    if not saved:
        messages.info(request, _("Nothing was changed."))
        return request.get_full_path()
    if to_review:
        text = _("Saved to Review: %(paths)s. The live text is as it was.")
        messages.success(request, text % {"paths": saved})
        return review_url(post, Layer.REVIEW)
    is_live = post.status == Status.PUBLISHED
    messages.success(request, _("Saved. The change is live.") if is_live else _("Saved."))
    return post_url("change", post)


def _stale(frame: Frame, sheet: Sheet, error: Conflict) -> HttpResponse:
    """The form over what stands now, with what was typed kept, and each field that both changed to choose."""
    names = module_names(frame.layers.live, frame.layers.review.document)
    lost = collect_unsaved_text(sheet, frame.request.POST)
    paths = refresh(sheet)
    more = {
        "problem": error.message,
        "moved": [label_of(path, sheet.document, names) for path in paths],
        "is_stale": True,
        "choices": build_conflict_choices(sheet, paths),
        "lost": lost,
    }
    return show(frame, sheet, more=more, status=409)


def _write_live(frame: Frame, sheet: Sheet) -> str:
    """Return whether anything was saved, as a word or none."""
    post, status = frame.post, frame.request.POST.get("status") or None
    before = post.version
    saved = edit_post(
        post_id=post.pk,
        actor=actor_of(frame.request),
        edit=lambda document: edit_of(sheet, document),
        status=status if status != post.status else None,
        expected_version=version_sent(frame.request),
    )
    post.status = saved.status
    return "live" if saved.version != before else ""


def _stage(frame: Frame, sheet: Sheet) -> str:
    """Return what was staged in Review, in words; empty for nothing."""
    version: int | None = version_sent(frame.request)
    if frame.layer is None:
        # The form shows live content; Review's own version is not what this person read.
        check_version(version, frame.post.version, gettext("This post"))
        version = None

    def change(document: PostDocument) -> PostDocument:
        if frame.layer is None:
            _check_unseen(frame, sheet, document)
        return edit_of(sheet, document)

    staged = stage(
        post_id=frame.post.pk,
        layer=Layer.REVIEW,
        actor=actor_of(frame.request),
        edit=change,
        expected_version=version,
    )
    names = module_names(staged.document, frame.layers.live)
    return ", ".join(label_of(path, staged.document, names) for path in staged.paths)


def _check_unseen(frame: Frame, sheet: Sheet, review: PostDocument) -> None:
    """Raise `Conflict` where Review holds words that the form, which shows live content, does not show."""
    live = frame.layers.live
    typed = edit_of(sheet, live)
    unseen = [
        path
        for path in diff(live, typed).paths
        if not same(value_at(review, path), value_at(live, path))
        and not same(value_at(review, path), value_at(typed, path))
    ]
    if unseen:
        names = module_names(review, live)
        labels = ", ".join(label_of(path, review, names) for path in unseen)
        text = _(
            "Review already holds other words for: %(labels)s. Nothing was saved. "
            "Open the post in Review and change them there."
        )
        raise Conflict(
            text % {"labels": labels},
            code="stale_review",
            details={path: [gettext("staged by somebody already")] for path in unseen},
        )
