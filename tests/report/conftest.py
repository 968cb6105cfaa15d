"""Headless Chromium browsers of desktop and phone size, and pages of claims for them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fedtheory.language.registry import find
from report import website
from report.drawing import load_templates
from report.pages import make_claim_page, name_page
from report.user_runs import UserRun
from verify.claim_verdict import ClaimVerdict

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

SWITCHES = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESK, PHONE = (1280, 1000), (390, 844)


@contextmanager
def chromium(profile: Path, size: tuple[int, int]) -> Iterator[Chrome]:
    """Yield a headless browser with a window of some size, or a phone's screen below 600 pixels."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("Chromium and its driver (commands chromium and chromedriver) are not installed")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for switch in (*SWITCHES, f"--window-size={size[0]},{size[1]}", f"--user-data-dir={profile}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    if size[0] < 600:
        metrics = {"width": size[0], "height": size[1], "pixelRatio": 2}
        options.add_experimental_option("mobileEmulation", {"deviceMetrics": metrics})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    try:
        yield browser
    finally:
        browser.quit()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """Yield a browser of desktop size."""
    with chromium(tmp_path_factory.mktemp("desk"), DESK) as browser:
        yield browser


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """Yield a browser of the size of an upright phone."""
    with chromium(tmp_path_factory.mktemp("phone"), PHONE) as browser:
        yield browser


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Return the address of the page of a claim, without figures and worst cases, with an explorer for some runs."""
    folder, environment = Path(tmp_path_factory.mktemp("pages")), load_templates(())

    def write(claim_id: str, *runs: UserRun) -> str:
        verdict = ClaimVerdict(claim_id, "supported", 1, 1, 0, 0, 0.25, None, None, 0.0)
        page = make_claim_page(verdict, [], explored=runs)
        text = environment.get_template("claim.html").render(page=page, before=None, after=None)
        (folder / page.file).write_text(text, encoding="utf-8")
        shutil.copy(Path(str(files("report"))) / "templates" / website.SCRIPT, folder)
        return (folder / name_page(find(claim_id))).as_uri()

    return write
