"""AI clients and their connections with users. Codes and tokens are tables of the library."""

from __future__ import annotations

import unicodedata
from typing import ClassVar, Final
from urllib.parse import urlsplit
from uuid import uuid4

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from oauth2_provider.models import AbstractApplication

from proofroom.core.content_scope import ContentScope
from proofroom.oauth.redirects import redirect_uri_error
from proofroom.oauth.scopes import AGENTS, add_agents

NAME_MAX: Final = 80
REDIRECTS_MAX: Final = 10


def clean_name(name: str) -> str:
    """Return the name of a client without control characters and other invisible characters."""
    # Unicode categories C and Z: an invisible or right-to-left character could make a name look like another.
    visible = "".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in name)
    return " ".join(visible.split())[:NAME_MAX]


class OAuthClient(AbstractApplication):  # type: ignore[misc]  # the library has no types
    """An AI client. It chooses its own name; only its redirect URIs are reliable."""

    user = None  # a client has no owner: users have connections with it

    class Meta:
        verbose_name = "AI client"
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["created"], name="oauth_client_oldest")
        ]

    @property
    def label(self) -> str:
        """The name of the client for people: its own name, or else the host of its document."""
        return self.name or self.document_host or "AI client"

    @property
    def document_host(self) -> str:
        """The host that publishes the client's metadata; empty for a registered client."""
        if self.registration_source != self.RegistrationSource.CIMD:
            return ""
        return urlsplit(self.client_id).hostname or ""

    def clean(self) -> None:
        uris = self.redirect_uris.split()
        faults = [f"{uri[:80]} {fault}." for uri in uris if (fault := redirect_uri_error(uri))]
        if not uris or len(uris) > REDIRECTS_MAX:
            faults.append(f"Between 1 and {REDIRECTS_MAX} redirect URIs are needed.")
        if faults:
            raise ValidationError({"redirect_uris": faults})
        if self.authorization_grant_type != self.GRANT_AUTHORIZATION_CODE:
            raise ValidationError(
                {"authorization_grant_type": "Only authorization_code is served."}
            )

    def get_allowed_schemes(self) -> list[str]:
        return sorted({urlsplit(uri).scheme for uri in self.redirect_uris.split()})


class OAuthClientKeys(models.Model):
    """The keys of a client for signed requests, from its metadata document. Stored before the client itself."""

    client_id = models.CharField(max_length=255, unique=True)
    jwks_uri = models.CharField(max_length=500, blank=True)
    jwks = models.JSONField(default=dict)
    is_required = models.BooleanField(default=False)
    read_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = "keys of an AI client"
        verbose_name_plural = "keys of AI clients"

    def __str__(self) -> str:
        return self.client_id


class OAuthConnection(models.Model):
    """An AI client that acts for a user, until either side ends it.

    `role`: the account's role at consent; with another role the connection is invalid, as a token is. `expires_at`:
    set if another server issues the tokens, which are not stored; the expiry of the newest token seen.
    `content_scope`: the content the client is limited to, within the account's. `propose_starts_agents`: True for
    connections made before starting agents had its own scope.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="oauth_connections"
    )
    client = models.ForeignKey(OAuthClient, on_delete=models.CASCADE, related_name="connections")
    role = models.CharField(max_length=20)
    scopes = models.JSONField(default=list)
    connected_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    content_scope = models.JSONField(default=dict, blank=True)
    propose_starts_agents = models.BooleanField(default=False, db_default=False)

    class Meta:
        verbose_name = "connected AI client"
        ordering: ClassVar[list[str]] = ["-connected_at", "-id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["user", "client"], name="oauth_one_connection")
        ]

    def __str__(self) -> str:
        return f"{self.client_id} for {self.user_id}"

    @property
    def scope(self) -> ContentScope:
        """The content the client is limited to."""
        return ContentScope.from_json(self.content_scope)

    @property
    def starts_agents(self) -> bool:
        return AGENTS in add_agents(self.scopes, self.propose_starts_agents)

    @property
    def is_blocked(self) -> bool:
        """True if the user disconnected a client of an external server. It stays out until they allow it."""
        return self.ended_at is not None and self.expires_at is not None
