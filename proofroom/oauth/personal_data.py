"""Personal data of connected AI clients."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from proofroom.core.privacy.kinds import Erasure, Table, TableKind
from proofroom.core.privacy.retention import Retention
from proofroom.oauth.connections import UNUSED_CLIENTS_KEPT_DAYS

_USER: Final = ("user",)
_TIMES: Final = ("created", "expires", "scope")
KINDS: Final = (
    TableKind(
        "oauth.connections",
        gettext_lazy("Connected AI clients and their tokens"),
        Table("oauth2_provider.RefreshToken", ("created", "revoked"), owners=_USER),
        Table("oauth2_provider.AccessToken", _TIMES, owners=_USER),
        Table("oauth2_provider.IDToken", _TIMES, owners=_USER),
        Table("oauth2_provider.Grant", _TIMES, owners=_USER),
        Table("oauth2_provider.DeviceGrant", ("expires", "scope"), owners=_USER),
        Table(
            "proofroom_oauth.OAuthConnection",
            ("connected_at", "last_used_at", "ended_at", "scopes"),
            owners=_USER,
        ),
        erasure=Erasure.DELETED,
        order=10,
    ),
)
WITHOUT_PERSONAL_DATA: Final = ("proofroom_oauth.OAuthClient", "proofroom_oauth.OAuthClientKeys")
RETENTIONS: Final = (
    Retention(
        "oauth",
        gettext_lazy("Unused connections of AI clients"),
        fixed_days=UNUSED_CLIENTS_KEPT_DAYS,
        task_name="oauth.tasks.purge",
    ),
)
