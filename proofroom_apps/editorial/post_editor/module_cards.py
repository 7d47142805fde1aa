"""The modules of a form as cards: type, summary, lock reason, open or closed."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from content.store.global_module_queries import count_placements_by_slug
from media.models import Asset
from media.presenters import smallest_url
from proofroom.core.i18n import in_words
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions import modules
from proofroom.definitions.module_group import module_groups
from proofroom_apps.editorial.post_editor.controls import Control, summary_of
from proofroom_apps.editorial.post_editor.form import FormUnit, ModuleSection
from proofroom_apps.editorial.post_editor.form_data import Sheet

OPEN_UNTIL: Final = 8
"""Maximum number of modules that are shown open; a longer post loads the fields of a module when it is opened."""

ControlsOf = Callable[[Iterable[FormUnit], ModuleSection], list[Control]]


@dataclass(slots=True)
class ModuleCard:
    """A module in the form. `controls` is None if its fields are not on the page.

    A global module has its own page, `shared_url`, and is placed by `shared_posts` posts.
    """

    module: ModuleSection
    number: int
    icon: str
    summary: str
    facts: tuple[str, ...]
    thumbnail: str
    lock_reason: str
    was: Mapping[str, str]
    controls: list[Control] | None = None
    errors: Sequence[str] = ()
    shared_url: str = ""
    shared_posts: int = 0
    is_open: bool = False
    is_touched: bool = False

    @property
    def was_text(self) -> str:
        return json.dumps(self.was)

    @property
    def has_body(self) -> bool:
        """True if it shows more than a button to load its fields."""
        module = self.module
        is_plain = module.is_known and not (module.is_locked or module.shared_slug or self.errors)
        return self.controls is not None or not is_plain

    @property
    def has_errors(self) -> bool:
        return bool(self.errors) or any(control.has_errors for control in self.controls or ())


def cards_of(
    sheet: Sheet,
    controls_of: ControlsOf,
    errors: Mapping[str, Sequence[str]],
    *,
    touched: Collection[str],
    wanted: Collection[str] = (),
    opened: Collection[str] = (),
) -> list[ModuleCard]:
    """Return all modules as cards.

    `touched` are the changed paths. `wanted` modules have their fields on the page, `opened` ones are shown open.

    One query for thumbnails, and one more if there are global modules.
    """
    shared = count_placements_by_slug({module.shared_slug for module in sheet.modules} - {""})
    # Thumbnails of the images placed directly in a module, by id.
    ids = {id_ for module in sheet.modules for id_ in _media(sheet, module)}
    assets = Asset.objects.filter(pk__in=ids)
    thumbnails = {str(asset.pk): url for asset in assets if (url := smallest_url(asset))}
    are_few = len(sheet.modules) <= OPEN_UNTIL
    cards = []
    for number, module in enumerate(sheet.modules, 1):
        is_touched = any(unit.path in touched for unit in module.units)
        name = f"modules.{module.id}"
        is_wrong = any(key == name or key.startswith(f"{name}.") for key in errors)
        is_open = are_few or module.is_new or module.id in opened or is_wrong
        # A changed field must be on the page: the next save sends only fields that are.
        is_here = is_open or module.id in wanted or is_touched
        media = [thumbnails[id_] for id_ in _media(sheet, module) if id_ in thumbnails]
        facts = []
        for unit in module.units:
            value = sheet.typed[unit.path]
            if unit.field.kind == "repeater" and isinstance(value, list) and value:
                text = ngettext("%(label)s: %(n)s item", "%(label)s: %(n)s items", len(value))
                facts.append(text % {"label": in_words(unit.field.label), "n": len(value)})
        own = sorted(unit.path for unit in module.units)
        card = ModuleCard(
            module=module,
            number=number,
            icon=icon_of(module.type),
            summary=summary_of(module.units, sheet.typed),
            facts=tuple(facts),
            thumbnail=media[0] if media else "",
            lock_reason=lock_reason(module, sheet.document.type) if module.is_locked else "",
            was={path: sheet.was[path] for path in own if path in sheet.was},
        )
        card.errors = errors.get(f"modules.{module.id}", [])
        card.controls = controls_of(module.units, module) if is_here else None
        if module.shared_slug in shared:
            pk, card.shared_posts = shared[module.shared_slug]
            card.shared_url = reverse("admin:content_moduleinstance_change", args=[pk])
        card.is_open, card.is_touched = is_open, is_touched
        cards.append(card)
    return cards


def icon_of(type_name: str) -> str:
    definition = modules.get(type_name)
    return (definition.icon if definition else "") or "layers"


def _media(sheet: Sheet, module: ModuleSection) -> list[str]:
    return [
        value
        for unit in module.units
        if unit.field.kind == "media"
        and isinstance(value := sheet.typed[unit.path], str)
        and parse_uuid(value) is not None
    ]


def lock_reason(module: ModuleSection, post_type: str) -> str:
    """Return why the module is locked in place, with the group's name if it is unique."""
    groups = {
        group.label
        for group in module_groups
        if group.post_type == post_type
        and any(place.locked and place.type == module.type for place in group.modules)
    }
    if len(groups) == 1:
        text = _(
            "Locked by the module group “%(group)s”: it cannot be moved or "
            "removed, but its text can be edited."
        )
        return text % {"group": groups.pop()}
    return _(
        "Locked by the module group of this post: it cannot be moved or removed, "
        "but its text can be edited."
    )
