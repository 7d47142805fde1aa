"""Captions of videos: WebVTT, checked and normalized."""

from __future__ import annotations

import re
from typing import Final

from django.utils.translation import gettext as _

from proofroom.core.errors import RuleViolation, invalid

CAPTIONS_MAX: Final = 500_000
"""Maximum number of characters of a file. A feature film has about 100,000."""
_TIME: Final = r"(?:(\d{2,4}):)?([0-5]\d):([0-5]\d)\.(\d{3})"
_CUE: Final = re.compile(rf"{_TIME}[ \t]+-->[ \t]+{_TIME}(?:[ \t].*)?")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def clean_captions(text: str) -> str:
    """Return WebVTT with normalized line ends. Raises `RuleViolation` on `captions` with the line of the problem."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if len(text) > CAPTIONS_MAX:
        raise invalid(
            "captions",
            _("The captions have %(number)s characters; at most %(longest)s are allowed.")
            % {"number": len(text), "longest": CAPTIONS_MAX},
        )
    if not re.fullmatch(r"WEBVTT(?:[ \t].*)?", lines[0]):
        raise invalid(
            "captions",
            _("This is not a WebVTT file: its first line must be “%(line)s”.") % {"line": "WEBVTT"},
        )
    if found := _CONTROL.search(text):
        raise _line_error(text.count("\n", 0, found.start()), _("it has a control character"))
    cues, last = 0, 0
    for number, line in enumerate(lines):
        if "-->" not in line:
            continue
        cue = _CUE.fullmatch(line.strip())
        if cue is None:
            raise _line_error(number, _("a time must be written as 00:01:02.500 --> 00:01:04.000"))
        begin, end = _milliseconds(cue.groups()[:4]), _milliseconds(cue.groups()[4:8])
        if end <= begin:
            raise _line_error(number, _("the end is not after the start"))
        if begin < last:
            raise _line_error(number, _("it starts before the line above it"))
        cues, last = cues + 1, begin
    if not cues:
        raise invalid("captions", _("The file has no captions."))
    return "\n".join(lines).rstrip("\n") + "\n"


def _milliseconds(parts: tuple[str | None, ...]) -> int:
    hours, minutes, seconds, rest = (int(part or 0) for part in parts)
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + rest


def _line_error(number: int, problem: str) -> RuleViolation:
    return invalid(
        "captions",
        _("Line %(number)s of the captions: %(problem)s.")
        % {"number": number + 1, "problem": problem},
    )
