"""Permissions of admin pages: rights from the registry of permissions, services' refusals as messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from django.contrib import admin, messages
from django.contrib.admin.options import TO_FIELD_VAR
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase

from proofroom.core.actor import Actor, ActorUser
from proofroom.core.errors import CmsError, NotAllowed, NotFound

M = TypeVar("M", bound=Model)
View = Callable[..., HttpResponseBase]


def may(request: HttpRequest, permission: str, thing: Model | None = None) -> bool:
    """The one question about rights, for whoever is logged in; with a thing, whether they hold for it, too."""
    return bool(request.user.has_perm(permission, thing))


def require(request: HttpRequest, *permissions: str) -> None:
    """Raise `PermissionDenied` unless the user has one of the permissions."""
    if not any(may(request, permission) for permission in permissions):
        raise PermissionDenied


def actor_of(request: HttpRequest) -> Actor:
    """Whoever is logged in, acting through the admin."""
    user: ActorUser = request.user  # type: ignore[assignment]  # the admin lets nobody in who is no User
    return Actor(user=user, via="admin")


def answers_refusals(view: View) -> View:
    """A view whose services' `NotFound` and `NotAllowed` become the pages for 404 and 403."""

    @wraps(view)
    def answering(*args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(*args, **kwargs)
        except NotFound as error:
            raise Http404(error.message) from None
        except NotAllowed as error:
            raise PermissionDenied(error.message) from None

    return answering


@contextmanager
def refusals_as_messages(request: HttpRequest) -> Iterator[None]:
    """Show a service's refusal as a message instead of letting it end the request."""
    try:
        yield
    except CmsError as error:
        messages.error(request, error.message)


if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin
else:
    # Django's class takes no type argument when it runs.
    class _ModelAdmin(admin.ModelAdmin):
        def __class_getitem__(cls, _):
            return cls


class PermittedAdmin(_ModelAdmin[M]):
    """An admin class that asks the registry of permissions, never Django's own.

    `view_permission` opens it; nothing can be added, changed or deleted here, since writes go through services.
    """

    view_permission: ClassVar[str]
    empty_words: ClassVar[object] = ""
    """What an empty list says about the things that would stand in it."""
    actions = None

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list. `_to_field`, by which Django answers other windows, leads nowhere here."""
        if TO_FIELD_VAR in request.GET:
            query = request.GET.copy()
            del query[TO_FIELD_VAR]
            return HttpResponseRedirect(f"{request.path}?{query.urlencode()}".removesuffix("?"))
        answer: HttpResponse = super().changelist_view(request, extra_context)
        return answer

    def has_module_permission(self, request: HttpRequest) -> bool:
        return may(request, self.view_permission)

    def has_view_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return may(request, self.view_permission)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: M | None = None) -> bool:
        return False

    def get_model_perms(self, request: HttpRequest) -> dict[str, bool]:
        return {
            "add": self.has_add_permission(request),
            "change": self.has_change_permission(request),
            "delete": self.has_delete_permission(request),
            "view": self.has_view_permission(request),
        }
