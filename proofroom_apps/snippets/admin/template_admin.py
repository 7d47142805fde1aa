"""Post templates: a list, a page to save one from a post, and a page with its outline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.store.post_queries import require_post
from proofroom.core.admin.edit_pages import EditAdmin
from proofroom.core.admin.labels import LanguageFilter
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.errors import NotFound
from proofroom.core.i18n import in_words
from proofroom.core.post_type_names import post_type_labels
from proofroom.core.validation.form_fields import InputForm
from proofroom_apps.snippets.admin.snippet_admin import outline_of
from proofroom_apps.snippets.models import NAME_MAX, PostTemplate
from proofroom_apps.snippets.services import MANAGE
from proofroom_apps.snippets.snippet_fields import NewPostTemplate
from proofroom_apps.snippets.templates import create_template, delete_template


class NewTemplateForm(InputForm):
    input_class = NewPostTemplate
    asked_fields = ("name", "description")
    post = forms.UUIDField(widget=forms.HiddenInput)


@admin.register(PostTemplate)
class PostTemplateAdmin(EditAdmin[PostTemplate]):
    view_permission = add_permission = MANAGE
    empty_words = gettext_lazy(
        "Templates are posts to start from. Open a post that has the right modules and choose “Save as template” in "
        "its menu."
    )
    list_title = gettext_lazy("Post templates")
    add_title = gettext_lazy("Save as template")
    add_button = gettext_lazy("Save template")
    add_form = NewTemplateForm
    change_form = forms.Form
    add_template = "admin/snippets/new_template.html"
    change_template = "admin/snippets/template.html"
    delete_sentence = gettext_lazy(
        "This permanently deletes the template. Posts that were started from it stay."
    )
    list_display = ("name", "type_label", "module_count", "description", "updated_at")
    list_filter = (("locale", LanguageFilter),)
    search_fields = ("name", "description")
    ordering = ("name",)

    @admin.display(description=gettext_lazy("Type"), ordering="type")
    def type_label(self, template: PostTemplate) -> str:
        return in_words(post_type_labels().get(template.type, template.type))

    @admin.display(description=gettext_lazy("Modules"))
    def module_count(self, template: PostTemplate) -> int:
        return len(template.modules)

    def has_add_permission(self, request: HttpRequest) -> bool:
        # The list has no button to add one: a template is made from a post.
        return False

    def has_change_permission(self, request: HttpRequest, obj: PostTemplate | None = None) -> bool:
        return may(request, MANAGE)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        # A template is made from a post, so without one there is nothing to save.
        if request.method == "GET" and "post" not in request.GET:
            messages.info(request, str(self.empty_words))
            return HttpResponseRedirect(reverse("admin:proofroom_snippets_posttemplate_changelist"))
        return super().add_view(request, form_url, extra_context)

    def new_form(self, request: HttpRequest, *args: Any, **kwargs: Any) -> forms.Form:
        form = super().new_form(request, *args, **kwargs)
        if not form.is_bound:
            try:
                post = require_post(request.GET["post"], actor_of(request))
            except NotFound as error:
                raise Http404(error.message) from None
            form.initial["name"] = post.title[:NAME_MAX]
        return form

    def add(self, request: HttpRequest, form: forms.Form) -> HttpResponse:
        values = cast(NewTemplateForm, form).cleaned_data
        template = create_template(
            actor=actor_of(request),
            post_id=values["post"],
            name=values["name"],
            description=values["description"],
        )
        messages.success(request, _("Template “%(name)s” saved.") % {"name": template.name})
        return HttpResponseRedirect(
            reverse("admin:proofroom_snippets_posttemplate_change", args=[template.pk])
        )

    def initial(self, row: PostTemplate) -> Mapping[str, object]:
        return {}

    def shown(self, request: HttpRequest, row: PostTemplate, form: forms.Form) -> dict[str, Any]:
        new = f"{reverse('admin:content_post_add')}?template={row.pk}"
        return {"outline": outline_of(row.modules), "type": self.type_label(row), "new_url": new}

    def change(self, request: HttpRequest, row: PostTemplate, form: forms.Form) -> str | None:
        return None

    def remove(self, request: HttpRequest, row: PostTemplate, form: forms.Form) -> None:
        delete_template(template_id=row.pk, actor=actor_of(request))
