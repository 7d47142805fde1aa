"""The OpenAPI descriptions of sessions."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiExample
from rest_framework import serializers

from accounts.roles import Role

ROLES = [role.value for role in Role]

CREDENTIALS = OpenApiExample(
    "An editor",
    {"email": "editor@example.com", "password": "your password"},
    request_only=True,
)


class MeSchema(serializers.Serializer[object]):
    """The account that is logged in, and what it may do."""

    id = serializers.IntegerField(min_value=1)
    email = serializers.EmailField()
    username = serializers.CharField()
    role = serializers.ChoiceField(choices=ROLES)
    permissions = serializers.ListField(child=serializers.CharField())


class LoggedOutSchema(serializers.Serializer[object]):
    """What logging out answers."""

    ok = serializers.BooleanField()
