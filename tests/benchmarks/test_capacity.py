"""The scaling page: its numbers follow from the listed costs."""

from __future__ import annotations

from benchmarks import capacity

RESULTS = """
| endpoint | req/s | CPU ms | of the floor |
|---|---:|---:|---:|
| floor: page | 177 | 1.653 | 1.00 |
| GET /blog/:slug, the page, warm | 99 | 1,003.5 | 2.01 |

| what | events a call | CPU ms an event |
|---|---:|---:|
| the product | 100 | 0.01 |
| the product | 1 | 0.4 |
| bare endpoint | 1 | 0.1 |
"""


def test_the_page_is_computed_from_its_costs() -> None:
    page = capacity.PAGE.read_text()

    assert list(capacity.costs_of(page)) == list(capacity.ROWS)
    # `python -m benchmarks.capacity` makes it so.
    assert capacity.render(page, capacity.costs_of(page)) == page


def test_costs_come_from_the_results_by_the_names_of_their_rows() -> None:
    assert capacity.measured(RESULTS) == {"page, cached": 1003.5, "a view recorded": 0.4}


def test_a_core_and_a_billion_views_are_computed_as_the_page_says() -> None:
    costs: dict[str, float | None] = dict.fromkeys(capacity.ROWS, 2.0)
    costs["a view recorded"] = 1.2

    found = capacity.computed(costs)

    # 600 ms of a core's second, 2 ms each; a third of that in the mean second of a day.
    assert found[capacity.COST_HEAD][0] == ["page, cached", "2", "300", "8,640,000"]
    views = next(row for row in found[capacity.PLAN_HEAD] if row[0] == "views recorded")
    assert views == ["views recorded", "34,722", "1.2", "69"]
    assert found[capacity.PLAN_HEAD][-1][0] == "sum"


def test_an_unmeasured_cost_has_a_dash_and_is_in_no_sum() -> None:
    costs: dict[str, float | None] = dict.fromkeys(capacity.ROWS)

    found = capacity.computed(costs | {"page, cached": 2.0})

    assert found[capacity.COST_HEAD][1] == ["page, rendered", "–", "–", "–"]
    assert found[capacity.PLAN_HEAD][1] == ["pages rendered", "174", "–", "–"]
    assert found[capacity.PLAN_HEAD][-1] == ["sum of the measured rows", "", "", "5"]
