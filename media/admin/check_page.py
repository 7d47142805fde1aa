"""The admin page that compares files and storage. A worker does it, since it takes as long as there are files."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from core.admin.forms import form_page
from core.admin.rights import actor_of, require
from media.integrity import request_check
from media.models import Asset, FileCheck


def check_page(request: HttpRequest) -> HttpResponse:
    """GET shows the last checks, POST asks for another."""
    require(request, "media.edit")
    if request.method == "POST":
        request_check(actor=actor_of(request))
        messages.success(request, "The files are being checked.")
        return HttpResponseRedirect(request.path)
    newest = FileCheck.objects.first()
    finished = FileCheck.objects.filter(finished_at__isnull=False).first()
    context = {
        "is_waiting": newest is not None and newest.finished_at is None,
        "check": finished,
        "is_whole": finished is not None
        and not (finished.missing_count or finished.orphaned_count),
    }
    return form_page(request, "admin/media/check.html", Asset, context, title="Check files")
