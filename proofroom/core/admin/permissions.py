"""Permission checks of admin pages, and service errors as messages."""

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
    """Return whether the user has the permission and, if a thing is given, whether it covers the thing."""
    return bool(request.user.has_perm(permission, thing))


def require(request: HttpRequest, *permissions: str) -> None:
    """Raise `PermissionDenied` unless the user has one of the permissions."""
    if not any(may(request, permission) for permission in permissions):
        raise PermissionDenied


def actor_of(request: HttpRequest) -> Actor:
    """Return the logged-in user as an actor in the admin."""
    user: ActorUser = request.user  # type: ignore[assignment]  # the admin requires a login
    return Actor(user=user, via="admin")


def service_errors_as_http(view: View) -> View:
    """Turn `NotFound` and `NotAllowed` of services into 404 and 403."""

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
def service_errors_as_messages(request: HttpRequest) -> Iterator[None]:
    """Show a service's error as a message instead of failing the request."""
    try:
        yield
    except CmsError as error:
        messages.error(request, error.message)


if TYPE_CHECKING:
    _ModelAdmin = admin.ModelAdmin
else:
    # Django's class is not subscriptable at runtime.
    class _ModelAdmin(admin.ModelAdmin):
        def __class_getitem__(cls, _):
            return cls


class PermittedAdmin(_ModelAdmin[M]):
    """An admin class that checks this project's permissions instead of Django's model permissions.

    `view_permission` is required to open it. Nothing can be added, changed or deleted here, because writes go through
    services.
    """

    view_permission: ClassVar[str]
    empty_words: ClassVar[object] = ""
    """Text of an empty list about its objects."""
    actions = None

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list without `_to_field`: Django's popups, which use it, are not supported here."""
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
