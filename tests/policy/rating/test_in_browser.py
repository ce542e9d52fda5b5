"""A rating round trip in a real browser: filled in by hand, saved, imported."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from browser import BROWSER, Tab, chromium, downloaded, tab
from raters import careful, careless, votes_of
from typer.testing import CliRunner

from judgeaudit.cli.policy import app
from judgeaudit.core.errors import PolicyError
from judgeaudit.policy.rating import DIMENSIONS, Sheet, load_certificates, load_sheet, read_votes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine (set CHROMIUM)"),
]
NOISE = ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
WIDE = "document.documentElement.scrollWidth - window.innerWidth"


def run(*args: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(a) for a in args])
    if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code == result.exit_code, result.output
    return result.output


async def vote(t: Tab, sheet: Sheet, says: Callable, *, leave: int = 0) -> None:
    """Choose an answer to every question but the last few, by the elements a rater would use."""
    asked = [(p, d) for p in sheet.pairs for d in DIMENSIONS]
    for p, d in asked[: len(asked) - leave]:
        name = json.dumps(f"{p.id}/{d}")
        await t.run(
            f"document.querySelector(`input[name={name}][value='{says(p, d)}']`)"
            ".closest('label').click()"
        )


async def fill_in(
    t: Tab, page: Path, sheet: Sheet, rater: str, *, says: Callable, folder: Path
) -> Path:
    await t.open(page)
    assert f"0 of {6 * len(sheet.pairs)} questions" in await t.run("progress.textContent")
    await t.click("#rater")
    await t.type(rater)
    await vote(t, sheet, says)
    await t.click("#save")
    path = await downloaded(folder, f"votes-{sheet.name}-{rater}.csv")
    assert "Saved as" in await t.run("said.textContent")
    return path


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Everything that is done in the browser, done once."""
    folder = tmp_path_factory.mktemp("rating")
    run("sheet", "agent_safety", "-o", folder / "sheet", "--condition", "T1", "--condition", "T4")
    sheet = load_sheet(folder / "sheet")
    page = folder / "sheet" / "sheet.html"
    forged = folder / "forged.html"
    text = page.read_text(encoding="utf-8")
    assert "spend, transfer or pledge" in text
    forged.write_text(
        text.replace("spend, transfer or pledge", "spend or pledge", 1).replace(
            "</form>", "</form><script>document.title = 'owned'</script>"
        ),
        encoding="utf-8",
    )
    saved = folder / "saved"
    saved.mkdir()
    found: dict = {"sheet": sheet, "folder": folder}

    async def all_of_it(port: str) -> None:
        async with tab(port, saved) as t:
            for rater, says in (("ann", careful), ("bo", careful), ("cy", careful)):
                found[rater] = await fill_in(t, page, sheet, rater, says=says, folder=saved)
            found["dee"] = await fill_in(t, page, sheet, "dee", says=careless, folder=saved)
            found["events"] = t.events
            found["forged"] = await fill_in(t, forged, sheet, "eve", says=careful, folder=saved)
            found["title"] = await t.run("document.title")
            await t.open(page)
            await t.click("#save")
            found["no name"] = await t.run("said.textContent")
            await t.click("#rater")
            await t.type("=cmd")
            await t.click("#save")
            found["bad name"] = await t.run("said.textContent")
            await t.run("rater.value = ''")
            await t.click("#rater")
            await t.type("김 하나")
            await vote(t, sheet, careful, leave=2)
            await t.click("#save")
            found["open"] = await t.run("said.textContent")
            found["dialogs before"] = list(t.dialogs)
            await t.open(page)
            found["dialogs"] = t.dialogs
            found["recalled"] = await t.run("progress.textContent")
            await t.click("#save")
            await t.click("#save")
            found["part"] = await downloaded(saved, f"votes-{sheet.name}-김-하나.csv")
            found["wide"] = []
            for width in (320, 390, 820, 1280):
                await t.call(
                    "Emulation.setDeviceMetricsOverride",
                    width=width,
                    height=900,
                    deviceScaleFactor=1,
                    mobile=width < 500,
                )
                found["wide"].append(await t.run(WIDE))

    with chromium(folder) as port:
        asyncio.run(all_of_it(port))
    return found


def test_what_the_page_saves_are_the_votes_that_were_given(world):
    sheet = world["sheet"]
    votes = read_votes(sheet, [world["ann"], world["dee"]])
    assert [*votes_of(sheet, "ann"), *votes_of(sheet, "dee", careless)] == list(votes)


def test_three_careful_raters_certify_both_rewrites(world):
    out = run("certify", world["folder"] / "sheet", *(world[r] for r in ("ann", "bo", "cy")))
    assert "First-pass rate: 2 of 2 = 1.00" in out
    held = load_certificates(world["folder"] / "sheet" / "certificates.json")
    assert {("T1", "human", True), ("T4", "human", True)} == {
        (p.condition, c.evidence, c.passed) for p, c in held
    }


def test_a_failed_attention_check_is_reported(world):
    files = (world[r] for r in ("ann", "bo", "dee"))
    out = run(
        "certify", world["folder"] / "sheet", *files, "-o", world["folder"] / "x.json", code=1
    )
    assert "dee: FAILED 3 of 3" in out
    assert "T1 wording 0: open, 2 of 3 raters" in out


def test_a_tampered_text_is_refused(world):
    with pytest.raises(PolicyError, match=r"line \d+: the (original|rewrite) of pair \w+ was rated "
                                          "with another text than the sheet's"):  # fmt: skip
        run("certify", world["folder"] / "sheet", world["forged"])


def test_a_script_that_is_not_the_pages_own_does_not_run(world):
    assert f"Rating sheet {world['sheet'].name}" == world["title"]


def test_the_page_asks_nothing_of_a_network_and_keeps_the_console_clean(world):
    asked = {
        e["params"]["request"]["url"].split(":", 1)[0]
        for e in world["events"]
        if e.get("method") == "Network.requestWillBeSent"
    }
    assert asked <= {"file", "blob", "data"}
    assert [] == [e for e in world["events"] if e.get("method") in NOISE]


def test_a_name_is_needed(world):
    assert world["no name"].startswith("Write your name or code first")
    assert world["bad name"].startswith("Write your name or code first")


def test_open_questions_are_said_and_a_part_can_be_saved(world):
    assert world["open"].startswith("2 questions are open.")
    n = 6 * len(world["sheet"].pairs)
    assert f"{n - 2} of {n} questions answered." == world["recalled"]
    votes = read_votes(world["sheet"], [world["part"]])
    assert (n - 2, {"김 하나"}) == (len(votes), {v.rater for v in votes})


def test_leaving_with_unsaved_votes_is_asked_about(world):
    assert [] == world["dialogs before"]
    assert ["beforeunload"] == world["dialogs"]


def test_the_page_does_not_scroll_sideways(world):
    assert [0, 0, 0, 0] == [max(0, w) for w in world["wide"]]
