"""The state of a post in its form: a badge, its explanation, the main button, and the menu.

One function returns them all, so that they agree in every state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from django.utils.translation import gettext

from content.models import Status
from proofroom_apps.editorial.posts.state_badge import PublicationState, StateBadge, badge_of

STATUS_AFTER: Final = {
    "publish": Status.PUBLISHED,
    "unpublish": Status.DRAFT,
    "archive": Status.ARCHIVED,
    "unarchive": Status.DRAFT,
}
"""Buttons that save the form and change the post's status."""
SAVE_PENDING: Final = "save-pending"
"""The button that saves changes of a live post to Review, where the author goes on writing."""


@dataclass(frozen=True, slots=True)
class PostState(PublicationState):
    """The data for the header. `may_save` is the right to change the form's content without a review.

    `is_outside`: the post is out of the scope of the user's role. `has_steps`: the type has editorial steps.
    """

    may_save: bool = False
    may_stage: bool = False
    is_outside: bool = False
    may_publish: bool = False
    may_archive: bool = False
    may_copy: bool = False
    may_save_template: bool = False
    may_trash: bool = False
    may_approve: bool = False
    is_variation: bool = False
    has_steps: bool = False
    open_step: str = ""
    """Which editorial step refuses the publication of the saved draft now."""
    is_locked: bool = False
    """True if another person has locked the page."""
    has_lock: bool = False
    """True if the user has locked the page."""

    @property
    def is_live(self) -> bool:
        """True if visitors see content that is saved without a review."""
        return self.status == Status.PUBLISHED or self.is_running

    def awaits_steps(self, *, is_dirty: bool) -> bool:
        """Return True if editorial steps refuse the publication. Unsaved changes have passed none."""
        return bool(self.open_step) or (is_dirty and self.has_steps)


@dataclass(frozen=True, slots=True)
class StateAction:
    """A button (`do` is its form value), or a link to a page or dialog of the post. `help` is its tooltip."""

    label: str
    do: str = ""
    page: Literal["", "review", "ai_review", "steps", "copy", "template", "trash"] = ""
    dialog: str = ""
    is_enabled: bool = True
    help: str = ""


@dataclass(frozen=True, slots=True)
class EditorHeader:
    """The header of the form."""

    badge: StateBadge
    hint: str
    primary: StateAction | None
    secondary: StateAction | None
    menu: tuple[StateAction, ...]


@dataclass(frozen=True, slots=True)
class ShownAction:
    """An action on the page, shown always, or only while `clean` or `dirty`; some need changes to be enabled."""

    action: StateAction
    when: Literal["", "clean", "dirty"] = ""
    needs_changes: bool = False


def merge_actions(clean: Sequence[StateAction], dirty: Sequence[StateAction]) -> list[ShownAction]:
    """Return the actions of both states, common ones once."""
    alike = {(one.do, one.page, one.dialog, one.label) for one in clean}
    both = {key for one in dirty if (key := (one.do, one.page, one.dialog, one.label)) in alike}
    shown = []
    for one in dirty:
        is_in_both = (one.do, one.page, one.dialog, one.label) in both
        # Disabled without changes: the script enables it as soon as there are some.
        needs = any(not other.is_enabled for other in clean if other.do == one.do and one.do)
        shown.append(ShownAction(one, "" if is_in_both else "dirty", is_in_both and needs))
    rest = [one for one in clean if (one.do, one.page, one.dialog, one.label) not in both]
    return [*(ShownAction(one, "clean") for one in rest), *shown]


def header_of(state: PostState, *, is_dirty: bool) -> EditorHeader:
    """Return the header. `is_dirty` is True if there are unsaved changes."""
    hint, primary = _main(state, is_dirty=is_dirty)
    found = [
        one
        # The menu does not repeat the main button.
        for one in _others(state, is_dirty=is_dirty)
        if primary is None
        or (one.do, one.page, one.dialog) != (primary.do, primary.page, primary.dialog)
    ]
    secondary = next(
        (one for one in found if one.do in ("save", SAVE_PENDING, "save-review")), None
    )
    menu = tuple(one for one in found if one is not secondary)
    return EditorHeader(badge_of(state), hint, primary, secondary, menu)


def _submit(*, has_steps: bool, is_enabled: bool = True) -> StateAction:
    """Return the button that saves to Review, which also starts the steps of the type."""
    text = gettext("Saves your changes to Review and starts the steps.") if has_steps else ""
    return StateAction(
        gettext("Submit for review"), do="save-review", is_enabled=is_enabled, help=text
    )


def _main(state: PostState, *, is_dirty: bool) -> tuple[str, StateAction | None]:
    """Return the sentence and the main button, which agree."""
    if state.is_locked:
        return gettext("Another person has locked this page. You can view it."), None
    if not (state.may_stage if state.in_review else state.may_save or state.may_stage):
        if state.is_outside:
            return gettext("You can view this post. Your role is limited to other content."), None
        return gettext("You can view this post but not edit it."), None
    if state.in_review:
        hint = gettext("Visitors do not see these changes until somebody approves them.")
        if not is_dirty and state.changes_in_review:
            return hint, StateAction(gettext("Review changes"), page="review")
        return hint, StateAction(gettext("Save to Review"), do="save-review", is_enabled=is_dirty)
    if not state.may_save:
        hint = gettext("Your changes go to Review; visitors see them once somebody approves them.")
        if state.has_steps:
            hint = gettext("Your changes go to Review and through the steps of this type.")
        return hint, _submit(has_steps=state.has_steps, is_enabled=is_dirty)
    if state.is_live:
        if not is_dirty and state.changes_in_review and state.may_approve:
            hint = gettext("Changes in Review are not visible to visitors yet.")
            return hint, StateAction(gettext("Review changes"), page="review")
        if state.has_steps and state.may_stage:
            hint = gettext("Your changes go to Review and through the steps of this type.")
            return hint, _submit(has_steps=True, is_enabled=is_dirty)
        hint = (
            gettext("Visitors see your changes as soon as you publish them.")
            if is_dirty
            else gettext("Visitors see this version.")
        )
        return hint, StateAction(gettext("Publish changes"), do="save", is_enabled=is_dirty)
    if state.status == Status.ARCHIVED:
        hint = gettext("Archived posts are not on the site.")
        if state.may_publish and not is_dirty:
            return hint, StateAction(gettext("Restore as draft"), do="unarchive")
        return hint, StateAction(gettext("Save changes"), do="save", is_enabled=is_dirty)
    if state.is_placeholder:
        hint = gettext("Approve the agent’s content before you publish this post.")
        if is_dirty:
            return hint, StateAction(gettext("Save draft"), do="save")
        return hint, StateAction(gettext("Review proposal"), page="ai_review")
    if state.open_step and state.may_publish and not is_dirty:
        return state.open_step, StateAction(gettext("Open the steps"), page="steps")
    if state.is_scheduled:
        hint = gettext("This post goes live automatically at that time.")
        if state.awaits_steps(is_dirty=is_dirty):
            hint = state.open_step or gettext("With these changes, the steps begin again.")
        if state.may_publish and not is_dirty:
            return hint, StateAction(gettext("Publish now"), do="publish")
        return hint, StateAction(gettext("Save changes"), do="save", is_enabled=is_dirty)
    may_publish = state.may_publish and not state.awaits_steps(is_dirty=is_dirty)
    if may_publish and not state.is_variation:
        hint = (
            gettext("Publishing saves your changes and shows the post to visitors.")
            if is_dirty
            else gettext("Visitors cannot see this draft.")
        )
        return hint, StateAction(gettext("Publish"), do="publish")
    hint = gettext("Visitors cannot see this draft.")
    return hint, StateAction(gettext("Save draft"), do="save", is_enabled=is_dirty)


def _others(state: PostState, *, is_dirty: bool) -> list[StateAction]:
    """Return the menu of the main button: saving first, then actions that change where the post is visible."""
    if state.in_review:
        return (
            [StateAction(gettext("Review changes"), page="review")]
            if state.changes_in_review
            else []
        )
    is_draft = state.status == Status.DRAFT
    may_publish = state.may_save and state.may_publish and is_draft
    # A placeholder has to be approved first, and a variation is started in a test instead.
    may_publish = may_publish and not (state.is_placeholder or state.is_variation)
    awaits_steps = state.awaits_steps(is_dirty=is_dirty)
    found = []
    if state.may_save:
        label = (
            # Visitors see a running variation, although it is a draft.
            gettext("Save draft") if is_draft and not state.is_running else gettext("Save changes")
        )
        found.append(StateAction(label, do="save"))
    if state.is_live and state.may_save and state.may_stage:
        label = gettext("Save without publishing")
        pending = StateAction(label, do=SAVE_PENDING, is_enabled=is_dirty)
        # Of a type with steps, saving at once is refused for all but a few fields.
        found.insert(0 if state.has_steps else len(found), pending)
    if may_publish and not awaits_steps:
        found.append(StateAction(gettext("Publish now"), do="publish"))
    if state.may_stage:
        found.append(_submit(has_steps=state.has_steps))
    # A date is refused like a publication, but can be taken away.
    if may_publish and (state.is_scheduled or not awaits_steps):
        label = gettext("Change schedule…") if state.is_scheduled else gettext("Schedule…")
        found.append(StateAction(label, dialog="schedule"))
    if state.may_save and state.may_publish and not (state.is_placeholder or state.is_variation):
        found.append(StateAction(gettext("Publication date…"), dialog="publication"))
    if state.may_save and state.status == Status.PUBLISHED and state.may_publish:
        found.append(StateAction(gettext("Unpublish"), do="unpublish"))
    may_expire = state.may_save and state.may_publish and state.status != Status.ARCHIVED
    if may_expire and not (state.is_placeholder or state.is_variation):
        label = (
            gettext("Unpublish at a time…")
            if state.unpublish_at is None
            else gettext("Change the time to unpublish…")
        )
        found.append(StateAction(label, dialog="expiry"))
    if state.may_save and state.status != Status.ARCHIVED and state.may_archive:
        found.append(StateAction(gettext("Archive"), do="archive"))
    if state.may_save and state.status == Status.ARCHIVED and state.may_publish:
        found.append(StateAction(gettext("Restore as draft"), do="unarchive"))
    if state.may_save or state.may_stage:
        label = gettext("Change lock…") if state.has_lock else gettext("Lock page…")
        found.append(StateAction(label, dialog="page-lock"))
    if state.may_copy and not (state.is_placeholder or state.is_variation):
        found.append(StateAction(gettext("Copy…"), page="copy"))
    if state.may_save_template and not (state.is_placeholder or state.is_variation):
        found.append(StateAction(gettext("Save as template…"), page="template"))
    if state.may_trash:
        found.append(StateAction(gettext("Move to trash"), page="trash"))
    return found
