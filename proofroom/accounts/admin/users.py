"""The admin of accounts: people can be added and edited, agents' accounts turned on and off."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth import update_session_auth_hash
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.accounts.devices import device_name
from proofroom.accounts.models import User, role_label
from proofroom.accounts.queries import people_role_choices, with_role_labels
from proofroom.accounts.roles import Role
from proofroom.accounts.services.second_factors import list_second_factors, remove_second_factors
from proofroom.accounts.services.sessions import end_account_sessions, list_sessions
from proofroom.accounts.services.users import change_user, create_user, set_password
from proofroom.accounts.user_fields import NewUser, UserChange
from proofroom.core.activity.presenters import factor_label
from proofroom.core.admin.form_pages import FormAdmin, form_page, save_form
from proofroom.core.admin.labels import switch_badge
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_messages
from proofroom.core.i18n.ages import age_html
from proofroom.core.validation.form_fields import InputForm


class NewUserForm(InputForm):
    input_class = NewUser
    asked_fields = ("username", "email", "role", "password")


class UserForm(InputForm):
    input_class = UserChange
    asked_fields = ("username", "email", "role", "active")


class SwitchForm(InputForm):
    """The editable fields of an agent's account."""

    input_class = UserChange
    asked_fields = ("active",)


class PasswordForm(InputForm):
    input_class = UserChange
    asked_fields = ("password",)


class RoleFilter(admin.SimpleListFilter):
    title = gettext_lazy("role")
    parameter_name = "role"

    def lookups(
        self, request: HttpRequest, model_admin: admin.ModelAdmin[User]
    ) -> list[tuple[str, str]]:
        return [
            *people_role_choices(),
            (Role.AI_AGENT, _("AI agent")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> QuerySet[User]:
        return queryset.filter(role=self.value()) if self.value() else queryset


@admin.register(User)
class UserAdmin(FormAdmin[User]):
    view_permission = add_permission = "users.manage"
    list_title = gettext_lazy("People")
    add_title = gettext_lazy("New account")
    add_button = gettext_lazy("Create account")
    add_form = NewUserForm
    list_display = ("username", "email", "kind", "state", "seen")
    list_filter = (RoleFilter, "is_active")
    search_fields = ("username", "email")
    # People have an empty agent id, so they come first.
    ordering = ("agent_id", "username")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return with_role_labels(super().get_queryset(request))

    @admin.display(description=gettext_lazy("Role"), ordering="role")
    def kind(self, user: User) -> str:
        """Return the label of the role. The account's page names the agent."""
        label: str | None = getattr(user, "site_role_label", None)
        return label or role_label(user.role)

    @admin.display(description=gettext_lazy("Status"), ordering="is_active")
    def state(self, user: User) -> SafeString:
        return switch_badge(user.is_active)

    @admin.display(description=gettext_lazy("Last login"), ordering="last_login")
    def seen(self, user: User) -> SafeString | str:
        if user.last_login is None and user.role != Role.AI_AGENT:
            return _("never")
        return age_html(user.last_login)

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        create_user(**form.cleaned_data, actor=actor_of(request))
        messages.success(
            request,
            _("Created the account %(username)s.") % {"username": form.cleaned_data["username"]},
        )
        return HttpResponseRedirect(reverse("admin:proofroom_accounts_user_changelist"))

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return may(request, "users.manage")

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        require(request, "users.manage")
        user = User.objects.filter(pk=object_id).first() if object_id.isdecimal() else None
        if user is None:
            raise Http404(_("Account not found."))
        operation = request.POST.get("do") if request.method == "POST" else ""
        kind = SwitchForm if user.role == Role.AI_AGENT else UserForm
        form = kind(
            (request.POST if operation == "change" else None),
            initial={
                name: getattr(user, name) for name in ("username", "email", "role", "is_active")
            },
        )
        password_form = PasswordForm(request.POST if operation == "password" else None)
        actor = actor_of(request)

        def change() -> None:
            change_user(user_id=user.pk, actor=actor, **form.cleaned_data)

        def change_password() -> None:
            changed = set_password(user_id=user.pk, actor=actor, **password_form.cleaned_data)
            if changed.pk == request.user.pk:
                # A new password ends all sessions. Renew this one, so that users who change their own stay logged in.
                update_session_auth_hash(request, changed)

        if operation == "change" and save_form(form, change):
            messages.success(request, _("Saved %(user)s.") % {"user": user})
            return HttpResponseRedirect(request.path)
        if operation == "password" and save_form(password_form, change_password):
            messages.success(request, _("Changed the password of %(user)s.") % {"user": user})
            return HttpResponseRedirect(request.path)
        if operation in ("factors", "sessions"):
            with service_errors_as_messages(request):
                if operation == "factors":
                    remove_second_factors(user=user, actor=actor)
                    message = _("Removed two-factor authentication of %(user)s.")
                else:
                    end_account_sessions(user_id=user.pk, actor=actor)
                    message = _("Ended all sessions of %(user)s.")
                messages.success(request, message % {"user": user})
            return HttpResponseRedirect(request.path)
        is_other = user.role != Role.AI_AGENT and user.pk != request.user.pk
        context = {
            "account": user,
            "is_other": is_other,
            "may_erase": is_other and user.erased_at is None and may(request, "privacy.manage"),
            "factors": [factor_label(kind) for kind in list_second_factors(user)]
            if is_other
            else [],
            "sessions": [(one, device_name(one.user_agent)) for one in list_sessions(user)]
            if is_other
            else [],
            "password_form": None if user.role == Role.AI_AGENT else password_form,
        }
        page = form_page(
            request, "admin/proofroom_accounts/user.html", User, context, title=str(user), form=form
        )
        if password_form.errors:
            page.status_code = 422
        return page
