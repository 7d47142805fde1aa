"""The tables of `docs/reference/` that the code writes: settings, error codes, permissions, events and licences.

Each table is between two marks on its page. People write the last column of the tables of errors and events; a new
table takes it from the page.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final

from django.apps import apps
from django.conf import settings
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mcp_bridge.licences import licence_rows
from proofroom.accounts.permission_labels import LABELS
from proofroom.accounts.roles import GRANTS
from proofroom.core import outbox
from proofroom.core.content_scope import WHOLE_SITE
from proofroom.core.errors import CmsError
from proofroom.core.outbox import EventKind

Row = tuple[str, ...]
LastCells = Mapping[str, str]
"""The last cells of the rows of a page, by the first cell."""

BEGIN: Final = "<!-- written by `manage.py write_reference` -->"
END: Final = "<!-- end of the written table -->"
UNKNOWN: Final = "**To be described.**"
"""The last cell of a row that is not described yet."""
_BASE: Final = CmsError.__name__
_HELPERS: Final = MappingProxyType({"invalid": 422})
"""Functions that make an error, and its status."""


def setting_rows(last_cells: LastCells) -> Iterator[Row]:
    """Yield every environment variable with default and meaning, by name."""
    environment: type[BaseModel] = type(settings.CMS_ENV)
    yield ("setting", "default", "meaning")
    for name, field in sorted(environment.model_fields.items()):
        yield (f"`{name.upper()}`", _default_of(field), field.description or "")


def permission_rows(last_cells: LastCells) -> Iterator[Row]:
    """Yield every permission of the product with the roles that have it."""
    roles = tuple(GRANTS)
    yield ("permission", "allows", *(f"`{role}`" for role in roles), "applies to")
    for name in sorted(set().union(*GRANTS.values())):
        marks = ("yes" if name in GRANTS[role] else "" for role in roles)
        reach = "the whole site" if name in WHOLE_SITE else ""
        yield (f"`{name}`", str(LABELS[name]), *marks, reach)


def event_rows(last_cells: LastCells) -> Iterator[Row]:
    """Yield every kind of event. The payload is from the page."""
    yield ("Event", "Meaning", "Version", "Who may learn of it", "Marks", "Payload")
    for kind in outbox.all_kinds():
        name = f"`{kind.name}`"
        facts = (kind.label, str(kind.version), f"`{kind.permission}`", _marks_of(kind))
        yield (name, *facts, last_cells.get(name, UNKNOWN))


def error_rows(last_cells: LastCells) -> Iterator[Row]:
    """Yield every code of an error with its statuses. The meaning is from the page."""
    yield ("code", "status", "meaning")
    for code, statuses in sorted(_error_codes().items()):
        name = f"`{code}`"
        yield (name, ", ".join(map(str, sorted(statuses))), last_cells.get(name, UNKNOWN))


def package_rows(last_cells: LastCells) -> Iterator[Row]:
    """Yield every package that is installed with all extras, with its licence."""
    yield ("package", "licence", "only with")
    yield from licence_rows()


TABLES: Final[Mapping[str, Callable[[LastCells], Iterable[Row]]]] = MappingProxyType(
    {
        "settings.md": setting_rows,
        "permissions.md": permission_rows,
        "events.md": event_rows,
        "errors.md": error_rows,
        "licences.md": package_rows,
    }
)
"""The pages with a table, below `docs/reference/`."""


def render_page(name: str, page: str) -> str:
    """Return the page with a new table. Raises `ValueError` if it has no marks."""
    before, begin, rest = page.partition(BEGIN)
    old, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{name} needs the lines {BEGIN!r} and {END!r}")
    head, *rows = (
        "| " + " | ".join(cells).replace("|  |", "| |").replace("|  |", "| |").rstrip() + " |"
        for cells in TABLES[name](_last_cells_of(old))
    )
    rule = "|" + "---|" * (head.count("|") - 1)
    return f"{before}{BEGIN}\n\n" + "\n".join([head, rule, *rows]) + f"\n\n{END}{after}"


def _last_cells_of(table: str) -> dict[str, str]:
    lines = re.findall(r"(?m)^\| (`[^`]+`) \|.* \| ([^|]*(?:\\\|[^|]*)*) \|$", table)
    return dict(lines)


def _default_of(field: FieldInfo) -> str:
    value = field.default
    if value is None or value == "" or value == () or value == {}:
        return ""
    if isinstance(value, bool):
        return f"`{int(value)}`"
    if isinstance(value, tuple):
        return f"`{','.join(map(str, value))}`"
    return f"`{value}`"


def _marks_of(kind: EventKind) -> str:
    webhook = f"webhook as `{kind.webhook_name}`" if kind.webhook_name else "webhook"
    marks = {
        webhook: kind.is_webhook,
        "agents": kind.is_trigger,
        "live": kind.is_live,
        "private": kind.is_private,
        "internal": kind.is_internal,
        "progress": kind.is_progress,
    }
    return ", ".join(name for name, is_set in marks.items() if is_set)


@cache
def _error_codes() -> dict[str, set[int]]:
    """Return the statuses of each code that the source of the product names."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in _sources()]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    constants = {
        target.id: node.value
        for node in nodes
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name) and target.id.isupper()
    }
    statuses = _statuses_of(classes.values())
    found: dict[str, set[int]] = {}
    for name, status in statuses.items():
        for code in _texts(_attribute_of(classes[name], "code"), constants):
            found.setdefault(code, set()).add(status)
    makers = {**statuses, **_HELPERS}
    for call in nodes:
        if not (isinstance(call, ast.Call) and _name_of(call.func) in makers):
            continue
        for word in call.keywords:
            if word.arg == "code":
                for code in _texts(word.value, constants):
                    found.setdefault(code, set()).add(makers[_name_of(call.func)])
    found.pop("error", None)  # no error has the code of the base class
    return found


def _sources() -> Iterator[Path]:
    product = Path(str(apps.get_app_config("product_files").path))
    for config in apps.get_app_configs():
        folder = Path(config.path)
        if config.label != "product_files" and folder.is_relative_to(product):
            yield from (
                path for path in sorted(folder.rglob("*.py")) if "migrations" not in path.parts
            )


def _statuses_of(classes: Iterable[ast.ClassDef]) -> dict[str, int]:
    """Return the status of each error class, by its name."""
    found = {_BASE: CmsError.status}
    while True:
        inherited = {
            node.name: _own_status(node) or found[base]
            for node in classes
            for base in map(_name_of, node.bases)
            if base in found and node.name not in found
        }
        if not inherited:
            return found
        found |= inherited


def _own_status(node: ast.ClassDef) -> int | None:
    value = _attribute_of(node, "status")
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, int) else None


def _attribute_of(node: ast.ClassDef, name: str) -> ast.expr | None:
    for statement in node.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            if isinstance(target, ast.Name) and target.id == name:
                return statement.value
    return None


def _name_of(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _texts(node: ast.expr | None, constants: Mapping[str, ast.expr]) -> Iterator[str]:
    """Yield the texts that an expression can be, as far as the source says so."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body, constants)
        yield from _texts(node.orelse, constants)
    elif isinstance(node, ast.Name) and isinstance(constants.get(node.id), ast.Constant):
        yield from _texts(constants[node.id], {})
