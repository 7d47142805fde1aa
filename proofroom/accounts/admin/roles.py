"""The admin of roles: built-in roles to view and copy, the site's roles to edit, and the access page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from proofroom.accounts.access import AccessAnswer, compare_roles, explain_access
from proofroom.accounts.admin.scope_fields import ScopeForm
from proofroom.accounts.models import ROLE_DESCRIPTION_MAX, ROLE_LABEL_MAX, SiteRole, User
from proofroom.accounts.permission_labels import (
    label_of,
    permission_choices,
    role_permission_choices,
)
from proofroom.accounts.queries import find_role, people_role_choices
from proofroom.accounts.roles import Role, assignable_permissions
from proofroom.accounts.scope_words import describe_scope
from proofroom.accounts.services.role_grants import missing_permissions
from proofroom.accounts.services.roles import change_role, create_role, remove_role, role_users
from proofroom.core.actor import Actor
from proofroom.core.admin.form_pages import FormAdmin, form_page, save_form
from proofroom.core.admin.permissions import actor_of, may, require, service_errors_as_http
from proofroom.core.content_scope import WHOLE_SITE, ContentScope, Scoped, find_post
from proofroom.core.errors import NotFound
from proofroom.core.validation.input_validation import parse_uuid

LIST_URL = "admin:proofroom_accounts_siterole_changelist"
MAX_PEOPLE_SHOWN = 20


class PermissionList(forms.CheckboxSelectMultiple):
    """Checkboxes for permissions: the first group is open, the others are folded."""

    def _render(self, template_name: str, context: dict[str, Any], renderer: object = None) -> str:
        # Django's renderer of forms does not know the product's templates.
        groups = [
            (name, options, sum(bool(option["selected"]) for option in options))
            for name, options, _index in context["widget"]["optgroups"]
        ]
        return render_to_string(
            "admin/proofroom_accounts/permission_list.html", {**context, "groups": groups}
        )


class RoleForm(ScopeForm):
    label = forms.CharField(label=gettext_lazy("Name"), max_length=ROLE_LABEL_MAX)
    description = forms.CharField(
        label=gettext_lazy("Description"),
        max_length=ROLE_DESCRIPTION_MAX,
        required=False,
        help_text=gettext_lazy("Who it is for."),
    )
    permissions = forms.MultipleChoiceField(
        label=gettext_lazy("Permissions"),
        choices=role_permission_choices,
        widget=PermissionList,
        help_text=gettext_lazy(
            "You can only give permissions that you have yourself. Those for the whole site "
            "cannot be limited to part of the content."
        ),
    )

    requires_second_factor = forms.BooleanField(
        label=gettext_lazy("People with this role must use two-factor authentication"),
        required=False,
        help_text=gettext_lazy(
            "Until they have set up an authenticator app or a passkey, they can only access their "
            "own account."
        ),
    )

    def values(self) -> dict[str, Any]:
        """Return the form's values as arguments for the services."""
        field_names = ("label", "description", "permissions", "requires_second_factor")
        return {**{name: self.cleaned_data[name] for name in field_names}, "scope": self.scope}

    def offer_own(self, actor: Actor) -> None:
        """Offer only permissions that the actor can give."""
        own = assignable_permissions().difference(
            missing_permissions(actor, assignable_permissions())
        )
        field = self.fields["permissions"]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101  # declared above
        field.choices = role_permission_choices(own)


class RemoveRoleForm(forms.Form):
    move_to = forms.ChoiceField(label=gettext_lazy("New role of these people"), required=False)

    def __init__(self, *args: Any, role: SiteRole, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["move_to"]
        assert isinstance(field, forms.ChoiceField)  # noqa: S101  # declared above
        others = [choice for choice in people_role_choices() if choice[0] != role.name]
        field.choices = [("", _("Choose a role")), *others]


class WhyForm(forms.Form):
    """A form that asks about access: a person, an action, and optionally a post."""

    person = forms.ModelChoiceField(
        label=gettext_lazy("Person"),
        queryset=User.objects.filter(agent_id="").order_by("username"),
        empty_label=gettext_lazy("Choose a person"),
    )
    permission = forms.ChoiceField(
        label=gettext_lazy("Action"),
        choices=permission_choices,
    )
    post = forms.CharField(
        label=gettext_lazy("Post (optional)"),
        required=False,
        widget=forms.Select(attrs={"data-reference": "post-reference"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = parse_uuid(self.data.get("post", ""))
        self.thing = find_post(chosen) if chosen is not None else None
        field = self.fields["post"]
        known = [(str(chosen), str(self.thing))] if self.thing is not None else []
        field.widget.choices = [("", ""), *known]

    def answer(self, reader: Scoped) -> AccessAnswer | None:
        """Return the answer for `reader`, or None if the form is invalid."""
        if not self.is_valid():
            return None
        person, permission = self.cleaned_data["person"], self.cleaned_data["permission"]
        return explain_access(person=person, permission=permission, reader=reader, thing=self.thing)


@admin.register(SiteRole)
class SiteRoleAdmin(FormAdmin[SiteRole]):
    view_permission = add_permission = "users.manage"
    list_title = gettext_lazy("Roles")
    add_title = gettext_lazy("New role")
    add_button = gettext_lazy("Create role")
    add_form = RoleForm
    add_template = "admin/proofroom_accounts/new_role.html"
    list_display = ("called", "kind", "second_factor", "people")
    search_fields = ("label", "name")

    def get_queryset(self, request: HttpRequest) -> QuerySet[SiteRole]:
        # A subquery, because accounts have the name of their role and no foreign key.
        users = User.objects.filter(role=OuterRef("name")).order_by().values("role")
        number = Subquery(users.annotate(n=Count("pk")).values("n"), output_field=IntegerField())
        return super().get_queryset(request).annotate(users=Coalesce(number, 0))

    @admin.display(description=gettext_lazy("Role"), ordering="label")
    def called(self, role: SiteRole) -> SafeString:
        return format_html(
            '{}<span class="row-path">{}</span>', str(role), role.description or role.name
        )

    @admin.display(description=gettext_lazy("Kind"), ordering="is_built_in")
    def kind(self, role: SiteRole) -> str:
        return _("Built in") if role.is_built_in else _("Created here")

    @admin.display(description=gettext_lazy("Must use two-factor authentication"))
    def second_factor(self, role: SiteRole) -> str:
        return _("Yes") if role.must_use_second_factor else _("No")

    @admin.display(description=gettext_lazy("Accounts"))
    def people(self, role: SiteRole) -> SafeString:
        address = reverse("admin:proofroom_accounts_user_changelist")
        number: int = role.users  # type: ignore[attr-defined]  # annotated by `get_queryset`
        return format_html('<a href="{}?role={}">{}</a>', address, role.name, number)

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view(self.access_view)
        return [
            path("access/", page, name="proofroom_accounts_siterole_access"),
            *super().get_urls(),
        ]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show and save the form for a new role.

        `?from=` names the role whose permissions it starts with, empty for none; `?copy=` copies the name too.
        """
        require(request, self.add_permission)
        actor, scope = actor_of(request), ContentScope()
        initial: dict[str, Any] = {}
        start = request.GET.get("copy") or request.GET.get("from", Role.EDITOR)
        if start:
            copied = _find_role(start)
            scope = copied.scope
            own = copied.granted.difference(missing_permissions(actor, copied.granted))
            initial = {
                "permissions": [*own],
                "requires_second_factor": copied.must_use_second_factor,
            }
            if request.GET.get("copy"):
                initial["label"] = _("Copy of %(role)s") % {"role": copied}
        data = request.POST if request.method == "POST" else None
        form = RoleForm(data, initial=initial, scope=scope, who=actor)
        form.offer_own(actor)
        left_out: list[str] = []

        def create() -> SiteRole:
            values = form.values()
            if values["scope"].is_limited:
                # They came with the role to start from: nobody chose them for a part of the content.
                brought = WHOLE_SITE.intersection(initial.get("permissions", ()))
                left_out[:] = [one for one in values["permissions"] if one in brought]
                values["permissions"] = [one for one in values["permissions"] if one not in brought]
            return create_role(**values, actor=actor)

        if save_form(form, create):
            messages.success(
                request, _("Created the role %(role)s.") % {"role": form.cleaned_data["label"]}
            )
            if left_out:
                names = ", ".join(str(label_of(one)) for one in left_out)
                sentence = _("Left out, because they apply to the whole site: %(names)s.")
                messages.info(request, sentence % {"names": names})
            return HttpResponseRedirect(reverse(LIST_URL))
        context = {"button": self.add_button, "starts": people_role_choices(), "start": start}
        return form_page(
            request, self.add_template, SiteRole, context, title=self.add_title, form=form
        )

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        require(request, self.view_permission)
        role, actor = _find_role(unquote(object_id)), actor_of(request)
        people, invited = role_users(role.name)
        # A role with more rights than the actor's is read-only: editing it would let them take part of it away.
        may_change = not role.is_built_in and not missing_permissions(actor, role.promised)
        context: dict[str, Any] = {
            "role": role,
            "groups": permission_choices(role.granted),
            "limits": describe_scope(role.scope, actor),
            "people": people[:MAX_PEOPLE_SHOWN],
            "more_people": max(len(people) - MAX_PEOPLE_SHOWN, 0),
            "invited": invited,
            "is_agent": role.name not in dict(people_role_choices()),
            "may_change": may_change,
        }
        if not may_change:
            return self._page(request, context, None)
        operation = request.POST.get("do") if request.method == "POST" else ""
        form = RoleForm(
            request.POST if operation == "change" else None,
            initial={
                "label": role.label,
                "description": role.description,
                "permissions": [*role.granted],
                "requires_second_factor": role.must_use_second_factor,
            },
            scope=role.scope,
            who=actor,
        )
        form.offer_own(actor)
        remove_form = RemoveRoleForm(request.POST if operation == "remove" else None, role=role)
        if save_form(form, lambda: change_role(name=role.name, **form.values(), actor=actor)):
            messages.success(
                request, _("Saved the role %(role)s.") % {"role": form.cleaned_data["label"]}
            )
            return HttpResponseRedirect(request.path)
        if save_form(
            remove_form,
            lambda: remove_role(name=role.name, actor=actor, **remove_form.cleaned_data),
        ):
            messages.success(request, _("Deleted the role %(role)s.") % {"role": role})
            return HttpResponseRedirect(reverse(LIST_URL))
        page = self._page(request, {**context, "remove_form": remove_form}, form)
        if remove_form.errors:
            page.status_code = 422
        return page

    def has_change_permission(self, request: HttpRequest, obj: SiteRole | None = None) -> bool:
        return may(request, self.view_permission)

    def _page(
        self, request: HttpRequest, context: dict[str, Any], form: forms.Form | None
    ) -> HttpResponse:
        template = "admin/proofroom_accounts/role.html"
        title = str(context["role"])
        return form_page(request, template, SiteRole, context, title=title, form=form)

    @staticmethod
    @service_errors_as_http
    def access_view(request: HttpRequest) -> HttpResponse:
        """Show which roles have which permissions, and answer why a person may or may not do something."""
        require(request, "users.manage")
        is_asked = "person" in request.GET or "permission" in request.GET
        form, actor = WhyForm(request.GET if is_asked else None), actor_of(request)
        context = {
            "matrix": compare_roles(actor),
            "answer": form.answer(actor) if is_asked else None,
        }
        template = "admin/proofroom_accounts/access.html"
        return form_page(
            request, template, SiteRole, context, title=_("Who can do what"), form=form
        )


def _find_role(name: str) -> SiteRole:
    try:
        return find_role(name)
    except NotFound:
        raise Http404(_("Role not found.")) from None
