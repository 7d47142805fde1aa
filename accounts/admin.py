"""Accounts, to read."""

from __future__ import annotations

from django.contrib import admin

from accounts.models import User
from core.admin.rights import PermittedAdmin


@admin.register(User)
class UserAdmin(PermittedAdmin[User]):
    view_permission = "users.manage"
    list_display = ("username", "email", "role", "agent_id", "is_active", "last_login")
    list_filter = ("role", "is_active")
    search_fields = ("username", "email")
    ordering = ("username",)
    fields = ("username", "email", "role", "agent_id", "is_active", "last_login", "created_at")
    readonly_fields = ("created_at",)
