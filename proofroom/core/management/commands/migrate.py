"""Django's `migrate`, which renders a model only once when a migration creates it, and then gives the role of agents
its rights on new tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management import CommandError, call_command
from django.core.management.commands.migrate import Command as MigrateCommand
from django.db import DEFAULT_DB_ALIAS
from django.db.migrations.state import ModelState, ProjectState

from proofroom.core.database.migrate import is_complete

_add_model = ProjectState.add_model


class Command(MigrateCommand):
    def handle(self, *args: Any, **options: Any) -> None:
        with new_models_rendered_alone():
            super().handle(*args, **options)
        is_dry = options["plan"] or options["check_unapplied"]
        is_used = settings.CMS_ENV.lane_database_url and options["database"] == DEFAULT_DB_ALIAS
        if is_used and not is_dry and is_complete():
            self._install_lane()

    def _install_lane(self) -> None:
        """Run `install_lane`. The migrations are done, so a problem is reported and is no failure."""
        try:
            call_command("install_lane", stdout=self.stdout, stderr=self.stderr)
        except CommandError as error:
            self.stderr.write(self.style.WARNING(f"install_lane: {error}"))


@contextmanager
def new_models_rendered_alone() -> Iterator[None]:
    """In the block, adding a model to a state renders this model and no other.

    Django renders all models again that are related to the new one, directly or through others. That is most of
    them, and took half of the time of the first `migrate`. Classes that exist need no rendering: Django adds the
    reverse relations to them, as it does when it loads the models of a site.
    """
    ProjectState.add_model = add_model  # type: ignore[method-assign]
    try:
        yield
    finally:
        ProjectState.add_model = _add_model  # type: ignore[method-assign]


def add_model(self: ProjectState, model_state: ModelState) -> None:
    key = model_state.app_label, model_state.name_lower
    if "apps" not in self.__dict__ or key in self.models:
        _add_model(self, model_state)
        return
    # Without its rendered models, a state renders nothing.
    apps = self.__dict__.pop("apps")
    _add_model(self, model_state)
    self.apps = apps
    apps.render_multiple([model_state])
