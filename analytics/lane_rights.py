"""What the database role of agents may do with counts of visits."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import hidden, readable

RIGHTS: Final = (
    *readable(
        "analytics.SiteCount",
        "analytics.PostCount",
        "analytics.HeatSheet",
        "analytics.HeatBatch",
        "analytics.RollUp",
    ),
    *hidden("analytics.AnalyticsEvent"),
)
