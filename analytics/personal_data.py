"""Personal data of analytics: none. Neither address, browser nor visitor is stored."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from proofroom.core.privacy.retention import Retention

WITHOUT_PERSONAL_DATA: Final = (
    "analytics.AnalyticsEvent",
    "analytics.HeatBatch",
    "analytics.HeatSheet",
    "analytics.PostCount",
    "analytics.RollUp",
    "analytics.SiteCount",
)
RETENTIONS: Final = (
    Retention(
        "analytics-events",
        gettext_lazy("Views and clicks, without visitors"),
        setting="ANALYTICS_RETENTION_DAYS",
        task_name="analytics.tasks.prune_events",
    ),
    Retention(
        "analytics-figures",
        gettext_lazy("Figures added up from views and clicks"),
        setting="ANALYTICS_FIGURES_DAYS",
        task_name="analytics.tasks.prune_events",
    ),
)
