"""Personal data of embeds: none but what the provider publishes."""

from __future__ import annotations

from typing import Final

WITHOUT_PERSONAL_DATA: Final = ("proofroom_embeds.EmbedFacts",)
