"""Pages of background runs that a user started: progress, result and actions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, TypeVar, cast

from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from proofroom.core.admin.form_pages import FormAdmin, form_page
from proofroom.core.admin.permissions import may, require, service_errors_as_messages
from proofroom.core.database.id_filters import find_by_id

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise

R = TypeVar("R", bound=Model)
STATES: Final[Mapping[str, tuple[str, Promise]]] = {
    "running": ("running", gettext_lazy("Running")),
    "done": ("succeeded", gettext_lazy("Finished")),
    "cancelled": ("cancelled", gettext_lazy("Cancelled")),
    "failed": ("failed", gettext_lazy("Failed")),
}
"""Badge style and label of each state."""


class Run(Protocol):
    """The attributes of a run that its page needs. `state` is a key of `STATES`."""

    state: str
    by_id: int | None

    @property
    def is_running(self) -> bool: ...


class RunAdmin(FormAdmin[R]):
    """A list of runs with a form to start one, and a page for each run.

    A run may be cancelled by the user who started it and by users with `database.manage`. GET shows `run_context`,
    POST calls `act` with the button's action.
    """

    run_template: ClassVar[str]
    not_found: ClassVar[str | StrPromise]
    states: ClassVar[Mapping[str, tuple[str, Promise]]] = STATES

    def act(self, request: HttpRequest, run: R, action: str) -> R:
        """Do the action of a button and return the run to show next. May raise `CmsError`."""
        raise NotImplementedError

    def run_context(self, request: HttpRequest, run: R, *, is_own: bool) -> dict[str, Any]:
        """Return further context for the template."""
        raise NotImplementedError

    def run_title(self, run: R) -> str:
        return str(run)

    def find_run(self, request: HttpRequest, object_id: str) -> R:
        """Return the run with this id. Raises `Http404`."""
        run = find_by_id(self.get_queryset(request), object_id)
        if run is None:
            raise Http404(self.not_found)
        return run

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show the progress and the result on GET, act on POST."""
        require(request, self.view_permission)
        run = self.find_run(request, object_id)
        if request.method == "POST":
            with service_errors_as_messages(request):
                run = self.act(request, run, request.POST.get("action", ""))
            page = f"admin:{self.opts.app_label}_{self.opts.model_name}_change"
            return HttpResponseRedirect(reverse(page, args=[run.pk]))
        state = cast(Run, run)
        is_own = state.by_id == request.user.pk or may(request, "database.manage")
        badge, label = self.states[state.state]
        context = {
            "run": run,
            "badge": badge,
            "state": label,
            "may_cancel": is_own and state.is_running,
            **self.run_context(request, run, is_own=is_own),
        }
        title = self.run_title(run)
        return form_page(request, self.run_template, self.model, context, title=title)
