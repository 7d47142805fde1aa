"""Draft posts from a folder of Markdown files."""

from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from content.posts.markdown_import import import_folder
from proofroom.accounts.models import User
from proofroom.accounts.roles import Role
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError


class Command(BaseCommand):
    help = (
        "Make a draft post of every Markdown file in a folder. Front matter may give title, slug, excerpt, "
        "description and order; sub-folders become parents. What exists already is skipped."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--type", default="page", help="The post type (page).")
        parser.add_argument("--locale", default=settings.CMS_ENV.default_locale)
        parser.add_argument(
            "--as", dest="email", help="Whose posts they are; else the first admin's."
        )

    def handle(
        self, *args: Any, folder: Path, type: str, locale: str, email: str | None, **options: Any
    ) -> None:
        if not folder.is_dir():
            raise CommandError(f"{folder} is no folder.")
        if locale not in settings.CMS_ENV.locales:
            known = ", ".join(settings.CMS_ENV.locales)
            raise CommandError(f"{locale!r} is not a locale of this site; known: {known}.")
        people = User.objects.filter(is_active=True).exclude(role=Role.AI_AGENT).order_by("pk")
        found = people.filter(email=email.lower()) if email else people.filter(role=Role.ADMIN)
        person = found.first()
        if person is None:
            who = f"with the address {email}" if email else "with the role admin"
            raise CommandError(
                f"There is no active account {who}. Make one, or name one with --as."
            )
        actor = Actor(user=person, via="command")
        counts: Counter[str] = Counter()
        try:
            for imported in import_folder(folder, type=type, locale=locale, actor=actor):
                counts[imported.outcome] += 1
                out = self.stderr if imported.outcome == "failed" else self.stdout
                out.write(f"{imported.outcome:8}{imported.file}: {imported.detail}")
        except CmsError as error:
            raise CommandError(error.message) from None
        summary = f"{counts['made']} made, {counts['skipped']} skipped, {counts['failed']} failed."
        self.stdout.write(summary)
        if counts["failed"]:
            raise CommandError(f"{counts['failed']} of the files could not be imported; see above.")
