"""`manage.py replay_agent AGENT --last N`: compares the current prompt and model with people's
decisions on past runs.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents_app.definitions.agents import get_agent
from agents_app.definitions.schema import AgentDefinition
from agents_app.providers.interface import ProviderError
from agents_app.replay.answers import chosen
from agents_app.replay.replay import (
    AnswerSource,
    ReplayedRun,
    by_asking,
    decided_runs,
    from_recorded,
    replay,
)

_LAST_MOST = 500


class Command(BaseCommand):
    """Stages nothing. Costs are charged to the agent's budget. Ctrl-C ends it with the results so far."""

    help = "Repeat decided runs of an agent, and compare its answers with what people approved and rejected."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("agent")
        parser.add_argument(
            "--last", type=int, default=20, help="number of decided runs to repeat (default: 20)"
        )
        parser.add_argument(
            "--model", default="", help="provider:model to use instead of the agent's"
        )
        parser.add_argument(
            "--recorded",
            type=Path,
            help="compare the answers in this file, written by --record; no model is called",
        )
        parser.add_argument("--record", type=Path, help="write the answers to this file")
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        agent = get_agent(options["agent"])
        if agent is None:
            raise CommandError(f"There is no agent {options['agent']!r}.")
        if not 0 < options["last"] <= _LAST_MOST:
            raise CommandError(f"--last must be from 1 to {_LAST_MOST}.")
        recorded: Path | None = options["recorded"]
        if recorded is None:
            try:
                choice = chosen(agent, options["model"])
            except ProviderError as error:
                raise CommandError(str(error)) from None
            who, answering = f"{choice.provider}:{choice.model}", by_asking(agent, choice)
        else:
            # One JSON object per line: `{"runId", "answer"}`.
            try:
                lines = recorded.read_text(encoding="utf-8").splitlines()
                rows = [json.loads(line) for line in lines if line]
                answers = {str(row["runId"]): dict(row["answer"]) for row in rows}
            except (OSError, ValueError, TypeError, KeyError) as error:
                raise CommandError(
                    f"{recorded} is not a file written by --record: {error}"
                ) from None
            who, answering = f"the record {recorded.name}", from_recorded(answers)
        done = self._replay(agent, options["last"], answering)
        if options["record"] is not None:
            written = [
                json.dumps({"runId": str(item.run.pk), "answer": item.answer}, ensure_ascii=False)
                for item in done
                if item.answer is not None
            ]
            path: Path = options["record"]
            try:
                path.write_text("".join(f"{row}\n" for row in written), encoding="utf-8")
            except OSError as error:
                raise CommandError(f"Cannot write {path}: {error.strerror}.") from None
        figures = {"agent": agent.id, "answeredBy": who, **_figures(done)}
        if options["json"]:
            self.stdout.write(json.dumps(figures, indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_table(figures, done)))

    def _replay(
        self, agent: AgentDefinition, last: int, answering: AnswerSource
    ) -> list[ReplayedRun]:
        decided = decided_runs(agent.id, last)
        done: list[ReplayedRun] = []
        try:
            for item in replay(decided, answering):
                done.append(item)
                if item.left_out:
                    outcome = f"skipped: {item.left_out}"
                elif item.error:
                    outcome = f"failed: {item.error}"
                else:
                    outcome = f"agrees in {item.agreed} of {len(item.paths)}"
                self.stderr.write(f"{len(done)} of {len(decided)}: run {item.run.pk} {outcome}")
        except KeyboardInterrupt:
            self.stderr.write(f"Stopped after {len(done)} of {len(decided)}.")
        return done


def _figures(done: Sequence[ReplayedRun]) -> dict[str, Any]:
    compared = [path for item in done for path in item.paths]
    agreed = sum(path.agrees for path in compared)
    paths: dict[str, Counter[str]] = {}
    for path in compared:
        # Drop the module id, so that the same props of different posts are counted together.
        kind, _, rest = path.path.partition(".")
        place = path.path if kind == "post" else f"module.{rest.partition('.')[2]}"
        paths.setdefault(place, Counter())[path.outcome] += 1
    spent = [item.spent for item in done]
    return {
        "runs": len(done),
        "leftOut": sum(bool(item.left_out) for item in done),
        "errors": sum(bool(item.error) for item in done),
        "decided": len(compared),
        "agreed": agreed,
        "agreement": round(agreed / len(compared), 3) if compared else None,
        "outcomes": dict(sorted(Counter(path.outcome for path in compared).items())),
        "paths": {place: dict(sorted(found.items())) for place, found in sorted(paths.items())},
        "inputTokens": sum(item.input_tokens for item in spent),
        "outputTokens": sum(item.output_tokens for item in spent),
        "cost": float(sum((item.cost for item in spent), Decimal(0))),
        "seconds": round(sum(item.seconds for item in spent), 1),
    }


def _table(figures: dict[str, Any], done: Sequence[ReplayedRun]) -> list[str]:
    if not done:
        return [f"People decided on no run of {figures['agent']} yet."]
    lines = [f"{figures['agent']}, answered by {figures['answeredBy']}", ""]
    for place, outcomes in figures["paths"].items():
        counts = ", ".join(f"{number} {outcome}" for outcome, number in outcomes.items())
        lines.append(f"{place:<40} {counts}")
    share = "—" if figures["agreement"] is None else f"{figures['agreement']:.0%}"
    return [
        *lines,
        "",
        f"Agreement {share}: {figures['agreed']} of {figures['decided']} decisions in {figures['runs']} runs "
        f"({figures['leftOut']} left out, {figures['errors']} failed)",
        f"Used {figures['inputTokens']:,} tokens in, {figures['outputTokens']:,} out, ${figures['cost']:.4f}, "
        f"{figures['seconds']} s",
    ]
