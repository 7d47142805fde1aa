"""The forms of the AI settings page: the defaults, and the table of budgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents_app.admin.labels import agent_name
from agents_app.ai_settings import MODEL_MAX, Kind, Provider, masked_kinds
from agents_app.budgets.limits import (
    ALL_AGENTS_KEY,
    DEFAULT,
    MAX_COST_LIMIT,
    MAX_TOKENS_LIMIT,
    NAMES,
    PERIODS,
    UNITS,
    BudgetChanges,
    PeriodName,
    Unit,
    short_text,
)
from agents_app.budgets.usage import BudgetView
from agents_app.models import AiSettings
from forms.masking import personal_data_choices
from proofroom.core.errors import RuleViolation

_FIRST: Final = gettext_lazy("First available")
_NEAR: Final = 80


class DefaultsForm(forms.Form):
    """The provider and model for agents whose file names none."""

    textProvider = forms.ChoiceField(label=gettext_lazy("Text"), required=False)
    textModel = forms.CharField(
        label=gettext_lazy("Text model"), required=False, max_length=MODEL_MAX
    )
    mediaProvider = forms.ChoiceField(label=gettext_lazy("Images"), required=False)
    mediaModel = forms.CharField(
        label=gettext_lazy("Image model"), required=False, max_length=MODEL_MAX
    )
    fallbackProvider = forms.ChoiceField(
        label=gettext_lazy("Fallback for text"),
        required=False,
        help_text=gettext_lazy(
            "Answers while the text provider has an outage. Content then goes to this provider. "
            "Agents that name their own provider use only the fallback in their file."
        ),
    )
    fallbackModel = forms.CharField(
        label=gettext_lazy("Fallback model"), required=False, max_length=MODEL_MAX
    )
    maskedPersonalData = forms.MultipleChoiceField(
        label=gettext_lazy("Mask in form submissions"),
        required=False,
        choices=personal_data_choices,
        widget=forms.CheckboxSelectMultiple,
        help_text=gettext_lazy(
            "Replaced by placeholders such as [email] before a submission is sent to an AI provider."
        ),
    )
    version = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, data: Any, row: AiSettings, found: Sequence[Provider]) -> None:
        initial = {
            "textProvider": row.text_provider,
            "textModel": row.text_model,
            "mediaProvider": row.media_provider,
            "mediaModel": row.media_model,
            "fallbackProvider": row.fallback_provider,
            "fallbackModel": row.fallback_model,
            "maskedPersonalData": masked_kinds(row),
            "version": row.version,
        }
        super().__init__(data, initial=initial)
        for kind in ("text", "media"):
            self._offer(kind, found)
        self.fields["fallbackProvider"].choices = [  # type: ignore[attr-defined]  # a ChoiceField
            ("", _("No fallback")),
            *_provider_choices(item for item in found if item.kind == "text" and item.source),
        ]
        model = self.fields["fallbackModel"]
        model.widget.attrs |= {"autocomplete": "off", "list": "models-text"}
        model.help_text = _("Leave blank to use the provider’s default.")

    def _offer(self, kind: Kind, found: Sequence[Provider]) -> None:
        """Set the choices of a kind's provider field and the hint of its model field."""
        of_kind = [item for item in found if item.kind == kind]
        choices = [("", str(_FIRST)), *_provider_choices(of_kind)]
        self.fields[f"{kind}Provider"].choices = choices  # type: ignore[attr-defined]  # a ChoiceField
        default = next((item for item in of_kind if item.is_default), None)
        model = self.fields[f"{kind}Model"]
        model.widget.attrs["autocomplete"] = "off"
        model.widget.attrs["list"] = f"models-{kind}"
        model.help_text = _("Leave blank to use the provider’s default.")
        if default is not None and default.id != "demo":
            model.help_text = _(
                "Leave blank to use the provider’s default, currently %(model)s."
            ) % {"model": default.default_model}

    def changes(self) -> dict[str, Any]:
        """Return the values as `update_ai_settings` expects them."""
        given = self.cleaned_data
        return {
            "text_provider": given["textProvider"],
            "text_model": given["textModel"],
            "media_provider": given["mediaProvider"],
            "media_model": given["mediaModel"],
            "fallback_provider": given["fallbackProvider"],
            "fallback_model": given["fallbackModel"],
            "masked_personal_data": given["maskedPersonalData"],
            "expected_version": given["version"],
        }


def _provider_choices(found: Iterable[Provider]) -> Iterator[tuple[str, str]]:
    for item in found:
        label = item.name if item.is_configured else _("%(name)s: no key") % {"name": item.name}
        yield item.id, label


@dataclass(frozen=True, slots=True)
class BudgetCell:
    """One limit: its field and its usage. `percent` is None without a limit."""

    field: forms.BoundField
    label: str
    used: str
    percent: int | None

    @property
    def filled(self) -> int:
        return min(self.percent or 0, 100)

    @property
    def look(self) -> str:
        if (self.percent or 0) >= 100:
            return "is-over"
        return "is-near" if (self.percent or 0) >= _NEAR else ""


class BudgetForm(forms.Form):
    """One row of the table. Only changed fields are saved, so that two editors can work at the same time."""

    tokens_per_day = forms.IntegerField(required=False, min_value=0, max_value=MAX_TOKENS_LIMIT)
    tokens_per_month = forms.IntegerField(required=False, min_value=0, max_value=MAX_TOKENS_LIMIT)
    cost_per_day = forms.DecimalField(
        required=False, min_value=Decimal(0), max_value=MAX_COST_LIMIT, decimal_places=6
    )
    cost_per_month = forms.DecimalField(
        required=False, min_value=Decimal(0), max_value=MAX_COST_LIMIT, decimal_places=6
    )

    def __init__(self, data: Any, view: BudgetView) -> None:
        self.view = view
        initial: dict[str, int | str | None] = {}
        for unit, period in _CELLS:
            value: int | Decimal | None = getattr(view.limits, f"{unit}_per_{period}")
            initial[f"{unit}_per_{period}"] = _plain(value) if isinstance(value, Decimal) else value
        super().__init__(data, prefix=self.wire_name, initial=initial)
        for name, field in self.fields.items():
            # Compare with the value the form was rendered with, not with the current one.
            field.show_hidden_initial = True
            holding = getattr(view.holding, name)
            if holding is not None and getattr(view.limits, name) is None:
                field.widget.attrs["placeholder"] = f"{_plain(holding)}"
            field.widget.attrs["aria-label"] = f"{self.title}: {_LABELS[name]}"
            field.widget.attrs["inputmode"] = "decimal" if "cost" in name else "numeric"

    @property
    def wire_name(self) -> str:
        return NAMES.get(self.view.agent_id, self.view.agent_id)

    @property
    def title(self) -> str:
        if self.view.agent_id == ALL_AGENTS_KEY:
            return _("All agents together")
        if self.view.agent_id == DEFAULT:
            return _("Each agent")
        return agent_name(self.view.agent_id)

    @property
    def note(self) -> str:
        if self.view.agent_id == ALL_AGENTS_KEY:
            return _("Total limit for all agents.")
        if self.view.agent_id == DEFAULT:
            return _("Applies to every agent without a limit of its own.")
        return ""

    @property
    def cells(self) -> list[BudgetCell]:
        return [self._cell(unit, period) for unit, period in _CELLS]

    def _cell(self, unit: Unit, period: PeriodName) -> BudgetCell:
        name = f"{unit}_per_{period}"
        amount = (self.view.today if period == "day" else self.view.month).of(unit)
        most: Decimal | int | None = getattr(self.view.holding, name)
        percent = None
        if most is not None and self.view.agent_id != DEFAULT:
            # A limit of zero forbids all use, so it counts as used up.
            percent = int(amount * 100 / most) if most else 100
        return BudgetCell(self[name], str(_LABELS[name]), short_text(amount, unit), percent)

    def changes(self) -> BudgetChanges:
        # A field that was cleared is None here, which removes the limit.
        return BudgetChanges(**{name: self.cleaned_data[name] for name in self.changed_data})


_CELLS: Final[tuple[tuple[Unit, PeriodName], ...]] = tuple(
    (unit, period) for unit in reversed(UNITS) for period in PERIODS
)
_LABELS: Final = {
    "cost_per_day": gettext_lazy("Dollars a day"),
    "cost_per_month": gettext_lazy("Dollars a month"),
    "tokens_per_day": gettext_lazy("Tokens a day"),
    "tokens_per_month": gettext_lazy("Tokens a month"),
}


def _plain(value: int | Decimal) -> str:
    """Return the number without trailing zeros: `12.5`, not `12.500000`."""
    if not isinstance(value, Decimal):
        return str(value)
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def show_refusal(rows: Sequence[BudgetForm], error: RuleViolation) -> None:
    """Add the service's validation errors to the cells they concern."""
    for row in rows:
        for wire, name in _BY_WIRE.items():
            for text in error.details.get(f"{row.wire_name}.{wire}", ()):
                row.add_error(name, text)


_BY_WIRE: Final = {
    "tokensPerDay": "tokens_per_day",
    "tokensPerMonth": "tokens_per_month",
    "costPerDay": "cost_per_day",
    "costPerMonth": "cost_per_month",
}
