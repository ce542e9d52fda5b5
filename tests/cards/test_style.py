"""The style sheet keeps its colours legible in light and dark."""

from __future__ import annotations

import re

import pytest

from judgeaudit.core.rooms import room

CSS = (room("judge_cards") / "templates" / "card.css").read_text(encoding="utf-8")
TEXT_ON = [
    *((ink, on) for ink in ("ink", "soft", "link", "unknown") for on in ("page", "sheet")),
    *((ink, on) for ink in ("good", "middling", "bad") for on in ("page", "sheet")),
    *((x, f"{x}-bg") for x in ("good", "middling", "bad", "unknown")),
    *(("ink", f"{x}-bg") for x in ("good", "middling", "bad", "unknown")),
]
MARK_ON = [("mark", "sheet"), ("mark", "zone"), ("soft", "sheet"), ("soft", "zone")]
MARK_ON += [(f"part-{k}", "sheet") for k in ("verdict", "refusal", "unparseable", "error")]


def palette(scheme: str) -> dict[str, str]:
    blocks = re.findall(r":root\{(color-scheme:light dark;)?([^}]*)\}", CSS)
    light, dark = blocks[0][1], blocks[1][1]
    found = dict(re.findall(r"--([\w-]+):(#[0-9a-f]+)", light))
    if scheme == "dark":
        found |= dict(re.findall(r"--([\w-]+):(#[0-9a-f]+)", dark))
    return found


def luminance(colour: str) -> float:
    digits = colour[1:]
    if len(digits) == 3:
        digits = "".join(2 * d for d in digits)
    parts = [int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    """Return the contrast ratio of WCAG 2.2, 1 to 21."""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_the_ratio_is_that_of_the_standard():
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("ink", "on"), TEXT_ON)
def test_text_has_contrast(scheme, ink, on):
    colours = palette(scheme)
    assert contrast(colours[ink], colours[on]) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("ink", "on"), MARK_ON)
def test_marks_have_contrast(scheme, ink, on):
    colours = palette(scheme)
    assert contrast(colours[ink], colours[on]) >= 3


def test_dark_names_every_colour_that_light_names():
    blocks = re.findall(r":root\{(?:color-scheme:light dark;)?([^}]*)\}", CSS)
    names = [set(re.findall(r"--([\w-]+):", b)) for b in blocks[:2]]
    assert names[0] == names[1]


def test_every_colour_used_is_named():
    named = set(re.findall(r"--([\w-]+):", CSS))
    assert set(re.findall(r"var\(--([\w-]+)\)", CSS)) <= named
