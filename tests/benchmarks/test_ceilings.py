"""Errors found by the check of the benchmarks, and its records."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import ceilings, postgres, results
from benchmarks.__main__ import main
from benchmarks.ceilings import Ceilings
from benchmarks.report import Report, load_report

KNOWN = Ceilings({"reading: list": 2.0}, {"reading: list": 5}, {"reading: list": 1000})


def report_of(ratio: float = 2.0, statements: int = 5, allocated: int = 1000) -> Report:
    return Report(
        ratios={"list": ratio}, statements={"list": statements}, allocated={"list": allocated}
    )


def wrong_in(report: Report) -> list[str]:
    return [*KNOWN.find_slow("reading", report), *KNOWN.find_changed("reading", report)]


@pytest.mark.parametrize("allocated", [901, 1000, 1099])
@pytest.mark.parametrize("ratio", [0.5, 2.0, 4.0])
def test_what_is_within_its_ceiling_passes(ratio: float, allocated: int) -> None:
    assert wrong_in(report_of(ratio=ratio, allocated=allocated)) == []


def test_a_ratio_above_twice_its_ceiling_is_found() -> None:
    assert wrong_in(report_of(ratio=4.01)) == [
        "reading: list: 4.01 times the floor, ceiling 2.00 (fails above 4.00)"
    ]


@pytest.mark.parametrize("count", [4, 6])
def test_another_number_of_statements_is_found(count: int) -> None:
    assert wrong_in(report_of(statements=count)) == [
        f"reading: list: {count} SQL statements instead of 5"
    ]


@pytest.mark.parametrize("size", [899, 1101])
def test_memory_that_differs_by_more_than_a_tenth_is_found(size: int) -> None:
    assert wrong_in(report_of(allocated=size)) == [
        f"reading: list: {size:,} bytes allocated instead of 1,000"
    ]


def test_rows_that_only_one_side_knows_are_found() -> None:
    found = Report(ratios={"list": 2.0, "post": 3.0}, allocated={"list": 1000})

    assert wrong_in(found) == [
        "reading: post: ratio without a ceiling",
        "reading: list: statements no longer measured",
    ]


def test_another_version_of_python_has_no_sizes_to_hold_to() -> None:
    known = Ceilings({"reading: list": 2.0}, {"reading: list": 5}, {})

    assert list(known.find_changed("reading", report_of(allocated=5000))) == []


def test_writing_keeps_other_parts_and_other_versions(tmp_path: Path) -> None:
    path = tmp_path / "ceilings.toml"
    path.write_text(
        '[ratios]\n"mcp: call" = 6.2\n"reading: gone" = 1.0\n[statements]\n'
        '[allocated."2.7"]\n"reading: list" = 7\n'
    )

    ceilings.write({"reading": report_of(ratio=2.346)}, path)

    assert ceilings.load(path) == Ceilings(
        {"mcp: call": 6.2, "reading: list": 2.35},
        {"reading: list": 5},
        {"reading: list": 1000},
    )
    assert '[allocated."2.7"]\n"reading: list" = 7\n' in path.read_text()


def test_the_committed_ceilings_are_of_every_part_and_as_they_are_written(tmp_path: Path) -> None:
    from benchmarks.parts import PARTS

    path = tmp_path / "ceilings.toml"
    path.write_text(ceilings.PATH.read_text())
    ceilings.write({}, path)

    assert path.read_text() == ceilings.PATH.read_text()
    known = ceilings.load()
    rows = {*known.ratios, *known.statements}
    assert {name.partition(": ")[0] for name in rows} == PARTS.keys() - {"search", "scale"}


def test_results_name_the_commit_and_say_which_part_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "describe", lambda: "PostgreSQL 15.1")
    found = Report(failures=["reading ended with 1.\nTraceback"])
    found.say("Nothing.")

    text = results.render({"reading": found})

    assert "commit " in text
    assert text.endswith("## Reading\n\n**reading ended with 1.**\n\nNothing.\n")


def test_a_report_is_handed_on_as_it_is(tmp_path: Path) -> None:
    report = report_of()
    report.show_table(("what", "ms"), [("list", "1.0")])
    report.fail("Not by an index.")

    report.save(tmp_path / "report")

    assert load_report(tmp_path / "report") == report
    assert report.blocks == ["| what | ms |\n|---|---:|\n| list | 1.0 |"]


@pytest.mark.parametrize("options", [["reading", "--write"], ["--tiny", "--write"]])
def test_only_a_whole_run_is_written_down(options: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(options)

    assert ended.value.code == 2
