"""The reports. Each first counts a bounded part of what came since, and then reads figures only."""

from __future__ import annotations

from uuid import UUID

from analytics.rollups import arm_counts, summaries
from analytics.rollups import heatmaps as heats
from analytics.rollups.aggregate import catch_up
from analytics.rollups.periods import Period
from analytics.rollups.report_types import (
    ArmDay,
    ArmFigures,
    Goal,
    Heat,
    HeatAsked,
    ModuleClicks,
    Summary,
)

__all__ = [
    "ArmDay",
    "ArmFigures",
    "Goal",
    "Heat",
    "HeatAsked",
    "ModuleClicks",
    "Summary",
    "arms",
    "daily_arms",
    "goals_of",
    "heatmap",
    "module_clicks",
    "summary",
]


def summary(period: Period, post_id: UUID | None = None) -> Summary:
    """Of the whole site, or of one post. A fixed number of statements."""
    catch_up()
    return summaries.summary(period, post_id)


def heatmap(asked: HeatAsked, *, without_modules: bool = False) -> Heat:
    """Return where a page was hit. `without_modules` leaves out what `module_clicks` has a place for."""
    catch_up()
    return heats.heatmap(asked, without_modules=without_modules)


def module_clicks(asked: HeatAsked) -> list[ModuleClicks]:
    """Modules by how often they were clicked, with the spots in them; the most clicked first."""
    catch_up()
    return heats.module_clicks(asked)


def arms(original_id: UUID, period: Period, goal: str | None = None) -> list[ArmFigures]:
    """The arms of a test, the original first. Without a goal, conversions are those of all goals."""
    catch_up()
    return arm_counts.arms(original_id, period, goal)


def daily_arms(original_id: UUID, period: Period, goal: str | None = None) -> list[ArmDay]:
    """The arms of a test by day, in order; days without events are left out."""
    catch_up()
    return arm_counts.daily_arms(original_id, period, goal)


def goals_of(original_id: UUID, period: Period) -> list[Goal]:
    """Return what visitors of the arms reached, the most frequent first."""
    catch_up()
    return arm_counts.goals_of(original_id, period)
