"""The doctor looks at the account that AI clients write as."""

from __future__ import annotations

from typing import Any

import pytest

from core.doctor import Finding, mcp
from tests import make

pytestmark = pytest.mark.django_db
ADVICE = "set it to the id of an active account, best of the role ai_agent, or unset it"


def findings(settings: Any, user_id: int | None) -> list[Finding]:
    changed = {"mcp_auth_token": "a-secret-value", "mcp_system_user_id": user_id}
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update=changed)
    return list(mcp())[1:]


def test_a_system_user_that_is_missing_or_disabled_is_a_finding(settings: Any) -> None:
    user = make.user("ai_agent")

    assert findings(settings, None) == findings(settings, user.pk) == []
    user.is_active = False
    user.save()
    disabled = f"MCP_SYSTEM_USER_ID={user.pk} is a disabled account"
    assert findings(settings, user.pk) == [Finding("fail", "MCP", disabled, ADVICE)]
    missing = "MCP_SYSTEM_USER_ID=987654 has no account"
    assert findings(settings, 987654) == [Finding("fail", "MCP", missing, ADVICE)]


def test_diagnostics_without_any_credential_are_a_finding(settings: Any) -> None:
    def found(**changed: Any) -> list[str]:
        unset = {"mcp_auth_token": None, "mcp_auth_header_value": None, "mcp_diagnostics": False}
        settings.CMS_ENV = settings.CMS_ENV.model_copy(update={**unset, **changed})
        return [finding.found[:17] for finding in mcp() if finding.level == "warn"]

    assert found() == ["no credentials: i"]
    assert found(mcp_diagnostics=True) == ["no credentials: i", "MCP_DIAGNOSTICS=1"]
    assert found(mcp_diagnostics=True, mcp_auth_token="a-secret-value") == []
