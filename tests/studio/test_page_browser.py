"""The page in a real browser: accessible, as wide as its window, silent on the network, and deaf to hostile texts."""

import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from tests.graph.stop_stories import told
from tests.studio.page_story import HOSTILE, Story, every_kind, long_run

from loopwright_studio.page import build_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
SIZES = [(390, 844), (1440, 900)]
THEMES: list[Literal["light", "dark"]] = ["light", "dark"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: apt-get install chromium"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The machine's Chromium, without a window."""
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def long_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of 400 rounds with hostile texts."""
    path = tmp_path_factory.mktemp("page") / "long.html"
    path.write_text(build_page(long_run().told()), encoding="utf-8")
    return path


def visit(browser: Browser, file: Path, place: str = "", **options: Any) -> Page:
    """The page in a window of its own, loaded; `place` is a round to open."""
    page = browser.new_page(**options)
    page.goto(f"{file.as_uri()}{place}")
    return page


def axe(page: Page) -> dict[str, Any]:
    """What axe-core finds. It cannot judge what is not painted or lies under the sticky bar: both are switched off."""
    page.add_style_tag(content=".step { content-visibility: visible !important } .bar { position: static !important }")
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found: dict[str, Any] = page.evaluate("axe.run({resultTypes: ['violations', 'incomplete']})")
    return found


@pytest.mark.parametrize("story", [long_run(60), every_kind()], ids=["hostile", "every kind, in Chinese"])
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_anyone_can_read_it(
    browser: Browser, tmp_path: Path, width: int, height: int, theme: Literal["light", "dark"], story: Story
) -> None:
    """At both widths and in both themes axe finds nothing, with everything open, and nothing sticks out sideways."""
    file = tmp_path / "page.html"
    file.write_text(build_page(story.told()), encoding="utf-8")
    page = visit(browser, file, viewport={"width": width, "height": height}, color_scheme=theme, bypass_csp=True)
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.keyboard.press("?")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    found = axe(page)
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    unclear = [node for each in found["incomplete"] if each["id"] == "color-contrast" for node in each["nodes"]]
    # axe judges no text inside an SVG (it has the colours of texts beside it, which pass), and no mere symbol
    assert [each["html"] for each in unclear if not each["html"].startswith(("<text", '<span class="number">'))] == []
    page.close()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_it_is_as_wide_as_its_window(browser: Browser, long_file: Path, width: int, height: int) -> None:
    """Nothing sticks out sideways, with every step open."""
    page = visit(browser, long_file, viewport={"width": width, "height": height})
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    page.close()


def test_it_asks_for_the_file_alone(browser: Browser, long_file: Path) -> None:
    """One request, its own; no console message, no error, also when everything is open and searched."""
    page = browser.new_page()
    requests: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(long_file.as_uri())
    page.click("#open-all")
    page.fill("#search", "pwned")
    page.click("#theme-button")
    page.evaluate("new Promise(requestAnimationFrame)")
    assert requests == [long_file.as_uri()]
    assert complaints == []
    page.close()


def test_no_payload_runs(browser: Browser, long_file: Path) -> None:
    """Twelve attacks in texts, names and arguments, everything open, without the second wall: still only text."""
    page = visit(browser, long_file, bypass_csp=True)
    title = page.title()
    page.click("#open-all")
    page.evaluate("new Promise(requestAnimationFrame)")
    assert page.title() == title
    ours = {"h1": 1, "main": 1, "script": 1, "style": 1, "img": 0, "iframe": 0, "a[href^=javascript]": 0}
    assert {each: page.locator(each).count() for each in ours} == ours
    text = page.evaluate("document.body.textContent")
    assert all(payload in text for payload in HOSTILE if payload.isprintable())
    page.close()


def test_it_is_ready_within_a_second(browser: Browser, long_file: Path) -> None:
    """400 rounds: from the request to interactive in under a second (the best of five)."""

    def once() -> float:
        page = visit(browser, long_file)
        ready: float = page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
        page.close()
        return ready

    assert min(once() for _ in range(5)) < 1_000


def test_a_link_opens_its_round(browser: Browser, long_file: Path) -> None:
    """`#r397` opens that round, fills its boxes in the picture, and moves the line on the chart."""
    page = visit(browser, long_file, "#r397")
    assert page.evaluate("document.getElementById('r397').open")
    filled = page.evaluate("[...document.querySelectorAll('.machine .now')].map(box => box.classList[1])")
    assert sorted(filled) == ["call_model", "execute_tools", "guard"]
    left = page.evaluate("parseFloat(document.querySelector('.here').style.left)")
    assert left == pytest.approx(100 * 396.5 / 401, abs=0.01)
    page.close()


def test_search_and_filters_leave_what_fits(browser: Browser, long_file: Path) -> None:
    """A search leaves the steps that hold the words, a filter those of its kind, and the count says how many."""
    page = visit(browser, long_file)
    page.fill("#search", "FX_rate")
    shown = page.evaluate("[...document.querySelectorAll('.step:not([hidden])')].map(step => step.id)")
    assert shown == ["r396", "r397", "r398", "r399", "r400"]
    assert page.inner_text("#count") == "5 of 406"
    page.fill("#search", "")
    page.click("[data-filter=memory]")
    assert page.evaluate("[...document.querySelectorAll('.step:not([hidden])')].every(s => s.matches('.memory'))")
    page.close()


def test_the_script_speaks_the_language_of_the_page(browser: Browser, tmp_path: Path) -> None:
    """What the script writes into a Chinese page is Chinese, although the script is the same text for all pages."""
    file = tmp_path / "page.html"
    file.write_text(build_page(every_kind().told()), encoding="utf-8")
    page = visit(browser, file)
    page.click("#open-all")
    assert page.inner_text("#open-all") == "全部收起"
    assert page.locator(".round:not([open])").count() == 0
    page.click("#open-all")
    assert page.inner_text("#open-all") == "全部展开"
    assert page.locator(".round[open]").count() == 0
    page.click("[data-filter=memory]")
    assert page.inner_text("#count") == "1 / 21"
    page.click("[data-filter='']")
    assert page.inner_text("#count") == "21 个步骤"
    page.hover(".over", position={"x": 1, "y": 50})
    assert page.inner_text(".readout") == "第 1 轮：2.4 k token"
    page.close()


def test_keys_lead_through_the_run(browser: Browser, long_file: Path) -> None:
    """`s` leads to where it got stuck, `p` `n` from event to event, `k` `j` from step to step, `/` to the search."""
    page = visit(browser, long_file)
    at = "document.querySelector('.current').id"
    page.keyboard.press("s")
    page.wait_for_selector("#r400.current")
    for key, place in (("p", "r399"), ("k", "r398"), ("j", "r399"), ("n", "r400")):
        page.keyboard.press(key)
        assert page.evaluate(at) == place
    page.keyboard.press("/")
    page.keyboard.type("jk")
    assert page.input_value("#search") == "jk"
    page.close()


def test_it_works_without_its_script(browser: Browser, long_file: Path) -> None:
    """Where scripts are off everything is there still, and buttons that would do nothing are not shown."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(long_file.as_uri())
    assert page.is_visible(".verdict h2")
    assert page.is_visible("#r400 summary")
    assert not page.is_visible("#theme-button")
    context.close()


@pytest.mark.parametrize("reason", ["answered", "model_calls", "auth"])
def test_short_pages_are_readable_too(browser: Browser, tmp_path: Path, reason: Any) -> None:
    """Pages of a few rounds, or without a usable one, have no violation either."""
    file = tmp_path / "page.html"
    file.write_text(build_page(told(reason, "zh").report), encoding="utf-8")
    page = visit(browser, file, bypass_csp=True)
    assert [each["id"] for each in axe(page)["violations"]] == []
    page.close()
