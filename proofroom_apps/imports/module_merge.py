"""Merges the modules of a source into the modules of a post. Changes made on the site are preserved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast
from uuid import uuid4

from content.document.document import ModuleDocument, PostDocument
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import own_scope, validate_props
from proofroom_apps.imports.digests import hash_of


def new_module(type: str, props: Mapping[str, Json], id_: str = "") -> ModuleDocument:
    return ModuleDocument(
        id=id_ or str(uuid4()),
        type=type,
        instance_id=str(uuid4()),
        scope=own_scope(type),
        props=props,
    )


def merge_modules(
    base: PostDocument,
    modules: Sequence[tuple[str, JsonObject]],
    data: Mapping[str, Json] | None,
    ids: Sequence[ModuleDocument] = (),
) -> tuple[tuple[ModuleDocument, ...], list[ModuleDocument]]:
    """Return the modules of `base` with the source's in place of those imported before, and the source's modules.

    A module unchanged in the source stays as it is on the site, also if it was edited or removed there. Without
    `data`, for a post that was not imported before, modules of one type are matched in order and none is removed.
    `ids` is the result of an earlier call, so that new modules keep their ids.
    """
    present = {module.id: module for module in base.modules}
    before: list[tuple[str, str, str]] = (
        [
            cast("tuple[str, str, str]", tuple(one))
            for one in cast("list[list[str]]", data["modules"])
        ]
        if data is not None
        else [
            (one.id, one.type, hash_of(one.props)) for one in base.modules if one.scope == "local"
        ]
    )
    unused = list(before)
    matched: dict[int, tuple[str, str, str]] = {}
    # Unchanged modules first, so that a changed one is not matched with an unchanged one of its type.
    for number, (type, props) in enumerate(modules):
        # Without `data`, the comparison is with properties of the site, which were normalized by validation.
        digest = hash_of(props) if data is not None else hash_of(validate_props(type, props))
        found = next((one for one in unused if one[1:] == (type, digest)), None)
        if found is not None:
            matched[number] = found
            unused.remove(found)
    for number, (type, _props) in enumerate(modules):
        found = next((one for one in unused if one[1] == type and one[0] in present), None)
        if number not in matched and found is not None:
            matched[number] = found
            unused.remove(found)
    made: list[ModuleDocument] = []
    result = list(base.modules)
    if data is not None:
        gone = {one[0] for one in unused}
        result = [module for module in result if module.id not in gone]
    place = 0
    for number, (type, props) in enumerate(modules):
        old = matched.get(number)
        id_ = old[0] if old else (ids[number].id if ids else "")
        module = new_module(type, props, id_)
        made.append(module)
        at = next((at for at, one in enumerate(result) if one.id == module.id), None)
        if at is not None:
            if old is not None and old[2] != _digest_for(old, type, props, data):
                result[at] = replace(result[at], props={**result[at].props, **props})
            place = at + 1
        # A known module that is missing was removed on the site, and stays removed.
        elif old is None:
            result.insert(place, module)
            place += 1
    return tuple(result), made


def _digest_for(
    old: tuple[str, str, str],
    type: str,
    props: JsonObject,
    data: Mapping[str, Json] | None,
) -> str:
    return hash_of(props) if data is not None else hash_of(validate_props(type, props))
