"""Views of a post's form: edit and save, one module, live preview, presence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from content.comparison.references import references_of
from content.document.changes import diff, same, value_at
from content.document.document import PostDocument
from content.document.labels import label_of, module_names
from content.layers import stage
from content.models import Layer, Post, Status
from content.post_checks.results import CHECKS_FAILED
from content.posts.autosave import discard_copy, find_copy
from content.posts.edit import edit_post
from content.posts.presence import close_editor, list_open_editors, mark_editing
from content.posts.publication_date import UNCHANGED, PublishedAt
from content.presenters.cards import ChangeCard, cards_between
from content.rules.check import clean_changes
from content.rules.publication_gates import STEPS_OPEN
from content.store.layer_state import check_version
from content.store.traffic import running_variations
from proofroom.core.admin.permissions import actor_of, require, service_errors_as_http
from proofroom.core.errors import CmsError, Conflict, RuleViolation, invalid
from proofroom.core.i18n.time_zones import find_time_zone, from_local_input
from proofroom.core.middleware import allow_admin_frame
from proofroom.core.realtime.messages import presence_message
from proofroom_apps.editorial.post_editor.autosave import (
    copy_key,
    copy_layer,
    form_of,
    orphaned_texts,
    read_follows,
)
from proofroom_apps.editorial.post_editor.form import EXPIRY, SCHEDULE
from proofroom_apps.editorial.post_editor.form_data import (
    Sheet,
    edit_of,
    initial_sheet,
    read_sheet,
    read_source_hashes,
    refresh,
)
from proofroom_apps.editorial.post_editor.module_actions import rearrange
from proofroom_apps.editorial.post_editor.page import Frame, module_partial, publication_input, show
from proofroom_apps.editorial.post_editor.publish_state import SAVE_PENDING, STATUS_AFTER
from proofroom_apps.editorial.posts.extensions import submitted_for_review
from proofroom_apps.editorial.posts.post_checks import warn_about_checks
from proofroom_apps.editorial.posts.post_pages import (
    get_post_or_404,
    post_url,
    read,
    review_url,
    version_sent,
)
from proofroom_apps.editorial.posts.undo import offer_undo_status
from proofroom_apps.website.layer_pages import preview_page

_DATES: Final = {
    "schedule": (SCHEDULE, "schedule_at"),
    "unschedule": (SCHEDULE, ""),
    "expire": (EXPIRY, "expiry_at"),
    "unexpire": (EXPIRY, ""),
}
"""Buttons of the dialogs for dates: the path that they save, and the name of its input."""


@dataclass(frozen=True, slots=True)
class ConflictChoice:
    """A field or module that this form and other users changed differently. `is_field`: it is one field."""

    card: ChangeCard
    is_field: bool


def build_conflict_choices(
    request: HttpRequest, sheet: Sheet, moved: Collection[str]
) -> list[ConflictChoice]:
    """Return the fields and modules that both this form and other users changed; empty if the form is invalid."""
    try:
        typed = edit_of(sheet, sheet.document)
    except CmsError:
        return []
    # This edit is made only to compare. Forget its ids of new modules, which are never stored.
    sheet.created.clear()
    changes = diff(sheet.document, typed)
    fields = {unit.path for unit in sheet.touched()}
    groups = cards_between(
        sheet.document,
        typed,
        changes,
        references_of(changes, sheet.document, typed, who=actor_of(request)),
    )
    return [
        ConflictChoice(card, card.path in fields)
        for group in groups
        for card in group.cards
        # A module that this form removes and another user changed.
        if card.path in moved or any(path.startswith(f"{card.path}.") for path in moved)
    ]


@service_errors_as_http
def edit(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET shows the form (`?layer=review` for the content staged in Review), POST saves or rearranges it."""
    require(request, "posts.view")
    frame = Frame.read(request, post_id)
    if request.method != "POST":
        return show(frame, initial_sheet(frame.document))
    require(request, "posts.edit", "posts.translate", "posts.review.save")
    do = request.POST.get("do", "")
    if do in ("restore", "discard"):
        return decide_on_copy(frame, is_wanted=do == "restore")
    # The zone in which the page showed its times. A browser that travels has another one by now.
    if (zone := find_time_zone(request.POST.get("time_zone"))) is not None:
        timezone.activate(zone)
    sheet = read_sheet(frame.document, request.POST, actor_of(request))
    if do in _DATES and frame.layer is None:
        path, name = _DATES[do]
        # “unschedule” and “unexpire” save an empty time.
        sheet.typed[path] = wanted = request.POST.get(name, "") if name else ""
        if name and not wanted:
            errors = {path: [gettext("Choose a date and a time.")]}
            return show(frame, sheet, errors=errors, sent=True, status=422)
    elif do not in ("save", "save-review", SAVE_PENDING, "publication", *STATUS_AFTER):
        rearrange(sheet, do, request.POST)
        return show(frame, sheet, sent=True)
    return save(frame, sheet, do)


def decide_on_copy(frame: Frame, *, is_wanted: bool) -> HttpResponse:
    """Show the saved copy over the stored content, or delete it."""
    request, actor = frame.request, actor_of(frame.request)
    if is_wanted:
        layer, key = copy_layer(frame.layer), copy_key(request)
        copy = None
        if key is not None:
            copy = find_copy(key=key, post_id=frame.post.pk, actor=actor, layer=layer)
        if copy is not None:
            frame = replace(frame, sent=form_of(copy))
            sheet = read_sheet(frame.document, frame.sent, actor)
            return _show_conflicts(frame, sheet, {"is_restored": True})
        messages.info(request, gettext("These changes were already saved or discarded."))
    elif (key := copy_key(request)) is not None:
        discard_copy(key=key, actor=actor)
        messages.success(request, gettext("Unsaved changes discarded."))
    return HttpResponseRedirect(request.get_full_path())


def save(
    frame: Frame, sheet: Sheet, do: str, *, refused: Callable[..., HttpResponse] = show
) -> HttpResponse:
    """Save the form. `refused` renders the page with errors; conflicts are always shown in the editor."""
    request, post = frame.request, frame.post
    to_review = do in ("save-review", SAVE_PENDING) or frame.layer is not None
    # Before the save, which changes `post`.
    status, publish_at, unpublish_at = post.status, post.publish_at, post.unpublish_at
    first_published = post.published_at
    wanted = STATUS_AFTER.get(do) or request.POST.get("status") or None
    # Unpublishing ends running tests; undo must restart the same variations.
    is_leaving = status == Status.PUBLISHED and wanted not in (None, Status.PUBLISHED)
    running = running_variations(post) if is_leaving else []
    try:
        saved = _save_to_review(frame, sheet) if to_review else _save_live(frame, sheet, wanted)
    except Conflict as error:
        more = {"problem": error.message, "is_stale": True}
        return _show_conflicts(frame, sheet, more, status=409)
    except CmsError as error:
        if error.status == 404:
            raise
        # Map the service's error keys to the names of form fields.
        tokens = {id_: token for token, id_ in sheet.created.items()}
        errors: dict[str, list[str]] = {}
        for key, sentences in error.details.items():
            head, _, rest = key.partition(".")
            if head == "modules":
                id_, _, tail = rest.partition(".")
                key = f"modules.{tokens.get(id_, id_)}" + (f".{tail}" if tail else "")
            elif head != "post":
                key = f"post.{key}"
            # Shown in the dialog that is open. Only a publication after the expiry concerns the other date.
            key = SCHEDULE if do == "schedule" and key == EXPIRY else key
            errors.setdefault(key, []).extend(sentences)
        # Failed checks can concern more than fields, such as links from other pages. Steps concern none.
        is_shown = not errors or error.code in (CHECKS_FAILED, STEPS_OPEN)
        more = {"problem": error.message if is_shown else ""}
        return refused(frame, sheet, errors=errors, more=more, sent=True, status=error.status)
    if (copy := copy_key(request)) is not None:
        discard_copy(key=copy, actor=actor_of(request), follows=read_follows(request.POST))
    # A script saves without leaving the page.
    is_in_place = request.headers.get("Accept") == "application/json"
    is_elsewhere = post.status != status or (to_review and frame.layer is None)
    is_elsewhere = is_elsewhere or do in (*_DATES, "publication")
    # New stamps are not enough if the status or layer changed, or if new modules got ids: load the page again.
    if is_in_place and not is_elsewhere and not sheet.created:
        answer = current_stamps(frame, sheet)
        if answer is not None:
            return answer
    if not saved:
        messages.info(request, gettext("No changes to save."))
        url = request.get_full_path()
    elif do == SAVE_PENDING:
        text = gettext("Saved without publishing: %(paths)s. Visitors see the published version.")
        messages.success(request, text % {"paths": saved})
        # The author goes on writing where the changes are.
        url = post_url(frame.page, post, "?layer=review")
    elif to_review:
        text = gettext("Saved to Review: %(paths)s. The live text has not changed.")
        messages.success(request, text % {"paths": saved})
        if do == "save-review" and frame.layer is None:
            submitted_for_review(request, post)
        to_page = frame.page == "translate"
        url = (
            post_url("translate", post, "?layer=review")
            if to_page
            else review_url(post, Layer.REVIEW)
        )
    else:
        now = get_post_or_404(request, post.pk)
        text = f"{_describe_save(post, status, do)} {describe_move(post.path, now)}".strip()
        undo: SafeString | str = ""
        # Undo restores only the status. With text saved in the same step, it would publish that text.
        # The change of the status alone adds one version.
        has_new_words = now.version - post.version > 1
        if now.status != status and not (status == Status.PUBLISHED and has_new_words):
            undo = offer_undo_status(
                request,
                now,
                before=status,
                publish_at=publish_at,
                unpublish_at=unpublish_at,
                running=running,
                was_never_published=first_published is None,
            )
        messages.success(request, format_html("{} {}", text, undo))
        if now.status == Status.PUBLISHED and status != Status.PUBLISHED:
            warn_about_checks(request, now)
        if now.status == Status.PUBLISHED and (warning := image_note_warning(sheet)):
            messages.warning(request, warning)
        url = post_url(frame.page, post)
    return JsonResponse({"stays": False, "url": url}) if is_in_place else HttpResponseRedirect(url)


def _describe_save(post: Post, before: str, do: str) -> str:
    """Return a sentence about the result of the save."""
    if post.status != before:
        return {
            Status.PUBLISHED: gettext("Published. Visitors see it now."),
            Status.DRAFT: gettext("Back to draft. Visitors no longer see it."),
            Status.ARCHIVED: gettext("Archived. It is no longer on the site."),
        }[Status(post.status)]
    if do == "schedule":
        return gettext("Scheduled. The post goes live automatically.")
    if do == "publication":
        return gettext("Saved.")
    if do == "expire":
        return gettext("Saved. The post leaves the site automatically.")
    if do == "unexpire":
        return gettext("Saved. The post stays on the site.")
    if do == "unschedule":
        return gettext("Schedule removed. The post stays a draft.")
    is_live = post.status == Status.PUBLISHED
    return gettext("Published. Visitors see your changes.") if is_live else gettext("Saved.")


def describe_move(old_path: str | None, post: Post) -> str:
    """Return a sentence about the address, if a save changed it."""
    if not post.path or post.path == old_path:
        return ""
    moved = gettext("The address is now %(path)s.") % {"path": post.path}
    if post.status != Status.PUBLISHED or not old_path:
        return moved
    redirected = gettext("%(path)s redirects there.") % {"path": old_path}
    return f"{moved} {redirected}"


def image_note_warning(sheet: Sheet) -> str:
    """Return a warning if a text contains the note of a pasted image that was not imported."""
    note = gettext("[Image not imported]").removesuffix("]")
    if not any(note in str(typed) for typed in sheet.typed.values()):
        return ""
    return gettext(
        "Visitors can read a note about an image that was not imported. Replace the note with an "
        "image from the library, or delete it."
    )


def current_stamps(frame: Frame, sheet: Sheet) -> HttpResponse | None:
    """Return version and stamps of the stored values, or None if the page differs from them."""
    # The user chose another user's values, which the fields of the page don't show yet.
    if any(name.startswith("take.") for name in frame.request.POST):
        return None
    post, layers = read(frame.request, frame.post.pk)
    now = initial_sheet(layers.document(frame.layer))
    is_same = now.was_order == [module.id for module in sheet.modules]
    # If a stored value is not the typed one, the page has to be loaded again to show it.
    if not is_same or any(sheet.typed.get(path) != typed for path, typed in now.typed.items()):
        return None
    is_live = post.status == Status.PUBLISHED and frame.layer is None
    notices = (describe_move(frame.post.path, post), image_note_warning(sheet) if is_live else "")
    return JsonResponse(
        {
            "stays": True,
            "path": post.path or "",
            "notice": " ".join(filter(None, notices)),
            "version": layers.review.version if frame.layer else post.version,
            "was": {path: was for path, was in now.was.items() if sheet.was.get(path) != was},
            "order": now.was_order,
        }
    )


def _show_conflicts(
    frame: Frame, sheet: Sheet, more: Mapping[str, object], *, status: int = 200
) -> HttpResponse:
    """Show the form over the stored content with the typed values, and a choice for each conflict."""
    data = frame.sent
    names = module_names(frame.layers.live, frame.layers.review.document)
    # Must run before `refresh`, which drops modules that no longer exist.
    lost = orphaned_texts(sheet, data)
    paths = refresh(sheet)
    context = {
        **more,
        "moved": [label_of(path, sheet.document, names) for path in paths],
        "choices": build_conflict_choices(frame.request, sheet, paths),
        "lost": lost,
        "differs": bool(sheet.touched()) or sheet.order != sheet.was_order,
    }
    # The next copy lacks these texts, so it must not replace the copy that has them.
    if lost:
        context["follows"] = ()
    return show(frame, sheet, more=context, status=status)


def _save_live(frame: Frame, sheet: Sheet, status: str | None) -> str:
    """Save live content. Return a non-empty string if anything was saved."""
    post = frame.post
    before = post.version
    saved = edit_post(
        post_id=post.pk,
        actor=actor_of(frame.request),
        edit=lambda document: edit_of(sheet, document),
        status=status if status != post.status else None,
        published_at=_typed_publication(frame),
        expected_version=version_sent(frame.request),
        source_hashes=read_source_hashes(frame.request.POST),
    )
    post.status = saved.status
    return "live" if saved.version != before else ""


def _typed_publication(frame: Frame) -> PublishedAt:
    """Return the publication date from the dialog."""
    if frame.request.POST.get("do") != "publication":
        return UNCHANGED
    typed = frame.request.POST.get("published_at")
    # The input has minutes only: an unchanged one must not cut the seconds of the stored time.
    if typed is None or typed == publication_input(frame.post):
        return UNCHANGED
    if not typed:
        return None
    try:
        return from_local_input(typed)
    except ValidationError as error:
        raise invalid("publishedAt", error.messages[0]) from None
    except (ValueError, OverflowError):
        raise invalid("publishedAt", gettext("Choose a date and a time.")) from None


def _save_to_review(frame: Frame, sheet: Sheet) -> str:
    """Stage the form in Review. Return the labels of the staged values, empty if nothing was staged."""
    version: int | None = version_sent(frame.request)
    if frame.layer is None:
        # The form shows live content, so check its version and not Review's.
        check_version(version, frame.post.version, gettext("This post"))
        version = None

    def change(document: PostDocument) -> PostDocument:
        if frame.layer is None:
            # Here, since `stage` holds the lock: no other save can come between the check and the edit.
            _check_unseen(frame, sheet, document)
        return edit_of(sheet, document)

    staged = stage(
        post_id=frame.post.pk,
        layer=Layer.REVIEW,
        actor=actor_of(frame.request),
        edit=change,
        expected_version=version,
        source_hashes=read_source_hashes(frame.request.POST),
    )
    names = module_names(staged.document, frame.layers.live)
    return ", ".join(label_of(path, staged.document, names) for path in staged.paths)


def _check_unseen(frame: Frame, sheet: Sheet, review: PostDocument) -> None:
    """Raise `Conflict` if the form, which shows live content, would overwrite a change in Review."""
    live = frame.layers.live
    typed = edit_of(sheet, live)
    unseen = [
        path
        for path in diff(live, typed).paths
        if not same(value_at(review, path), value_at(live, path))
        # The same value in both is no conflict.
        and not same(value_at(review, path), value_at(typed, path))
    ]
    if unseen:
        names = module_names(review, live)
        labels = ", ".join(label_of(path, review, names) for path in unseen)
        text = gettext(
            "Other changes are already waiting in Review for: %(labels)s. Nothing was saved. Open "
            "the post in Review and edit them there."
        )
        raise Conflict(
            text % {"labels": labels},
            code="stale_review",
            details={path: [gettext("already changed by somebody")] for path in unseen},
        )


@require_http_methods(["GET", "POST"])
@service_errors_as_http
def module_part(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """GET `?module=` returns the fields of a module; POST with a form button a new module or a copy."""
    require(request, "posts.view")
    frame = Frame.read(request, post_id)
    if request.method != "POST":
        return module_partial(frame, initial_sheet(frame.document), request.GET.get("module", ""))
    require(request, "posts.edit")
    sheet = read_sheet(frame.document, request.POST, actor_of(request))
    before = {module.id for module in sheet.modules}
    rearrange(sheet, request.POST.get("do", ""), request.POST)
    made = [module.id for module in sheet.modules if module.id not in before]
    return module_partial(frame, sheet, made[0] if made else "")


@service_errors_as_http
@require_POST
@allow_admin_frame
def live_preview(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Return the page of the site for the submitted form; 422 with the reason if it is invalid. Stores nothing."""
    require(request, "posts.view")
    require(request, "posts.edit", "posts.translate", "posts.review.save")
    frame = Frame.read(request, post_id)
    sheet = read_sheet(frame.document, request.POST, actor_of(request))
    try:
        edited = edit_of(sheet, frame.document)
        typed = clean_changes(frame.post, frame.document, edited, actor=actor_of(request))
    except CmsError as error:
        return JsonResponse({"message": error.message}, status=error.status)
    page = preview_page(frame.post, typed, gettext("not saved"))
    for token, id_ in sheet.created.items():
        # The form on the page has only its own name of a new module.
        page = page.replace(id_, token)
    response = HttpResponse(page)
    # Unsaved content must not get into caches and search engines.
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


@require_POST
@service_errors_as_http
def report_presence(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Record presence. An open form calls it every few seconds, and once when it is closed."""
    require(request, "posts.edit", "posts.translate", "posts.review.save")
    post, actor = get_post_or_404(request, post_id), actor_of(request)
    key = request.POST.get("key", "")
    try:
        if "leave" in request.POST:
            close_editor(post_id=post.pk, key=key, actor=actor)
        else:
            layer = request.POST.get("layer", "")
            mark_editing(post_id=post.pk, key=key, actor=actor, layer=layer)
    except RuleViolation as error:
        return JsonResponse({"error": error.message}, status=error.status)
    pages = list_open_editors([post.pk]).get(post.pk, [])
    return JsonResponse({"editing": presence_message(actor.user.pk, pages)})
