"""Steps of logging in."""

from __future__ import annotations

import re
import time
from typing import Any

from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, hotp_value
from django.core import mail
from django.test import Client

from proofroom.accounts.models import User
from proofroom.core.models import Event
from tests import make

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
NEW_PASSWORD = "an-entirely-new-password"


def log_in(
    client: Client, name: str = "editor", password: str = make.PASSWORD, **extra: Any
) -> Any:
    data = {"username": f"{name}@example.com", "password": password, **extra}
    return client.post("/admin/login/", data)


def is_logged_in(client: Client) -> bool:
    return client.get("/api/auth/me").status_code == 200


def code_now(steps: int = 0) -> str:
    """Return the code of the authenticator app, `steps` of 30 seconds from now."""
    return str(format_hotp_value(hotp_value(SECRET, int(time.time()) // 30 + steps)))


def with_app(name: str = "editor") -> User:
    user = make.user(name)
    TOTP.activate(user, SECRET)
    return user


def with_codes(user: User) -> list[str]:
    codes: list[str] = RecoveryCodes.activate(user).generate_codes()
    return codes


def recorded(name: str) -> list[Event]:
    return list(Event.objects.filter(name=name).order_by("pk"))


def link_in_mail(index: int = -1) -> str:
    found = re.search(r"https?://[^/\s]+(/admin/\S+)", str(mail.outbox[index].body))
    assert found is not None
    return found[1]


def confirm_with_password(client: Client, path: str) -> None:
    """Confirm with the password before a change of login methods."""
    client.post("/admin/account/confirm/", {"password": make.PASSWORD, "next": path})
