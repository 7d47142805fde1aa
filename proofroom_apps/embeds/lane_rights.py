"""What the database role of agents may do with facts about embeds: read them."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import readable

RIGHTS: Final = readable("proofroom_embeds.EmbedFacts")
