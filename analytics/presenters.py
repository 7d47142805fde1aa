"""Figures on the wire."""

from __future__ import annotations

from collections.abc import Sequence

from analytics.figures.shapes import Heat, ModuleClicks, Spot, Summary, Totals
from content.store import iso
from core.json import JsonObject


def summary(of: Summary) -> JsonObject:
    """The summary, and the totals of the period before it."""
    before = of.period.before()
    return {
        "from": str(of.period.first),
        "to": str(of.period.last),
        "totals": _totals(of.totals),
        "previous": {
            "from": str(before.first),
            "to": str(before.last),
            "totals": _totals(of.previous),
        },
        "overTime": [
            {
                "date": str(moment.date),
                "views": moment.views,
                "clicks": moment.clicks,
                "conversions": moment.conversions,
            }
            for moment in of.over_time
        ],
        "topPosts": [
            {
                "postId": str(post.post_id),
                "title": post.title,
                "views": post.views,
                "clicks": post.clicks,
                "conversions": post.conversions,
            }
            for post in of.top_posts
        ],
        "referrers": [{"host": one.host, "views": one.views} for one in of.referrers],
        "locales": [
            {"locale": one.value, "views": one.views, "clicks": one.clicks} for one in of.locales
        ],
        "devices": [
            {"device": one.value, "views": one.views, "clicks": one.clicks} for one in of.devices
        ],
        "meta": {
            "grain": "month" if of.is_monthly else "day",
            "countedAt": iso(of.counted_at),
        },
    }


def heat(of: Heat) -> JsonObject:
    """The spots, most hit first, and how to read them."""
    return {
        "data": _spots(of.spots),
        "meta": {"grid": of.grid, "max": of.max, "total": of.total},
    }


def modules(of: Sequence[ModuleClicks]) -> JsonObject:
    """Modules, most hit first."""
    return {
        "data": [
            {
                "postModuleId": one.post_module_id,
                "label": one.label,
                "type": one.type or None,
                "isGone": one.is_gone,
                "count": one.clicks,
                "spots": _spots(one.spots),
            }
            for one in of
        ],
        "meta": {
            "max": max((one.clicks for one in of), default=0),
            "total": sum(one.clicks for one in of),
        },
    }


def _totals(of: Totals) -> JsonObject:
    return {"views": of.views, "clicks": of.clicks, "conversions": of.conversions}


def _spots(spots: Sequence[Spot]) -> list[JsonObject]:
    return [{"x": one.x, "y": one.y, "count": one.count} for one in spots]
