"""Reading stored props in `template_context`: they can be older than their definition."""

from __future__ import annotations

from collections.abc import Mapping

from proofroom.core.json import Json
from proofroom.definitions.markdown_values import Media
from proofroom.definitions.richtext.links import safe_href


def entries(props: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    """The items of a repeater."""
    value = props.get(name)
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def text(props: Mapping[str, Json], name: str) -> str:
    """A text without the spaces around it; "" for none."""
    value = props.get(name)
    return value.strip() if isinstance(value, str) else ""


def picture(context: Mapping[str, object], id_: Json) -> Mapping[str, object] | None:
    """The picture as templates show it; None for one that is gone."""
    return shown(context.get("media"), id_)


def shown(media: Media | object, id_: Json) -> Mapping[str, object] | None:
    """The same of a mapping of pictures."""
    found = media.get(id_) if isinstance(media, Mapping) and isinstance(id_, str) else None
    return found if isinstance(found, Mapping) and safe_href(found.get("url")) else None
