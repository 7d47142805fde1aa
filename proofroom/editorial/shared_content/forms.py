"""What the form of a global module, a menu or a term holds, as the document that it would store."""

from __future__ import annotations

from django.http import QueryDict
from django.utils.translation import gettext as _

from content.global_modules.services import edited_global
from content.models import ModuleInstance
from proofroom.core.actor import Actor
from proofroom.core.errors import invalid
from proofroom.core.json import JsonObject
from proofroom.editorial.module_layouts.global_module_admin import GlobalForm
from proofroom.menus.admin.menu_admin import read_items
from proofroom.menus.models import Menu
from proofroom.menus.services import edited_menu
from proofroom.shared_content.kinds import SharedRow
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import edited_term


def sent_document(row: SharedRow, data: QueryDict, actor: Actor) -> JsonObject:
    """The document of the row with what was sent, by the rules of a write. Raises `RuleViolation`."""
    if isinstance(row, Menu):
        try:
            items = read_items(data)
        except ValueError as error:
            raise invalid(
                "items", _("The items are not valid: %(problem)s.") % {"problem": error}
            ) from None
        return edited_menu(row, name=data.get("name"), items=items, actor=actor)
    if isinstance(row, ModuleInstance):
        initial = {"type": row.type, "props": row.props}
        form = GlobalForm(data, initial=initial, who=actor)
        return edited_global(row, label=data.get("label"), props=form.values(), actor=actor)
    if not isinstance(row, Term):
        raise TypeError(row)
    return edited_term(row, name=data.get("name"))
