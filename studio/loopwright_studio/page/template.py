"""The page's template: autoescape, every text made visible before it is printed, and the words of one language."""

import re
import sys
from contextlib import suppress
from functools import cache, partial
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, FileSystemBytecodeCache, FunctionLoader, StrictUndefined, Template
from jinja2.bccache import Bucket
from markupsafe import Markup

from loopwright.language import Language
from loopwright_studio.call_line import arguments, limits
from loopwright_studio.log_wording import told
from loopwright_studio.page import excerpts, figures
from loopwright_studio.page.shares import request_parts, slices
from loopwright_studio.page.wording import Wording
from loopwright_studio.visible import one_line, visible


class Compiled(FileSystemBytecodeCache):
    """Compiled templates, kept where and when Python keeps compiled modules; to compile them takes 0.1 s."""

    def __init__(self) -> None:
        super().__init__(str(Path(__file__).with_name("__pycache__")))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template that was compiled, if its folder can be written."""
        if not sys.dont_write_bytecode:
            with suppress(OSError):
                super().dump_bytecode(bucket)


@cache
def page_template(language: Language) -> Template:
    """The template; whatever it prints is made visible first, so that no text of a run can be forgotten."""
    environment = Environment(
        loader=FunctionLoader(_unindented),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        bytecode_cache=Compiled(),
        optimized=False,  # of a page that is rendered once, folding constants takes longer than it saves
    )
    environment.filters.update(
        one_line=one_line,
        arguments=arguments,
        head=excerpts.head,
        cut=excerpts.cut,
        value_text=excerpts.value_text,
        essence=excerpts.essence,
        what_went_wrong=excerpts.what_went_wrong,
        limits=limits,
        tokens=figures.tokens,
        tick=figures.tick,
        dollars=figures.dollars,
        moment=figures.moment,
        duration=partial(figures.duration, language=language),
        told=partial(told, language=language),
    )
    words = Wording(language)
    environment.globals.update(w=words, slices=slices, parts=partial(request_parts, words=words))
    return environment.get_template("page.html.j2")


def _unindented(name: str) -> str:
    """A template without the white space at the start of its lines: it is for readers of this code, not of the page."""
    source = (files("loopwright_studio.page") / name).read_text(encoding="utf-8")
    return re.sub(r"^[ \t]+", "", source, flags=re.MULTILINE)


def _shown(value: object) -> object:
    if not isinstance(value, str) or value.isprintable() or isinstance(value, Markup):
        return value  # what is printable has nothing to be made visible, and most texts are
    return visible(value)
