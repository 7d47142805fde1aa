"""Describes views in the OpenAPI document, as far as possible from the views' own declarations."""

from __future__ import annotations

from typing import Any, Final

from drf_spectacular.openapi import AutoSchema

from proofroom.core.api.permissions import PUBLIC, SECRET, SIGNED_IN, declared_access
from proofroom.core.api.query import answers_list
from proofroom.core.api.schema import RATE_HEADERS, headers, refusals

_NOT_MODIFIED: Final = "What If-None-Match names is still current."


class DescribedSchema(AutoSchema):
    """Reads permissions, conditional actions and ids in the URL from the view."""

    def get_operation_id(self) -> str:
        """Return an id like `posts_list` or `posts_review_approve`: the path, then the action unless the path ends
        with it.
        """
        words = [word.replace("-", "_") for word in self._tokenize_path()]
        action = getattr(self.view, "action", None) or self.method.lower()
        while len(words) > 1 and words[-1] in action:
            words.pop()
        return "_".join([*words, action])

    def get_tags(self) -> list[str]:
        words = self._tokenize_path()
        return ["posts" if words[0] == "post-modules" else words[0]]

    def get_summary(self) -> str:
        """Return the given summary, otherwise the first sentence of the description."""
        text = str(super().get_summary() or AutoSchema.get_description(self) or "")
        return text.splitlines()[0].partition(". ")[0].rstrip(".") if text else ""

    def get_description(self) -> str:  # type: ignore[override]  # as in AutoSchema
        text = str(super().get_description() or "")
        wanted = self._declared
        if wanted in (PUBLIC, SECRET, SIGNED_IN):
            return text
        names = (wanted,) if isinstance(wanted, str) else wanted
        return f"{text}\n\nNeeds {' or '.join(f'`{name}`' for name in names)}."

    def get_auth(self) -> list[dict[str, Any]]:
        if self._declared == PUBLIC:
            return []
        if self._declared == SECRET:
            return [{"secret": []}, {"secretBearer": []}]
        return list(super().get_auth())

    def _is_list_view(self, serializer: Any = None) -> bool:
        """Return False: lists declare their envelope `{data, meta}` themselves."""
        return False

    def _get_response_bodies(self, direction: Any = "response") -> Any:
        found = self.get_response_serializers()
        if self.method != "DELETE" or isinstance(found, dict):
            return super()._get_response_bodies(direction)
        # A deletion answers 200 with a small body. The library would describe 204 without one.
        body = self._get_response_for_code(found, "200", direction=direction)  # type: ignore[no-untyped-call]  # untyped library
        return {"200": body}

    def _resolve_path_parameters(self, variables: list[str]) -> list[dict[str, Any]]:
        shapes: dict[str, Any] = getattr(self.view, "path_schemas", {})
        return [self._path_parameter(name, shapes.get(name)) for name in variables]

    def _path_parameter(self, name: str, schema: dict[str, Any] | None) -> dict[str, Any]:
        thing = name.removesuffix("_id").replace("_", " ")
        is_id = name.endswith("_id")
        default = {"type": "string", "format": "uuid"} if is_id else {"type": "string"}
        return {
            "in": "path",
            "name": name,
            "schema": schema or default,
            "description": f"Id of the {thing}." if is_id else f"{thing.capitalize()}.",
            "required": True,
        }

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        # A public operation says so: without `security`, clients and linters take it for forgotten.
        operation.setdefault("security", [])
        responses = operation["responses"]
        for status, response in responses.items():
            if status.startswith("2"):
                self._add_headers(response)
        if self._is_conditional:
            responses["304"] = {"description": _NOT_MODIFIED, "headers": headers("ETag")}
        operation["responses"] = {**responses, **refusals(*self._refusals(operation))}
        return operation

    def _add_headers(self, response: dict[str, Any]) -> None:
        names = ("ETag", *RATE_HEADERS) if self._is_conditional else RATE_HEADERS
        response["headers"] = {**headers(*names), **response.get("headers", {})}
        response["description"] = response["description"] or "Done."

    def _refusals(self, operation: dict[str, Any]) -> list[str]:
        """Return the error statuses that this operation can answer."""
        found = []
        has_body = "requestBody" in operation
        is_write = self.method != "GET"
        if has_body:
            found += ["400", "413", "415"]
        # Login is public, but answers 401 for wrong credentials.
        if self._declared != PUBLIC or self.path.endswith("/login"):
            found.append("401")
        if self._declared != PUBLIC:
            found.append("403")
        if "{" in self.path or self.path.endswith("/resolve"):
            found.append("404")
        if is_write and self._declared != PUBLIC:
            found.append("409")
        if is_write or operation.get("parameters") or answers_list(self):
            found.append("422")
        return sorted([*found, "429"])

    @property
    def _declared(self) -> Any:
        action = getattr(self.view, "action", None)
        if not hasattr(self.view, "permissions"):
            return PUBLIC
        return declared_access(self.view, action)

    @property
    def _is_conditional(self) -> bool:
        if self.method != "GET":
            return False
        action = getattr(self.view, "action", None)
        is_public = str(getattr(self.view, "cache_control", "")).startswith("public")
        return is_public or action in getattr(self.view, "conditional", ())

    def _get_serializer_name(
        self, serializer: Any, direction: Any, bypass_extensions: bool = False
    ) -> str:
        name = str(super()._get_serializer_name(serializer, direction, bypass_extensions))
        return name.removesuffix("Schema")
