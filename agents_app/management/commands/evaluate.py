"""`manage.py evaluate AGENT --model provider:model --prompt VERSION --budget USD`: compares a version of an
agent with the present one on decided runs.
"""

from __future__ import annotations

from argparse import ArgumentParser
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from agents_app.evaluation.answers import evaluation_report
from agents_app.evaluation.report import PartFigures, Report, SideFigures, report_of
from agents_app.evaluation.runner import EVALUATIONS
from agents_app.evaluation.sentences import interval_text, verdict_sentence
from agents_app.evaluation.services import DEFAULT_SAMPLE, create_evaluation
from agents_app.models import Evaluation
from analytics.experiments.confidence import Range
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.errors import CmsError, Conflict

_BUDGET = "1.00"


class Command(BaseCommand):
    """Stages nothing. Costs are charged to the agent's budget. Ctrl-C cancels it with the results so far."""

    help = "Ask another model, prompt version or brief the questions of decided runs, and compare the answers."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("agent")
        parser.add_argument("--model", default="", help="provider:model to compare with")
        parser.add_argument("--prompt", default="", help="version of the prompt to compare with")
        parser.add_argument(
            "--brief",
            default="",
            help="ID or ID:VERSION of a brief to compare with; none: no brief",
        )
        parser.add_argument(
            "--sample",
            type=int,
            default=DEFAULT_SAMPLE,
            help=f"number of decided runs (default: {DEFAULT_SAMPLE})",
        )
        parser.add_argument(
            "--budget",
            default=_BUDGET,
            help=f"US dollars; it stops before they would be passed (default: {_BUDGET})",
        )
        parser.add_argument("--json", action="store_true", help="print the figures as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            budget = Decimal(options["budget"])
        except InvalidOperation:
            raise CommandError("--budget must be a number of US dollars.") from None
        try:
            job = create_evaluation(
                agent_id=options["agent"],
                actor=None,
                budget=budget,
                model=options["model"],
                prompt=options["prompt"],
                brief=options["brief"],
                sample=options["sample"],
            )
        except CmsError as error:
            raise CommandError(error.message) from None
        if not job.has_prices:
            self.stderr.write("The price of a model is unknown, so the budget cannot stop it.")
        self._ask(job)
        report = report_of(job)
        if options["json"]:
            self.stdout.write(
                evaluation_report(job, report).model_dump_json(by_alias=True, indent=2)
            )
        else:
            self.stdout.write("\n".join(_table(job, report)))

    def _ask(self, job: Evaluation) -> None:
        try:
            while EVALUATIONS.ask_next(job.pk):
                job.refresh_from_db()
                self.stderr.write(f"{job.done} of {job.total}, ${job.spent:.4f} spent")
        except KeyboardInterrupt:
            with suppress(Conflict):  # it has just ended
                EVALUATIONS.cancel(job.pk, Actor(user=SYSTEM, via="system"))
            self.stderr.write("Cancelled.")
        job.refresh_from_db()
        if job.why:
            self.stderr.write(job.why)


def _table(job: Evaluation, report: Report) -> list[str]:
    lines = [
        job.agent_id,
        f"champion    {job.champion['model']}, prompt {job.champion['prompt']}",
        f"challenger  {job.challenger['model']}, prompt {job.challenger['prompt']}"
        + (f", brief {job.brief}" if job.brief else ""),
    ]
    for title, part in (("All decisions", report.everything), ("Held out", report.held_out)):
        lines += ["", *_part(title, part)]
    return [
        *lines,
        "",
        f"{report.asked} runs asked, {report.skipped} skipped, {report.left} left; "
        f"${job.spent:.4f} of ${job.budget:.2f} spent",
    ]


def _part(title: str, part: PartFigures) -> list[str]:
    rows: list[tuple[str, str, str, Range | None, int]] = [
        (
            "agreement",
            _agreement(part.champion),
            _agreement(part.challenger),
            part.agreement_difference,
            2,
        ),
        *(
            (
                label,
                _number(part.champion, name, form),
                _number(part.challenger, name, form),
                found,
                places,
            )
            for label, name, form, found, places in (
                ("distance", "distance", ".2f", part.distance_difference, 2),
                ("failed checks", "failed_checks", ".2f", part.checks_difference, 2),
                ("cost a run, $", "cost", ".5f", part.cost_difference, 5),
                ("seconds a run", "seconds", ".1f", part.seconds_difference, 1),
            )
        ),
        ("errors", str(part.champion.errors), str(part.challenger.errors), None, 0),
    ]
    lines = [f"{title:<16}{'champion':>18}{'challenger':>18}  difference (95 %)"]
    for label, champion, challenger, found, places in rows:
        difference = "" if label == "errors" else interval_text(found, places)
        lines.append(f"{label:<16}{champion:>18}{challenger:>18}  {difference}".rstrip())
    return [*lines, verdict_sentence(part)]


def _agreement(side: SideFigures) -> str:
    if side.agreement is None:
        return "-"
    return f"{side.agreement:.0%} ({side.agreed} of {side.decisions})"


def _number(side: SideFigures, name: str, form: str) -> str:
    value = getattr(side, name)
    return "-" if value is None else format(value, form)
