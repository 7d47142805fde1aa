"""`manage.py make_content_migration APP TYPE`: write a migration that converts stored content."""

from __future__ import annotations

import json
import re
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from proofroom.definitions import modules, post_types, props_of

_DEPENDS_ON: Final = ("content", "proofroom_shared_content")
_FILE: Final = '''\
"""{docstring}"""

from django.db import migrations

from content.migration_operations import {imports}
{functions}

class Migration(migrations.Migration):
    dependencies = [
{dependencies}    ]

    operations = [
        {operation}(
            "{type}",
{steps}        ),
    ]
'''
_CONVERT: Final = '''

def {function}(value):
    """The new value of {name}."""
    raise NotImplementedError("Say what becomes of {name}.")
'''
_SPLIT: Final = '''

def {function}(value):
    """What becomes of {name}, by the new names."""
    raise NotImplementedError("Answer a dictionary with {into}.")
'''


class Command(BaseCommand):
    help = (
        "Write a migration for stored content (live content, drafts and revisions) after a change to a module or "
        "to the custom fields of a post type. `preview_content_migration` shows its effect, and `migrate` runs it. "
        "Spell names as in JSON: pricePerUnit."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("app", help="label of the app for the migration")
        parser.add_argument("type", help="the module type, such as opening-hours")
        parser.add_argument(
            "--post-type", action="store_true", help="TYPE is a post type: change its custom fields"
        )
        parser.add_argument(
            "--rename", nargs=2, action="append", default=[], metavar=("OLD", "NEW")
        )
        parser.add_argument(
            "--default", nargs=2, action="append", default=[], metavar=("NAME", "JSON")
        )
        parser.add_argument("--convert", action="append", default=[], metavar="NAME")
        parser.add_argument(
            "--split",
            nargs="+",
            action="append",
            default=[],
            metavar="NAME",
            help="the property, and the properties to split it into",
        )
        parser.add_argument("--drop", action="append", default=[], metavar="NAME")
        parser.add_argument(
            "--becomes",
            default="",
            metavar="TYPE",
            help="change the type of the modules to this one",
        )
        parser.add_argument("--name", default="", help="name of the migration")

    def handle(self, *args: Any, **options: Any) -> None:
        type_ = options["type"]
        steps, functions, imports = _steps(options)
        becomes = options["becomes"]
        if becomes and options["post_type"]:
            raise CommandError("--becomes is only for modules: the type of a post cannot change.")
        if becomes:
            if modules.get(becomes) is None:
                raise CommandError(f"There is no module type {becomes}. Define it first.")
            steps.append(f'becomes="{becomes}"')
        if not steps:
            raise CommandError(
                "Name at least one change: --rename, --default, --convert, --split, --drop or --becomes."
            )
        operation = "ChangeCustomFields" if options["post_type"] else "ChangeModule"
        self._warn_of_unknown(options)
        folder, number, depends = _place(options["app"])
        name = options["name"] or re.sub(r"\W", "_", f"{type_}_content")
        path = folder / f"{number:04d}_{name}.py"
        text = _FILE.format(
            docstring=f"Carries over the content of {type_} "
            + ("posts." if options["post_type"] else "modules."),
            imports=", ".join(sorted({operation, *imports})),
            functions="".join(functions),
            dependencies="".join(f'        ("{app}", "{last}"),\n' for app, last in depends),
            operation=operation,
            type=type_,
            steps="".join(f"            {step},\n" for step in steps),
        )
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").touch()
        path.write_text(text, encoding="utf-8")
        self.stdout.write(f"Wrote {path}")
        if functions:
            self.stdout.write("Next: complete its functions.")
        self.stdout.write(
            f"To see its effect: manage.py preview_content_migration {options['app']} {path.stem}"
        )

    def _warn_of_unknown(self, options: dict[str, Any]) -> None:
        """Warn about new names that no definition has, which are usually typing errors."""
        wanted = [new for _, new in options["rename"]] + [name for name, _ in options["default"]]
        wanted += [new for _, *into in options["split"] for new in into]
        type_ = options["becomes"] or options["type"]
        if options["post_type"]:
            post_type = post_types.get(type_)
            shape = post_type.CustomFields if post_type is not None else None
        else:
            module = modules.get(type_)
            shape = module.Props if module is not None else None
        if shape is None:
            self.stderr.write(f"Warning: nothing with the name {type_} is defined.")
            return
        known = props_of(shape)
        for name in wanted:
            if name not in known:
                self.stderr.write(
                    f"Warning: {type_} has no property {name}. Known: {', '.join(known)}."
                )


def _steps(options: dict[str, Any]) -> tuple[list[str], list[str], set[str]]:
    """Return the steps as Python code, the functions they call, and the names to import."""
    steps: list[str] = []
    functions: list[str] = []
    imports: set[str] = set()
    for old, new in options["rename"]:
        steps.append(f"Rename({old!r}, {new!r})")
        imports.add("Rename")
    for name, *into in options["split"]:
        if len(into) < 2:
            raise CommandError(f"--split {name} needs at least two new names.")
        function = f"split_{_identifier(name)}"
        steps.append(f"Split({name!r}, {tuple(into)!r}, {function})")
        functions.append(_SPLIT.format(function=function, name=name, into=", ".join(into)))
        imports.add("Split")
    for name in options["convert"]:
        function = f"convert_{_identifier(name)}"
        steps.append(f"Convert({name!r}, {function})")
        functions.append(_CONVERT.format(function=function, name=name))
        imports.add("Convert")
    for name, value in options["default"]:
        try:
            steps.append(f"SetDefault({name!r}, {json.loads(value)!r})")
        except ValueError:
            raise CommandError(
                f"--default {name}: {value} is not JSON. Put text in quotes: '\"{value}\"'"
            ) from None
        imports.add("SetDefault")
    for name in options["drop"]:
        steps.append(f"Drop({name!r})")
        imports.add("Drop")
    return (
        [step.replace("'", '"') if '"' not in step else step for step in steps],
        functions,
        imports,
    )


def _identifier(name: str) -> str:
    """Convert `pricePerUnit` to `price_per_unit`."""
    return re.sub(r"\W", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)).lower()


def _place(label: str) -> tuple[Path, int, list[tuple[str, str]]]:
    """Return the folder of the app's migrations, the next number, and the dependencies."""
    try:
        config = apps.get_app_config(label)
    except LookupError:
        known = ", ".join(sorted(config.label for config in apps.get_app_configs()))
        raise CommandError(f"There is no app {label}. Known: {known}.") from None
    loader = MigrationLoader(connection, ignore_no_migrations=True)
    folder = Path(config.path) / "migrations"
    own = [name for app, name in loader.disk_migrations if app == label]
    numbers = [int(name[:4]) for name in own if name[:4].isdigit()]
    leaves = [leaf for app in (label, *_DEPENDS_ON) for leaf in loader.graph.leaf_nodes(app)]
    return folder, max(numbers, default=0) + 1, list(dict.fromkeys(leaves))
