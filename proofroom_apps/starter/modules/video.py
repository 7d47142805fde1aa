from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from proofroom.core.json import Json
from proofroom.definitions import (
    AIGuidance,
    MediaField,
    Module,
    ModuleProps,
    Select,
    Text,
    Textarea,
)
from proofroom.definitions.props import picture, recording, text


class Video(Module):
    name = "video"
    label = "Video or audio"
    description = "A video or an audio file of the media library, with poster and captions."
    icon = "globe"
    stylesheet = "cms/modules/video.css"
    ai = AIGuidance(
        layout_roles=("body", "support"),
        use_when=("a video or a recording of the media library belongs in the text",),
        avoid_when=(
            "the video is on YouTube or Vimeo: use embed",
            "the point can be made in words or with a picture",
        ),
        composition_notes=(
            "Always give a title: it is the name of the player for people who cannot see it. "
            "Nothing plays by itself. Poster and captions belong to the file in the media library."
        ),
    )

    class Props(ModuleProps):
        heading: str = Text(max_length=160, help="Shown above, as the heading of this part.")
        media_id: str | None = MediaField(
            label="Video or audio", accepts="recording", help="A file of the media library."
        )
        title: str = Text(
            max_length=160,
            help="Names the player for screen readers. Leave blank to use the title of the file.",
        )
        caption: str = Textarea(max_length=600, help="Shown below the player.")
        poster_id: str | None = MediaField(
            label="Poster", help="Leave blank to use the poster of the file."
        )
        width: Literal["text", "wide"] = Select(default="text", help="As wide as texts, or wider.")

    @classmethod
    def template_context(
        cls, props: Mapping[str, Json], context: Mapping[str, object]
    ) -> Mapping[str, object]:
        found = recording(context, props.get("mediaId")) or {}
        poster = picture(context, props.get("posterId")) or {}
        return {
            "recording": found,
            "title": text(props, "title") or found.get("title") or text(props, "heading"),
            "poster": poster.get("url") or found.get("poster"),
        }
