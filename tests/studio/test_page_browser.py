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
SEEN = """(() => {
  const within = (small, large) => small.top >= large.top && small.bottom <= large.bottom;
  const window = { top: document.querySelector('.bar').getBoundingClientRect().bottom, bottom: innerHeight };
  return [...CSS.highlights.get('found')].some((range) => {
    const place = range.getBoundingClientRect(), result = range.startContainer.parentElement.closest('pre');
    return place.height && result && within(place, result.getBoundingClientRect()) && within(place, window);
  });
})()"""
"""Whether a found place in a result is in view: neither scrolled away in it nor with it, nor below the sticky bar."""
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


def test_enter_leads_from_place_to_place(browser: Browser, tmp_path: Path) -> None:
    """Enter opens the next step that holds the words and brings the place in it into view, also in a long result."""
    story = long_run(60, hostile=())
    results = [message for message in story.messages if message.type == "tool"]
    for message in (results[7], results[31]):
        message.content = f"{'a line' * 9}\n" * 60 + "here is the Needle\n" + "a line\n" * 60
    file = tmp_path / "page.html"
    file.write_text(build_page(story.told()), encoding="utf-8")
    page = visit(browser, file, viewport={"width": 1440, "height": 900})
    page.fill("#search", "the needle")
    assert page.inner_text("#count") == "2 of 63"
    reached = []
    for key in ("Enter", "Enter", "Enter", "Shift+Enter"):
        page.keyboard.press(key)
        reached.append((page.inner_text("#count"), page.evaluate("document.querySelector('.step.current').id")))
        assert page.evaluate(SEEN)
    first, second = reached[0][1], reached[1][1]
    assert first != second
    assert reached == [(f"place {at} of 2", place) for at, place in ((1, first), (2, second), (1, first), (2, second))]
    page.close()


def test_a_link_leads_to_a_round_that_was_filtered_out(browser: Browser, long_file: Path) -> None:
    """It stands among its neighbours then: search and filter are off again, and the count says so."""
    page = visit(browser, long_file)
    page.click("[data-filter=memory]")
    page.fill("#search", "10.3 k")
    page.evaluate("location.hash = '#r397'")
    page.wait_for_selector("#r397.current")
    assert page.is_visible("#r396")
    assert (page.inner_text("#count"), page.input_value("#search")) == ("406 steps", "")
    assert page.get_attribute("[data-filter='']", "aria-pressed") == "true"
    page.close()


def test_what_stands_in_every_round_is_not_searched(browser: Browser, long_file: Path) -> None:
    """A word of the legend, or of the command below a round, leaves only the steps in which the run said it."""
    page = visit(browser, long_file)
    for words in ("summary 748", "--round 7", "link to this round"):
        page.fill("#search", words)
        assert page.inner_text("#count") == "0 of 406", words
    page.close()


@pytest.mark.parametrize("width", [390, 720, 1100, 1440])
def test_the_search_says_what_it_does(browser: Browser, long_file: Path, width: int) -> None:
    """Its words are read whole at every width, also where the page is zoomed to 200 %, and filters go below it."""
    page = visit(browser, long_file, viewport={"width": width, "height": 900})
    wanted, room = page.evaluate("""(() => {
      const input = document.querySelector('#search'), style = getComputedStyle(input);
      const pen = document.createElement('canvas').getContext('2d');
      pen.font = style.font;
      const words = pen.measureText(input.placeholder).width;
      return [words, input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)];
    })()""")
    assert wanted <= room
    page.close()


def test_a_long_name_leaves_the_verdict_on_the_first_screen(browser: Browser, tmp_path: Path) -> None:
    """A thread's name of any length takes three lines at most, on a phone as well."""
    file = tmp_path / "page.html"
    file.write_text(build_page(long_run(9, hostile=()).told(thread="name-" * 60)), encoding="utf-8")
    page = visit(browser, file, viewport={"width": 390, "height": 844})
    lines = page.locator("h1").evaluate("(name) => name.clientHeight / parseFloat(getComputedStyle(name).lineHeight)")
    assert lines <= 3.01
    page.close()


def test_a_long_task_leaves_the_verdict_on_the_first_screen(browser: Browser, tmp_path: Path) -> None:
    """What got stuck is read without scrolling, on a phone as well."""
    story = long_run(9, hostile=())
    story.messages[0].content = "Compare each line of it. " * 150
    file = tmp_path / "page.html"
    file.write_text(build_page(story.told()), encoding="utf-8")
    for width, height in SIZES:
        page = visit(browser, file, viewport={"width": width, "height": height})
        box = page.locator("#verdict-title").bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < height
        page.close()


def test_high_contrast_keeps_what_colours_say(browser: Browser, long_file: Path) -> None:
    """Where the system sets all colours, the legend still tells its lanes apart, and the chosen filter is seen."""
    page = visit(browser, long_file, forced_colors="active")
    colour = "(each) => getComputedStyle(each).backgroundColor"
    swatches = page.locator(".chart .legend i").evaluate_all(f"(all) => all.map({colour})")
    assert len(set(swatches)) == len(swatches) > 2
    assert page.locator("[data-filter='']").evaluate(colour) != page.locator("[data-filter=guard]").evaluate(colour)
    page.close()


def test_one_command_at_a_time_is_copied(browser: Browser, long_file: Path) -> None:
    """The button says that it was done until another one is pressed: the clipboard holds one text."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(long_file.as_uri())
    buttons = page.locator(".copy")
    for number in (0, 1):
        buttons.nth(number).click()
        buttons.nth(number).and_(page.get_by_text("Copied", exact=True)).wait_for()
    assert buttons.all_inner_texts() == ["Copy", "Copied"]
    assert page.evaluate("navigator.clipboard.readText()") == "loopwright history invoices-oct"
    context.close()


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
    assert page.inner_text(".readout").startswith("第 1 轮：2.4 k token，")
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
