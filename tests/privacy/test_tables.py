"""Tables with columns about people: whose rows they are, and what an export shows of them."""

from __future__ import annotations

import json

import pytest
from allauth.socialaccount.models import SocialAccount

from content.models import Revision
from proofroom.core.json import Json
from proofroom_apps.privacy import request_runs
from tests import make
from tests.privacy.scene import records_of, request

pytestmark = pytest.mark.django_db


def test_an_older_name_of_the_account_is_replaced_but_no_other_person() -> None:
    zelda, other = make.user("editor", "zelda"), make.user("editor", "olga")
    post = make.post()
    rows = [
        Revision.objects.create(post=post, version=90 + number, by=by, by_name=name, document={})
        for number, (by, name) in enumerate(
            [(zelda, "before"), (other, "zelda"), (None, "zelda"), (None, "before")]
        )
    ]

    job = request("erase", "zelda@example.com")

    names = [Revision.objects.get(pk=row.pk).by_name for row in rows]
    former = f"Former member {zelda.pk}"
    assert names == [former, "zelda", former, "before"]
    assert job.results["content.history"] == {"found": 2, "erased": 2}


def test_lists_in_answers_of_login_providers_show_no_secrets() -> None:
    user = make.user("editor", "zelda")
    extra = {"keys": [{"name": "phone", "token": "hidden"}], "groups": ["staff"]}
    SocialAccount.objects.create(user=user, provider="x", uid="1", extra_data=extra)

    text = json.dumps(records_of(request("export", "zelda@example.com"))["accounts.sign-in"])

    assert "phone" in text
    assert "staff" in text
    assert "hidden" not in text


def test_values_that_the_file_cannot_hold_do_not_end_an_export() -> None:
    user = make.user("editor", "zelda")
    SocialAccount.objects.create(user=user, provider="x", uid="1", extra_data={"number": 2**70})

    [record] = records_of(request("export", "zelda@example.com"))["accounts.sign-in"]

    assert record["Extra data"] == {"number": str(2**70)}


@pytest.mark.parametrize(
    ("value", "shown"),
    [("a\ud800b", "a?b"), ([-(2**63) - 1], [str(-(2**63) - 1)]), (10**5000, "…"), (True, True)],
    ids=["surrogate", "number", "long number", "boolean"],
)
def test_lines_replace_what_json_cannot_hold(value: Json, shown: Json) -> None:
    line = request_runs._line({"value": value, "\udfff": 1})

    assert json.loads(line) == {"value": shown, "?": 1}


def test_lines_are_cut_where_they_are_nested_too_deep() -> None:
    value: Json = "x"
    for _ in range(5_000):
        value = [value]

    assert request_runs._line({"value": value}).count(b"[") == 200
