"""Editorial steps of a post type: who has to agree before content of the type is approved or published.

    steps = (
        Step("Legal", role="legal", quorum=2, due=timedelta(days=3)),
        Step("SEO", agent="seo-specialist"),
        Step("Customer", guest="Ms Meyer"),
    )

The steps are taken in this order, between the draft and its publication.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal

from django.utils.duration import duration_iso_string

from proofroom.core.json import Json

STEP_NAME_MAX: Final = 60
ASKED_MAX: Final = 100
MAX_STEPS: Final = 20
MAX_QUORUM: Final = 20
DEFAULT_REMINDER: Final = timedelta(days=1)
StepKind = Literal["role", "person", "agent", "guest"]


@dataclass(frozen=True, slots=True)
class Step:
    """One editorial step. It asks exactly one of `role`, `person`, `agent` and `guest`.

    `person`: a username. `agent`: the id of an agent, which is started when the step opens. `guest`: the name of a
    reviewer without account. `quorum`: number of people who must agree. `due`: time from the opening of the step to
    its due date. Those asked are reminded on this date, and `reminder` before it: one day unless set, or half of the
    time if that is shorter. `timedelta()` means only on the date.
    """

    name: str
    role: str = ""
    person: str = ""
    agent: str = ""
    guest: str = ""
    quorum: int = 1
    due: timedelta | None = None
    reminder: timedelta | None = None

    @property
    def lead(self) -> timedelta:
        """How long before the due date people are reminded."""
        if self.reminder is not None:
            return self.reminder
        return min(DEFAULT_REMINDER, (self.due or timedelta()) / 2)

    @property
    def kind(self) -> StepKind:
        if self.role:
            return "role"
        if self.person:
            return "person"
        return "agent" if self.agent else "guest"

    @property
    def asked(self) -> str:
        """The role, username, agent id or name of the guest."""
        return self.role or self.person or self.agent or self.guest


def describe_steps(steps: Sequence[Step]) -> list[Json]:
    """Return the steps of a type for clients. `due` is an ISO 8601 duration from the opening of the step."""
    return [
        {
            "name": step.name,
            "asks": {"kind": step.kind, "name": step.asked, "quorum": step.quorum},
            **({} if step.due is None else {"due": duration_iso_string(step.due)}),
        }
        for step in steps
    ]


def step_problems(steps: Sequence[Step]) -> Iterator[str]:
    """Yield what is wrong with the steps of a post type, for `manage.py check`."""
    if len(steps) > MAX_STEPS:
        yield f"steps has {len(steps)} entries; at most {MAX_STEPS} are allowed"
    for name, count in Counter(step.name for step in steps).items():
        if count > 1:
            yield f"steps has {count} entries named {name!r}; names must be unique"
    for step in steps:
        if not step.name.strip() or len(step.name) > STEP_NAME_MAX:
            yield f"the step {step.name[:80]!r} needs a name of 1 to {STEP_NAME_MAX} characters"
        if sum(map(bool, (step.role, step.person, step.agent, step.guest))) != 1:
            yield f"the step {step.name!r} must ask exactly one of role, person, agent and guest"
        if len(step.asked) > ASKED_MAX:
            yield f"the step {step.name!r} asks a name of more than {ASKED_MAX} characters"
        if not 1 <= step.quorum <= MAX_QUORUM:
            yield f"the quorum of the step {step.name!r} must be 1 to {MAX_QUORUM}"
        elif step.quorum > 1 and step.kind != "role":
            yield f"the step {step.name!r} asks one {step.kind}, so its quorum must be 1"
        if step.due is not None and step.due <= timedelta():
            yield f"the due time of the step {step.name!r} must be positive"
        elif not timedelta() <= step.lead <= (step.due or timedelta()):
            yield f"the reminder of the step {step.name!r} must be between 0 and its due time"
