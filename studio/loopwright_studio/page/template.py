"""The page's template: autoescape, and every text made visible before it is printed."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from loopwright_studio.page import figures
from loopwright_studio.page.shares import request_parts, slices
from loopwright_studio.rows import arguments
from loopwright_studio.visible import one_line, visible


@cache
def page_template() -> Template:
    """The template; whatever it prints is made visible first, so that no text of a run can be forgotten."""
    environment = Environment(
        loader=PackageLoader("loopwright_studio", "page"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        one_line=one_line, arguments=arguments, tokens=figures.tokens, tick=figures.tick, duration=figures.duration,
        dollars=figures.dollars, moment=figures.moment,
    )  # fmt: skip
    environment.globals.update(slices=slices, parts=request_parts)
    return environment.get_template("page.html.j2")


def _shown(value: object) -> object:
    if not isinstance(value, str) or value.isprintable() or isinstance(value, Markup):
        return value  # what is printable has nothing to be made visible, and most texts are
    return visible(value)
