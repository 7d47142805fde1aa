"""`/api/schema/delivery`: the delivery operations with the types of the site's own definitions.

Starts from the OpenAPI document of the whole API and replaces what differs between sites: modules, posts with their
custom fields, locales, names of types, and rich text. It describes whole answers; `fields` narrows them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.renderers import OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from content.api.delivery.posts import DeliveredPostAnswer
from content.api.post_answers import ListedLivePostAnswer
from content.presenters.posts import DeliveredModuleAnswer
from proofroom.accounts.delivery_credentials import DeliveryAuthentication, DeliveryThrottle
from proofroom.core.api.answer import described
from proofroom.core.api.body import dumps
from proofroom.core.api.schema import JSON_TYPE, operations
from proofroom.core.api.schema_examples import add_examples, remove_examples
from proofroom.core.api.schema_views import DescriptionView, document
from proofroom.definitions import Module, ModuleProps, modules, post_types, taxonomies
from proofroom.definitions.props import json_schema, props_of
from proofroom.definitions.richtext.json_schema import DOCUMENT, rich_text_schemas

Schema = dict[str, Any]
_DESCRIPTION: Final = """\
The **delivery API** gives published content to frontends: servers, static builds, apps and pages with a script. It
needs no account and no key. The only writes are submitting a form and counting a visit. `POST /api/public/resolve`
reads many paths at once.

**Lists** answer `{data, meta}`. `per_page` is 20 by default, and at most 100. To read a whole list of posts, begin
with an empty `after`, and repeat the request with `meta.next` until it is null. Other lists have numbered pages:
`page` begins at 1.

**Fields**: this description shows all fields of an answer. With `fields`, an answer has only the ones you name.

**Errors** answer `{error, code, details}`: a sentence for people, a code for programs, and sentences by the name of
the parameter or field. An unknown parameter is 422. Content that is not published is 404.

**Caches**: answers have `ETag`, `Cache-Control` and `Cache-Tag`. Send `If-None-Match` to get 304 while nothing has
changed. `GET /api/public/changes` and the webhook event `content.changed` name the tags that changed.

**Rates**: answers that count have `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`. Above the
limit, the answer is 429 with `Retry-After`. Cached answers and 304 do not count. A delivery token, sent as
`Authorization: Bearer cmsd_…`, has its own rate.
"""
_REF: Final = "#/components/schemas/"
_PREFIX: Final = "/api/public/"
_OTHERS: Final = (
    "/api/menus/by-slug/",
    "/api/forms-definitions/{slug}",
    "/api/forms/{slug}/submit",
)
"""Public operations of frontends at addresses that the specification chose."""
_NOT_DELIVERY: Final = "/api/public/agents/"
_LIST: Final = re.compile(r"\^\(([\w.|]+)\)\(,\(\1\)\)\*\$")
"""The pattern of a parameter that takes names with commas between them."""
_LOCALES: Final = ("locale", "fallback")
_LOCALE_PROPERTIES: Final = {
    "locale": (),
    "DeliveredTerm.locale": ("",),
    "DeliveredRedirect.locale": ("",),
    "HeadAlternate.locale": ("x-default",),
    "SiteLocale.code": (),
}
"""Properties that are a language of the site, or one of these values. A name without a schema: of all others."""
_NO_LOCALE: Final = "OpenGraph"
"""Its `locale` is in the form of Open Graph, like en_GB."""
_TYPE_PROPERTIES: Final = ("ResolvedList.postType", "SiteType.type", "TypeFacet.value")
_ONLY_INPUT: Final = frozenset(
    ("field", "translatable", "filterable", "accepts", "default", "title", "postType", "taxonomy", "maxLength",
     "minLength", "maxItems", "minItems", "minimum", "maximum", "additionalProperties")
)  # fmt: skip
"""Keys of a field's schema that only its editors need."""


@cache
def delivery_document() -> Schema:
    """Return the OpenAPI document of the delivery API. It is the same for all callers and cached for the process."""
    whole = document()
    made: Schema = deepcopy({**whole, "paths": _delivery_paths(whole)})
    title = f"{made['info']['title']}: delivery"
    made["info"] = {**made["info"], "title": title, "description": _DESCRIPTION}
    _describe_site(made)
    for _path, _method, operation in operations(made):
        for parameter in operation.get("parameters", ()):
            _describe_parameter(parameter)
    remove_examples(made)
    add_examples(made)
    _keep_used_components(made)
    used = {tag for _, _, operation in operations(made) for tag in operation["tags"]}
    made["tags"] = [tag for tag in made.get("tags", ()) if tag["name"] in used]
    return made


def _delivery_paths(whole: Schema) -> Schema:
    found: Schema = {}
    for path, method, operation in operations(whole):
        is_public = not operation.get("security")
        is_delivery = path.startswith(_PREFIX) and not path.startswith(_NOT_DELIVERY)
        if is_public and (is_delivery or path.startswith(_OTHERS)):
            found.setdefault(path, {})[method] = operation
    return found


def _describe_site(made: Schema) -> None:
    """Replace posts and modules by the types of the site, and add the schemas of rich text."""
    schemas = made["components"]["schemas"]
    posts, listed = _names_of_posts(made)
    renamed = {"DeliveredModule": "Module", listed: "ListedPost"}
    renamed |= dict.fromkeys((posts, "DeliveredPost"), "Post")
    whole_post, listed_post = deepcopy(schemas[posts]), deepcopy(schemas[listed])
    included_post = schemas.pop("IncludedPost")
    module = deepcopy(schemas["DeliveredModule"])
    for name in renamed:
        schemas.pop(name, None)
    schemas |= rich_text_schemas()
    schemas |= _modules(module)
    whole, listed_ones = _required(DeliveredPostAnswer), _required(ListedLivePostAnswer)
    schemas |= _posts(whole_post, whole, "Post", "A published post, by its type.")
    schemas |= _posts(
        listed_post, listed_ones, "ListedPost", "A published post in a list, by its type."
    )
    schemas |= _posts(
        included_post,
        included_post["required"],
        "IncludedPost",
        "An included post, by its type.",
    )
    _rename(made, {f"{_REF}{old}": f"{_REF}{new}" for old, new in renamed.items()})
    if "DeliveredGlobal" in schemas:
        schemas |= _globals(schemas.pop("DeliveredGlobal"))
        _rename(made, {f"{_REF}DeliveredGlobal": f"{_REF}Global"})
    _describe_resolved(schemas)
    _describe_names(schemas)
    _add_discriminators(schemas)


def _describe_names(schemas: dict[str, Schema]) -> None:
    """Give the properties that name a language or a post type the names of this site."""
    for name, shape in schemas.items():
        properties = shape.get("properties", {})
        for key, value in properties.items():
            if f"{name}.{key}" in _TYPE_PROPERTIES:
                properties[key] = {**value, "enum": list(post_types.names())}
            others = _LOCALE_PROPERTIES.get(f"{name}.{key}", _LOCALE_PROPERTIES.get(key))
            if others is not None and name != _NO_LOCALE and value.get("type") == "string":
                properties[key] = {**value, "enum": [*settings.CMS_ENV.locales, *others]}


def _required(shape: Any) -> list[str]:
    """Return the names of the members that an answer always has."""
    # The class itself cannot tell: its annotations are texts.
    described_shape = described(shape).adapter.json_schema(mode="serialization")
    return list(described_shape["required"])


def _names_of_posts(made: Schema) -> tuple[str, str]:
    """Return the names of the schemas of a post and of a post in lists."""

    def answer(path: str) -> Schema:
        shape = made["paths"][path]["get"]["responses"]["200"]["content"][JSON_TYPE]["schema"]
        return _resolved(shape, made["components"]["schemas"])

    one = made["paths"][f"{_PREFIX}posts/{{post_id}}"]["get"]["responses"]["200"]
    reference = one["content"][JSON_TYPE]["schema"]["$ref"]
    items = answer(f"{_PREFIX}posts")["properties"]["data"]["items"]
    return reference.removeprefix(_REF), items["$ref"].removeprefix(_REF)


def _resolved(shape: Schema, schemas: Mapping[str, Schema]) -> Schema:
    while "$ref" in shape:
        shape = schemas[shape["$ref"].removeprefix(_REF)]
    return shape


def _modules(base: Schema) -> dict[str, Schema]:
    """Return the schemas of the modules by name, their props, and `Module`, which is one of them."""
    found: dict[str, Schema] = {}
    names: dict[str, str] = {}
    for definition in modules:
        name = f"{_pascal(definition.name)}Module"
        names[definition.name] = name
        found[f"{name}Props"] = _props_of_module(definition)
        shape = deepcopy(base)
        shape["description"] = definition.description
        shape["properties"] |= {
            "type": {"const": definition.name},
            "scope": {"type": "string", "enum": list(definition.allowed_scopes)},
            "props": {"$ref": f"{_REF}{name}Props"},
            "overrides": _overrides(definition),
        }
        shape["required"] = _required(DeliveredModuleAnswer)
        found[name] = shape
    found["Module"] = _one_of(names, "A module, by its type. Apply `overrides` on top of `props`.")
    return found


def _globals(base: Schema) -> dict[str, Schema]:
    """Return the schemas of global modules that are read alone, by name, and the one of all of them."""
    found: dict[str, Schema] = {}
    names: dict[str, str] = {}
    for definition in modules:
        if "global" not in definition.allowed_scopes:
            continue
        names[definition.name] = name = f"{_pascal(definition.name)}Global"
        shape = deepcopy(base)
        shape["description"] = definition.description
        shape["properties"] |= {
            "type": {"const": definition.name},
            "props": {"$ref": f"{_REF}{_pascal(definition.name)}ModuleProps"},
        }
        found[name] = shape
    found["Global"] = _one_of(names, str(base.get("description", "")))
    return found


def _props_of_module(definition: type[Module]) -> Schema:
    return {**_output(definition.Props), "description": f"The props of {definition.name}."}


def _overrides(definition: type[Module]) -> Schema:
    if "global" not in definition.allowed_scopes:
        return {"type": "null"}
    partial = {key: value for key, value in _output(definition.Props).items() if key != "required"}
    return {**partial, "type": ["object", "null"]}


def _posts(
    base: Schema, required: Collection[str], suffix: str, description: str
) -> dict[str, Schema]:
    """Return the schemas of the posts by name, and the one of all of them."""
    found: dict[str, Schema] = {}
    names: dict[str, str] = {}
    for definition in post_types:
        name = f"{_pascal(definition.name)}{suffix}"
        names[definition.name] = name
        shape = deepcopy(base)
        shape["description"] = definition.description
        properties = shape["properties"]
        properties["type"] = {"const": definition.name}
        properties["locale"] = _locale()
        if "customFields" in properties:
            fields = f"{_pascal(definition.name)}Fields"
            found[fields] = {
                **_output(definition.CustomFields),
                "description": f"The custom fields of {definition.name}.",
            }
            properties["customFields"] = {"$ref": _REF + fields}
        shape["required"] = [key for key in properties if key in required]
        found[name] = shape
    found[suffix] = _one_of(names, description)
    return found


def _output(props: type[ModuleProps]) -> Schema:
    """Return the schema of props as answered: every field is there, and rich text is a document."""
    return _as_answered(json_schema(props), bool(props_of(props)))


def _as_answered(node: Schema, has_fields: bool = True) -> Schema:
    if node.get("field") == "richtext":
        return {"$ref": _REF + DOCUMENT}
    made = {key: value for key, value in node.items() if key not in _ONLY_INPUT}
    if "properties" in made:
        made["properties"] = {name: _as_answered(one) for name, one in made["properties"].items()}
        if has_fields:
            made["required"] = list(made["properties"])
    if "items" in made:
        made["items"] = _as_answered(made["items"])
    return made


def _describe_resolved(schemas: dict[str, Schema]) -> None:
    """Make what a path leads to one of its kinds, by `type`."""
    base = schemas["Resolved"]
    kinds = base["properties"].pop("type")
    values = _resolved(kinds, schemas).get("enum", ["post", "redirect"])
    always = [name for name in base.get("required", ()) if name != "type"]
    names: dict[str, str] = {}
    own = {value: value for value in values if value in base["properties"]}
    shared = {name: shape for name, shape in base["properties"].items() if name not in own.values()}
    for value in values:
        name = f"Resolved{_pascal(value)}"
        names[value] = name
        if name in schemas:
            continue
        # `post` and `redirect` stand below the key of that name; a list is described by all other keys.
        inner = (
            {own[value]: base["properties"][own[value]]}
            if value in own
            else (shared if value == "list" else {})
        )
        properties = {"type": {"const": value}, **inner}
        required = ["type", *(key for key in inner if value in own or key in always)]
        schemas[name] = {"type": "object", "required": required, "properties": properties}
    schemas["Resolved"] = _one_of(names, base.get("description", ""))


def _add_discriminators(schemas: dict[str, Schema]) -> None:
    """Turn each choice of schemas that differ in a fixed `type` into one with a discriminator."""
    for node in _objects(schemas):
        choices = node.get("anyOf", ())
        names: dict[str, str] = {}
        for choice in choices:
            if "$ref" not in choice:
                break
            kind = _resolved(choice, schemas).get("properties", {}).get("type", {})
            kind = _resolved(kind, schemas)
            values = [kind["const"]] if "const" in kind else kind.get("enum", ())
            if len(values) != 1:
                break
            names[values[0]] = choice["$ref"].removeprefix(_REF)
        if len(choices) > 1 and len(names) == len(choices):
            del node["anyOf"]
            node |= {key: value for key, value in _one_of(names, "").items() if value}


def _one_of(names: Mapping[str, str], description: str) -> Schema:
    refs = {value: _REF + name for value, name in names.items()}
    return {
        "description": description,
        "oneOf": [{"$ref": ref} for ref in refs.values()],
        "discriminator": {"propertyName": "type", "mapping": refs},
    }


def _pascal(name: str) -> str:
    """Return the name of a definition for types: `blog-list` becomes `BlogList`."""
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name))


def _locale() -> Schema:
    return {"type": "string", "enum": list(settings.CMS_ENV.locales)}


def _describe_parameter(parameter: Schema) -> None:
    """Give a parameter the names of this site, and lists of names their enum."""
    shape, name = parameter["schema"], parameter["name"]
    if parameter["in"] != "query":
        return
    listed = _LIST.fullmatch(shape.get("pattern", ""))
    if listed is not None:
        names = listed[1].split("|")
        items = {"type": "string", "enum": names}
        parameter["schema"] = {"type": "array", "minItems": 1, "items": items}
        parameter |= {"style": "form", "explode": False}
    elif name in _LOCALES:
        parameter["schema"] = _locale()
    elif name == "type" and "enum" not in shape:
        parameter["schema"] = {"type": "string", "enum": list(post_types.names())}
    elif name == "taxonomy" and "maxLength" not in shape and taxonomies.names():
        parameter["schema"] = {"type": "string", "enum": list(taxonomies.names())}


def _rename(part: Any, references: Mapping[str, str]) -> None:
    for node in _objects(part):
        if isinstance(node.get("$ref"), str):
            node["$ref"] = references.get(node["$ref"], node["$ref"])


def _objects(part: Any) -> Iterator[Schema]:
    waiting = [part]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def _keep_used_components(made: Schema) -> None:
    """Remove the components that no delivery operation refers to."""
    components: dict[str, dict[str, Schema]] = made["components"]
    used: set[str] = set()
    waiting: list[Any] = [made["paths"]]
    while waiting:
        for node in _objects(waiting.pop()):
            reference = node.get("$ref")
            if isinstance(reference, str) and reference not in used:
                used.add(reference)
                _, _, kind, name = reference.split("/")
                waiting.append(components[kind][name])
    made["components"] = {
        kind: kept
        for kind, shapes in components.items()
        if (
            kept := {
                name: shape
                for name, shape in shapes.items()
                if f"#/components/{kind}/{name}" in used
            }
        )
    }


@extend_schema(exclude=True)
class DeliverySchemaView(DescriptionView):
    """The OpenAPI document of the delivery API: JSON, or YAML with `?format=yaml`."""

    authentication_classes = (DeliveryAuthentication,)
    throttle_classes = (DeliveryThrottle,)

    def get(self, request: Request) -> HttpResponse:
        if request.query_params.get("format") == "yaml":
            return self.answer(_as_yaml(), "application/vnd.oai.openapi")
        return self.answer(_as_json(), "application/json")


@cache
def _as_json() -> bytes:
    return dumps(delivery_document())


@cache
def _as_yaml() -> bytes:
    return bytes(OpenApiYamlRenderer().render(delivery_document(), renderer_context={}))  # type: ignore[no-untyped-call]  # untyped library
