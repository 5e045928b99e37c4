"""The page in a real browser: Chromium, without a window, driven by Selenium.

If the environment variable SCREENSHOTS names a directory, what the pages look like is kept there.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import onnx_scatterx
from onnx_scatterx.doors.batch.summary import ModelOutcome, Summary
from tests.helpers.many_scatters import many_scatters

selenium = pytest.importorskip("selenium", reason="selenium is not installed")
from selenium.webdriver import Chrome, ChromeOptions, ChromeService, Keys  # noqa: E402 - only if it is there
from selenium.webdriver.support.wait import WebDriverWait  # noqa: E402 - only if it is there

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
DRIVER = shutil.which("chromedriver") or ""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (BROWSER and DRIVER), reason="Chromium and its driver are not installed"
    ),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of the driver's connections
]
SWITCHES = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars")
CONTRAST = """
const channel = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const light = (c) => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
const parts = (text) => text.match(/[\\d.]+/g).map(Number);
const behind = (e) => {
  for (; e; e = e.parentElement) {
    const c = parts(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return c;
  }
};
const seen = [...document.querySelectorAll(".scatterx *")].filter((e) =>
  e.checkVisibility() && !e.closest("svg, button, input") &&
  [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
return seen.map((e) => {
  const [a, b] = [light(parts(getComputedStyle(e).color)), light(behind(e))];
  return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.outerHTML.slice(0, 80)];
}).filter(([ratio]) => ratio < 4.5);
"""

# What is cut off, and neither has "…" nor scrolls.
UNSIGNED = """
return [...document.querySelectorAll(".scatterx *")].filter((e) => {
  const style = getComputedStyle(e);
  return e.checkVisibility() && e.scrollWidth > e.clientWidth + 1 &&
    style.overflowX !== "visible" && style.textOverflow !== "ellipsis" &&
    !e.matches(".drawing, .wide, input");
}).map((e) => e.outerHTML.slice(0, 200));
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = ChromeOptions()
    options.binary_location = BROWSER
    for switch in SWITCHES:
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages of models with 1, 30 and 300 scatters, and that of several models."""
    folder = tmp_path_factory.mktemp("pages")
    reports = {str(n): onnx_scatterx.optimize(many_scatters(n)).report for n in (1, 30, 300)}
    kept = onnx_scatterx.optimize(many_scatters(5), target="standard", rules=["concat", "view"])
    reports["kept"] = kept.report
    reports["together"] = onnx_scatterx.optimize("models/box_update_dynamo.onnx").report
    long = many_scatters(30)
    for number, node in enumerate(long.graph.node):
        node.name = f"/model/encoder/layers.{number}/self_attention/cache/{node.op_type}"
    reports["long"] = onnx_scatterx.optimize(long, target="standard").report
    texts = {name: report.to_html() for name, report in reports.items()}
    outcomes = [
        ModelOutcome(Path(f"m{name}.onnx"), Path("out"), report, True, None, 1.0, compared=3)
        for name, report in reports.items()
        if name in ("1", "30", "kept")
    ]
    failed = ModelOutcome(Path("broken.onnx"), Path("out"), None, None, "it is no model", 0.1)
    texts["directory"] = Summary((*outcomes, failed), 4.0).to_html()
    found = {name: folder / f"{name}.html" for name in texts}
    for name, path in found.items():
        path.write_text(texts[name], encoding="utf-8")
    return found


def show(browser: Any, page: Path, width: int = 1280, *, dark: bool = False) -> None:
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get("about:blank")
    browser.get(page.as_uri())


def find(browser: Any, selector: str) -> list[Any]:
    return list(browser.find_elements("css selector", selector))


def opened(browser: Any, selector: str) -> list[Any]:
    """Wait for what a link to it opens: the script hears of the link after the click."""
    return list(WebDriverWait(browser, 10).until(lambda _: find(browser, f"{selector}[open]")))


def visible(browser: Any, selector: str = ".card") -> int:
    return sum(element.is_displayed() for element in find(browser, selector))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 600, 390])
@pytest.mark.parametrize("name", ["1", "30", "300", "kept", "long", "directory"])
def test_it_looks_right(
    browser: Any, pages: dict[str, Path], name: str, width: int, dark: bool
) -> None:
    """Nothing is logged or fetched, nothing is too wide, and all text can be read."""
    show(browser, pages[name], width, dark=dark)
    is_wide = "return document.documentElement.scrollWidth > window.innerWidth"
    assert not browser.execute_script(is_wide)
    assert browser.execute_script(CONTRAST) == []
    assert browser.execute_script(UNSIGNED) == []
    keep_screenshot(browser, f"{name}_{width}_{'dark' if dark else 'light'}", width)
    if name != "300":
        browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert not browser.execute_script(is_wide)
        assert browser.execute_script(CONTRAST) == []
        assert browser.execute_script(UNSIGNED) == []
        keep_screenshot(browser, f"{name}_{width}_{'dark' if dark else 'light'}_open", width)
    assert not [entry for entry in browser.get_log("browser") if "favicon" not in entry["message"]]
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def keep_screenshot(browser: Any, name: str, width: int) -> None:
    high = browser.execute_script("return document.documentElement.scrollHeight")
    clip = {"x": 0, "y": 0, "width": width, "height": min(high, 3000), "scale": 1}
    shot = browser.execute_cdp_cmd(
        "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True, "clip": clip}
    )
    picture = base64.b64decode(shot["data"])
    assert picture.startswith(b"\x89PNG")
    if folder := os.environ.get("SCREENSHOTS"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, f"{name}.png").write_bytes(picture)


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (600, 900), (390, 844)])
@pytest.mark.parametrize("name", ["1", "30", "300", "long"])
def test_the_first_screen(
    browser: Any, pages: dict[str, Path], name: str, width: int, height: int
) -> None:
    """It has the numbers, the chart and the picture; below, each card is one line high."""
    show(browser, pages[name], width)
    lead, total, picture = (
        browser.execute_script(f"return document.querySelector('{of}').getBoundingClientRect()")
        for of in (".lead", ".chart tfoot", ".picture svg:last-of-type")
    )
    assert lead["bottom"] < total["bottom"] < height
    assert picture["top"] < height - 100
    assert picture["bottom"] < height or width < 900
    assert lead["height"] < 30 or width < 900
    high = "return [...document.querySelectorAll('.card')].map(e => e.offsetHeight)"
    assert max(browser.execute_script(high)) < 42


def test_two_pictures_stand_side_by_side_or_above_each_other(
    browser: Any, pages: dict[str, Path]
) -> None:
    places = (
        "return [...document.querySelector('.picture .drawing').querySelectorAll('svg')]"
        ".map(e => e.getBoundingClientRect()).map(r => [r.left, r.top, r.bottom])"
    )
    show(browser, pages["1"], 601)
    (left, top, _), (right, other_top, _) = browser.execute_script(places)
    assert (left + 100 < right, top) == (True, other_top)
    show(browser, pages["1"], 600)
    (left, _, bottom), (right, top, _) = browser.execute_script(places)
    assert (left, bottom < top) == (right, True)


@pytest.mark.parametrize("selector", ["button", "[type=search]"])
def test_controls_are_dark_in_dark_mode(
    browser: Any, pages: dict[str, Path], selector: str
) -> None:
    style = f"return getComputedStyle(document.querySelector('.filters {selector}'))"
    show(browser, pages["30"], dark=True)
    for name, least, most in (("backgroundColor", 0, 60), ("color", 200, 255)):
        colour = browser.execute_script(f"{style}.{name}")
        parts = [int(part) for part in re.findall(r"\d+", colour)]
        assert all(least <= part <= most for part in parts[:3]), (name, colour)


def test_the_drawings_are_drawn(browser: Any, pages: dict[str, Path]) -> None:
    """Those that are shown again get their size and colours by reference."""
    show(browser, pages["30"])
    find(browser, "[data-open=true]")[0].click()
    for element in ("g[id]", "use"):
        drawn = f"return [...document.querySelectorAll('figure svg > {element}')]"
        widths = browser.execute_script(f"{drawn}.map(e => e.getBBox().width)")
        assert len(widths) > 5
        assert min(widths) > 40
    show(browser, pages["1"])
    fill = "return getComputedStyle(document.querySelector('.sx-scatter')).fill"
    light = browser.execute_script(fill)
    show(browser, pages["1"], dark=True)
    assert browser.execute_script(fill) != light != "rgb(0, 0, 0)"


def test_a_drawing_is_repeated_whose_first_card_is_hidden(
    browser: Any, pages: dict[str, Path]
) -> None:
    """The second card has drawings that the first, closed and filtered out, holds."""
    show(browser, pages["together"])
    first, second = find(browser, ".card")
    assert second.find_elements("css selector", "use")
    find(browser, "[data-open=false]")[0].click()
    name = second.find_element("css selector", ".node").text.removeprefix("▸ ")
    find(browser, "[type=search]")[0].send_keys(name)
    assert not first.is_displayed()
    second.find_element("tag name", "summary").click()
    drawn = "return [...arguments[0].querySelectorAll('use')].map(u => u.getBBox().width)"
    assert min(browser.execute_script(drawn, second)) > 40
    box = "return arguments[0].querySelector('use').getBoundingClientRect().width"
    assert browser.execute_script(box, second) > 40


def test_search_and_filter(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["30"])
    (search,) = find(browser, "[type=search]")
    (told,) = find(browser, ".filters output")
    assert (visible(browser), told.text) == (30, "30 of 30 shown")
    search.send_keys("scatterelements Y1")
    assert (visible(browser), told.text) == (2, "2 of 30 shown")  # y13 and y18
    search.clear()
    search.send_keys(" ")
    assert visible(browser) == 30
    (removed,) = find(browser, "[type=checkbox][value=removed]")
    removed.click()
    assert visible(browser) == visible(browser, ".card.native") == 12
    assert told.text == "12 of 30 shown"
    removed.click()
    assert visible(browser) == 30


def test_cards_open_by_mouse_and_by_keyboard(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["30"])
    first, second = find(browser, ".card")[:2]
    assert not first.get_property("open")
    first.find_element("tag name", "summary").click()
    assert first.get_property("open")
    assert first.find_element("css selector", ".body figure").is_displayed()
    second.find_element("tag name", "summary").send_keys(Keys.ENTER)
    assert second.get_property("open")
    browser.find_element("tag name", "body").send_keys("/")
    assert browser.switch_to.active_element.get_attribute("type") == "search"
    for button, expected in zip(find(browser, ".filters button"), (30, 0), strict=True):
        button.click()
        assert len(find(browser, ".card[open]")) == expected


def test_a_link_opens_its_card(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["300"])
    link = find(browser, ".attention li a")[3]
    name = link.get_attribute("href").rpartition("#")[2]
    find(browser, "[type=search]")[0].send_keys("nothing of this name")
    assert visible(browser) == 0
    link.click()
    (card,) = opened(browser, f"#{name}")
    assert card.is_displayed()
    assert browser.switch_to.active_element.tag_name == "summary"


def test_models_of_a_directory(browser: Any, pages: dict[str, Path]) -> None:
    show(browser, pages["directory"])
    assert visible(browser, ".model") == 4
    assert visible(browser) == 0
    find(browser, ".models a")[1].click()
    (model,) = opened(browser, ".model")
    assert model.find_elements("css selector", ".card")
    find(browser, "[type=search]")[0].send_keys("m30.onnx")
    assert visible(browser, ".model") == 1
    find(browser, "[type=search]")[0].clear()
    find(browser, "[type=search]")[0].send_keys("broken")
    assert visible(browser, ".model") == 1


def test_it_prints(browser: Any, pages: dict[str, Path]) -> None:
    """Cards are opened for that, if they are not too many, and closed again."""
    show(browser, pages["30"])
    browser.execute_script(
        "window.addEventListener('beforeprint', () => {"
        " window.opened = document.querySelectorAll('.card[open]').length })"
    )
    printed = browser.execute_cdp_cmd("Page.printToPDF", {})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")
    assert browser.execute_script("return window.opened") == 30
    assert not find(browser, ".card[open]")


@pytest.mark.parametrize("name", ["1", "kept", "directory"])
def test_what_a_screen_reader_is_told(browser: Any, pages: dict[str, Path], name: str) -> None:
    """All that can be used or is drawn has a name; headings go down one level at a time."""
    show(browser, pages[name])
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    found = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    named = {"image", "img", "button", "checkbox", "searchbox", "textbox", "link", "table"}
    roles: dict[str, int] = {}
    for node in found:
        role = node.get("role", {}).get("value", "")
        if node.get("ignored") or role not in named | {"DisclosureTriangle"}:
            continue
        roles[role] = roles.get(role, 0) + 1
        if role != "table":
            assert node.get("name", {}).get("value", "").strip(), node
    assert roles.get("link")
    levels = "return [...document.querySelectorAll('h1, h2, h3, h4')].map(h => +h.tagName[1])"
    found_levels = browser.execute_script(levels)
    assert found_levels[0] == 1
    assert found_levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(found_levels)), found_levels
