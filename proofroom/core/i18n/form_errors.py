"""Refusals in the words of a form: a sentence that begins with a name of the wire begins with the label."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.functional import Promise
from django.utils.translation import gettext


def with_label(label: str | Promise, path: str, sentences: Iterable[str]) -> list[str]:
    """Return what a service said about the field at `path`, as the reader knows that field."""
    parts = path.split(".")
    names = [".".join(parts[at:]) for at in range(len(parts))]
    return [_said(str(label), names, sentence) for sentence in sentences]


def _said(label: str, names: Iterable[str], sentence: str) -> str:
    for name in names:
        if label and sentence.startswith(f"{name} "):
            rest = sentence.removeprefix(f"{name} ")
            return gettext("“%(label)s” %(rest)s") % {"label": label, "rest": rest}
    return sentence
