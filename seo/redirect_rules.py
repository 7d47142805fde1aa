"""Active redirects as rules of hosts and web servers: Netlify's `_redirects` file, and nginx locations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, get_args
from urllib.parse import quote

from django.db.models import QuerySet

from seo.models import Redirect

RuleFormat = Literal["netlify", "nginx"]
RULE_FORMATS: Final[tuple[RuleFormat, ...]] = get_args(RuleFormat)
_IN_PATH: Final = "/-._~!&'()+,=@"
"""Characters of a path that stay. `:`, `*` and `$` have a meaning in rules, so they are encoded."""
_IN_REST: Final = "/-._~!&'()+,=@?#%[]"
"""Characters of an address after its host that stay. It is encoded already, apart from what rules would read."""
_CONTROL: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def netlify_rule(from_path: str, to_path: str, type: int) -> str:
    """Return a line of a `_redirects` file, each value percent-encoded."""
    return f"{quote(from_path, safe=_IN_PATH)} {_encoded(to_path)} {type}\n"


def nginx_rule(from_path: str, to_path: str, type: int) -> str:
    """Return a location of an nginx server, each value quoted."""
    path = from_path.replace("\\", "\\\\").replace('"', '\\"')
    for char, escaped in _CONTROL.items():
        path = path.replace(char, escaped)
    target, mark, fragment = _encoded(to_path).partition("#")
    # As the site itself does: a path of the site gets the visitor's query unless it has its own.
    query = "$is_args$args" if target.startswith("/") and "?" not in target else ""
    return f'location = "{path}" {{ return {type} "{target}{query}{mark}{fragment}"; }}\n'


_RULES: Final[Mapping[RuleFormat, Callable[[str, str, int], str]]] = {
    "netlify": netlify_rule,
    "nginx": nginx_rule,
}


def redirect_rules(rows: QuerySet[Redirect], format: RuleFormat) -> Iterator[str]:
    """Yield a rule for each redirect."""
    rule = _RULES[format]
    columns = rows.values_list("from_path", "to_path", "type")
    for from_path, to_path, type in columns.iterator(chunk_size=500):
        yield rule(from_path, to_path, type)


def _encoded(address: str) -> str:
    """Return an address with everything percent-encoded that a rule would read as more than a text."""
    if address.startswith("/"):
        return quote(address, safe=_IN_REST)
    scheme, mark, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{quote(host, safe='-._~:@[]?#%')}{slash}{quote(path, safe=_IN_REST)}"
