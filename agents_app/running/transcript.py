"""What is said in a run, kept as it goes: bounded, without secrets, without the words of visitors."""

from __future__ import annotations

from typing import Final

from django.db import transaction
from django.db.models import Max

from agents_app.models import AgentRun, RunMessage
from agents_app.running.hiding import Hiding
from agents_app.running.owning import own

LONGEST: Final = 200_000
"""Characters of one message."""
MOST: Final = 1_000_000
"""Characters of one attempt at a run."""
MOST_MESSAGES: Final = 500
NAME_MAX: Final = 120
CUT: Final = "\n[…]"


class Transcript:
    """The messages of one attempt. What was said waits in memory for the next `keep`."""

    def __init__(self, run: AgentRun, hiding: Hiding) -> None:
        self._run = run
        self.hiding = hiding
        self._waiting: list[RunMessage] = []
        self._left = MOST
        self._messages = 0

    def add(self, role: str, name: str, text: str) -> None:
        if role == "tool":
            self.hiding.hear_tool(name, text)
        self._messages += 1
        if self._messages > MOST_MESSAGES:
            return
        shown = self.hiding.answer_of(name, text) if role == "tool" else self.hiding.text(text)
        most = min(LONGEST, self._left)
        is_cut = len(shown) > most
        shown = shown[:most] + CUT if is_cut else shown
        self._left -= min(len(shown), self._left)
        self._waiting.append(
            RunMessage(
                run_id=self._run.pk,
                role=role,
                name=self.hiding.text(name)[:NAME_MAX],
                text=shown,
                is_cut=is_cut,
            )
        )

    def keep(self) -> None:
        """Store what waits, while the run is this worker's: one that is over says nothing more."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        with transaction.atomic():
            # Locked, so that no two messages get one number.
            if not own(self._run).select_for_update(no_key=True).values("pk"):
                return
            rows = RunMessage.objects.filter(run_id=self._run.pk)
            last = rows.aggregate(last=Max("number"))["last"] or 0
            for number, message in enumerate(waiting, last + 1):
                message.number = number
            RunMessage.objects.bulk_create(waiting)
