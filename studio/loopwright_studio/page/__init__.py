"""A thread's report as one HTML file: no network, no build step, safe whatever the run said."""

from loopwright_studio.page.building import CHARACTERS, build_page

__all__ = ["CHARACTERS", "build_page"]
