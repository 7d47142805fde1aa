"""Puts what other apps offer for a field beside it. A field that is not saved yet has nothing to offer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofroom.core.json import Json
from proofroom.editorial.post_editor.controls import Control
from proofroom.editorial.post_editor.form import FormUnit, ModuleSection
from proofroom.editorial.post_editor.robots import ROBOTS
from proofroom.editorial.posts.panels import FieldActions, FieldPlace


def offer(
    control: Control, unit: FormUnit, module: ModuleSection | None, actions: FieldActions
) -> None:
    """Ask for the field and for each field inside it."""
    if module is not None and (module.is_new or not module.is_known):
        return
    if unit.path == f"post.{ROBOTS}":  # one value, whatever boxes it is shown in
        return
    prefix, start = "post", "post"
    if module is not None:
        start = ".".join(unit.path.split(".")[:3])
        prefix = f"module.{module.type}"
    _offer(control, unit.value, (start, prefix, module.id if module else ""), actions)


def _offer(
    control: Control, value: Json, where: tuple[str, str, str], actions: FieldActions
) -> None:
    start, prefix, module_id = where
    if control.kind not in ("repeater", "object"):
        key = prefix + control.name.removeprefix(start)
        control.actions = actions(FieldPlace(key, control.kind, module_id))
        return
    if isinstance(value, Sequence) and not isinstance(value, str):
        for parts, item in zip(control.items, value, strict=False):
            _offer_parts(parts, item, where, actions)
    _offer_parts(control.parts, value, where, actions)


def _offer_parts(
    parts: Sequence[Control], value: Json, where: tuple[str, str, str], actions: FieldActions
) -> None:
    values = value if isinstance(value, Mapping) else {}
    for part in parts:
        _offer(part, values.get(part.name.rpartition(".")[2]), where, actions)
