"""The media library: files as tiles or as a table, with the admin's search, filters and pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib.admin.views.main import ORDER_VAR
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _

from media.admin.file_choice import MediaChoice, choice_of
from media.admin.upload_forms import KINDS
from media.admin.uploads import upload_limits
from media.models import Asset, AssetStatus
from proofroom.core.admin.lists import ALL, SAVED_VAR, ViewChangeList, list_state
from proofroom.core.admin.permissions import may

VIEW: Final = "view"
GRID, TABLE = "grid", "table"


class LibraryList(ViewChangeList):
    """The admin's list, with the selected view stored in the URL."""

    def get_filters_params(self, params: Any = None) -> Any:
        found = super().get_filters_params(params)
        found.pop(VIEW, None)
        return found

    @property
    def look(self) -> str:
        return TABLE if self.params.get(VIEW) == TABLE else GRID

    @property
    def order(self) -> str:
        return self._named(str(self.params.get(ORDER_VAR, "")))


@dataclass(frozen=True, slots=True)
class FileTile:
    """A file of the list with the data of its tile or row."""

    choice: MediaChoice
    uses: int

    @property
    def asset(self) -> Asset:
        return self.choice.asset

    @property
    def is_failed(self) -> bool:
        return self.asset.status == AssetStatus.FAILED

    @property
    def is_waiting(self) -> bool:
        return self.asset.status == AssetStatus.PROCESSING


@dataclass(frozen=True, slots=True)
class Chip:
    """An active filter, with the URL of the list without it."""

    title: str
    label: str
    address: str


def library_context(request: HttpRequest, listed: LibraryList) -> dict[str, Any]:
    """Return the page context in addition to Django's list. No query."""
    rows: QuerySet[Any] = listed.result_list
    orders = [
        ("", _("Newest first")),
        ("created_at", _("Oldest first")),
        ("filename", _("By name")),
        ("-size", _("Largest first")),
        ("-uses", _("Most used first")),
    ]
    found = []
    for spec in listed.filter_specs:
        name: str = spec.parameter_name  # type: ignore[attr-defined]
        value = spec.value()  # type: ignore[attr-defined]
        if not value:
            continue
        labels = dict(spec.lookup_choices)  # type: ignore[attr-defined]
        label = str(labels.get(value, value))
        found.append(Chip(str(spec.title), label, listed.get_query_string(remove=[name])))
    state = list_state(request)
    plain = [(SAVED_VAR, ALL)] if state is not None and state.opens else []
    plain += [(VIEW, TABLE)] if listed.look == TABLE else []
    return {
        "tiles": [FileTile(choice_of(asset), asset.uses) for asset in rows],
        "look": listed.look,
        "looks": [
            (look, label, listed.get_query_string({VIEW: look}))
            for look, label in ((GRID, _("Tiles")), (TABLE, _("Table")))
        ],
        "orders": orders,
        "ordering": listed.order if listed.order in dict(orders) else "",
        "chips": found,
        "all_url": f"?{urlencode(plain)}",
        "may_upload": may(request, "media.upload"),
        "may_edit": may(request, "media.edit"),
        "may_delete": may(request, "media.delete"),
        "accept": KINDS,
        **upload_limits(),
    }
