"""Personal data of editorial steps."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from proofroom.core.privacy.kinds import Erasure, Table, TableKind

KINDS: Final = (
    TableKind(
        "steps.decisions",
        gettext_lazy("Editorial steps that this person started, agreed to or sent back"),
        Table(
            "proofroom_steps.StepDecision",
            ("step", "action", "note", "at"),
            owners=("by", "deputy_for"),
            names={"by_name": "by"},
        ),
        Table("proofroom_steps.StepRound", ("step", "opened_at"), owners=("started_by",)),
        erasure=Erasure.PSEUDONYMISED,
    ),
    TableKind(
        "steps.notes",
        gettext_lazy("Notes of editorial steps with this address"),
        Table("proofroom_steps.StepDecision", ("note", "at"), texts=("note", "stands_for")),
        erasure=Erasure.MASKED,
    ),
    TableKind(
        "steps.absences",
        gettext_lazy("Times in which this person is away, or is a deputy"),
        Table("proofroom_steps.Absence", ("begins_at", "ends_at"), owners=("user", "deputy")),
        erasure=Erasure.DELETED,
    ),
)
