"""The doctor's check of the account of AI clients."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.core.diagnostics.doctor import CheckResult, mcp, mcp_server
from tests import make
from tests.mcp.answering import answering

pytestmark = pytest.mark.django_db
ADVICE = "set it to the id of an active account, best of the role ai_agent, or unset it"


def findings(settings: Any, user_id: int | None) -> list[CheckResult]:
    changed = {"mcp_auth_token": "a-secret-value", "mcp_system_user_id": user_id}
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=changed)
    return list(mcp())[1:]


def test_a_system_user_that_is_missing_or_disabled_is_a_finding(settings: Any) -> None:
    user = make.user("ai_agent")

    assert findings(settings, None) == findings(settings, user.pk) == []
    user.is_active = False
    user.save()
    disabled = f"MCP_SYSTEM_USER_ID={user.pk} is a disabled account"
    assert findings(settings, user.pk) == [CheckResult("fail", "MCP", disabled, ADVICE)]
    missing = "MCP_SYSTEM_USER_ID=987654 has no account"
    assert findings(settings, 987654) == [CheckResult("fail", "MCP", missing, ADVICE)]


def test_diagnostics_without_any_credential_are_a_finding(settings: Any) -> None:
    def found(**changed: Any) -> list[str]:
        unset = {"mcp_auth_token": None, "mcp_auth_header_value": None, "mcp_diagnostics": False}
        settings.CMS_ENV = settings.CMS_ENV.model_copy(update={**unset, **changed})
        return [finding.found[:17] for finding in mcp() if finding.level == "warn"]

    assert found() == ["no credential in "]
    assert found(mcp_diagnostics=True) == ["no credential in ", "MCP_DIAGNOSTICS=1"]
    assert found(mcp_diagnostics=True, mcp_auth_token="a-secret-value") == []


def test_the_doctor_says_whether_the_server_answers(settings: Any) -> None:
    def found(**changed: Any) -> list[CheckResult]:
        settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"mcp_url": None, **changed})
        return list(mcp_server())

    with answering(200) as port:
        there = found(mcp_port=port)
        assert found(mcp_port=port, mcp_url="https://ai.example/mcp") == []
    gone = found(mcp_port=port)

    assert there == [CheckResult("ok", "MCP server", f"answers on port {port}")]
    advice = "start ./run run_mcp, or set MCP_URL"
    assert gone == [CheckResult("warn", "MCP server", f"nothing answers on port {port}", advice)]
