"""Creates sample content: accounts, pages and articles in two languages, menus, pictures and staged changes."""

from __future__ import annotations

import time
from argparse import ArgumentParser
from importlib import import_module
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from django.apps import apps
from django.conf import settings
from django.core.management import BaseCommand, CommandError

from proofroom.accounts.models import User
from proofroom.accounts.roles import Role
from proofroom.core.actor import Actor
from proofroom.core.validation.host_names import is_loopback_host
from proofroom_apps.starter.demo import reading, seeding


class Command(BaseCommand):
    help = "Fill the site with sample content. You can run it again: it does not change existing content."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--anywhere",
            action="store_true",
            help="Run it even if others can reach the site. The demo accounts have a known password.",
        )

    def handle(self, *args: Any, anywhere: bool, **options: Any) -> None:
        # Refuse on a real site: other accounts exist, or it serves other hosts than loopback.
        others = User.objects.exclude(role=Role.AI_AGENT).exclude(email__endswith="@example.com")
        hosts = [urlsplit(settings.SITE_URL).hostname or "", *settings.CMS_ENV.allowed_hosts]
        is_local = all(map(is_loopback_host, hosts))
        if not anywhere and (not is_local or others.exists()):
            raise CommandError(
                "The site has other accounts, or others can reach it (SITE_URL, ALLOWED_HOSTS), and the demo "
                "accounts have a known password. To continue anyway, use --anywhere, then change the passwords."
            )
        taken = seeding.account_conflicts()
        if taken:
            raise CommandError(
                f"{' '.join(taken)} The sample content needs demo accounts with these names and roles: rename "
                "or change the existing accounts first. Nothing was created."
            )
        begin = time.monotonic()
        locales = settings.CMS_ENV.locales
        site = reading.read_site()
        people = seeding.ensure_people()
        actor = Actor(user=people["editor"], via="command")
        # Posts refer to pictures, terms, global modules and forms; menus and proposals to posts.
        images = {
            name: seeding.ensure_image(name, image, actor) for name, image in site.images.items()
        }
        for locale, terms in site.topics.items():
            for number, term in enumerate(terms if locale in locales else ()):
                seeding.ensure_term(term, locale, place=number)
        for slug, shared in site.globals.items():
            seeding.ensure_global(slug, shared.type, shared.label, shared.props)
        _seed_other_apps(actor, before_posts=True)
        posts = [post for post in reading.read_posts() if post.locale in locales]
        made = sum(seeding.ensure_post(post, actor, images) for post in posts)
        for slug, menus in site.menus.items():
            for locale, items in menus.items():
                if locale in locales:
                    seeding.ensure_menu(slug, locale, items)
        waiting = sum(seeding.ensure_staged(one, people["editor"]) for one in site.staged)
        _seed_other_apps(actor, before_posts=False)
        seeding.invalidate_demo_pages()
        self.stdout.write(
            f"Sample content: {made} posts created, {len(posts) - made} already existed, "
            f"{waiting} proposals pending review ({time.monotonic() - begin:.1f} s)."
        )


def _seed_other_apps(actor: Actor, *, before_posts: bool) -> None:
    """Run `sample.py` of each app that has one. Apps that posts refer to run before the posts."""
    for app in apps.get_app_configs():
        if find_spec(f"{app.name}.sample"):
            sample = import_module(f"{app.name}.sample")
            if getattr(sample, "BEFORE_POSTS", False) == before_posts:
                sample.seed(actor=actor)
