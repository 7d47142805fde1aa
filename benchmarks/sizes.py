"""Sizes of the measurements: large enough for results, or tiny to show that everything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of a run. Fields up to `kills` are also options of the command."""

    posts: int = 10_000
    events: int = 10_000
    rounds: int = 5
    seconds: float = 2.0
    rows: int = 1_000_000
    calls: int = 200
    connections: int = 8
    workers: int = 2
    minutes: float = 10.0
    clients: int = 64
    kills: int = 9
    warm_seconds: float = 1.0
    sitemap: tuple[int, ...] = (1_000, 10_000, 100_000)
    photos: Mapping[str, tuple[int, int]] = field(
        default_factory=lambda: {"2 MP": (1600, 1200), "12 MP": (4000, 3000)}
    )
    mcp_sessions: int = 500
    admin_modules: tuple[int, ...] = (10, 100)
    admin_changes: tuple[int, ...] = (20, 200)
    analytics_posts: int = 1_500
    analytics_chunk: int = 20_000
    analytics_added: int = 60_000
    analytics_probe: int = 20_000
    copied: tuple[int, ...] = (100, 5_000)
    admin_posts: int = 300
    delivered_posts: int = 2_852  # of which 2,000 are published
    fixed_posts: int = 100
    soak_posts: int = 1_000
    write_rounds: int = 9
    few_posts: int = 1_000
    many_posts: int = 100_000
    deep_page: int = 350
    least_requests: int = 0
    has_slow_rows: bool = True


TINY: Final = Sizes(
    posts=800,
    events=20,
    rounds=5,
    seconds=0.1,
    rows=3_000,
    calls=6,
    connections=2,
    workers=1,
    minutes=0.25,
    clients=12,
    kills=1,
    warm_seconds=0.1,
    sitemap=(50, 100),
    photos={"0.1 MP": (400, 300)},
    mcp_sessions=5,
    admin_modules=(3,),
    admin_changes=(4,),
    analytics_posts=60,
    analytics_chunk=1_000,
    analytics_added=500,
    analytics_probe=200,
    copied=(100,),
    admin_posts=60,
    delivered_posts=200,
    fixed_posts=100,
    soak_posts=60,
    write_rounds=5,
    few_posts=60,
    many_posts=2_000,
    deep_page=5,
    least_requests=12,
    has_slow_rows=False,
)
