"""What a card says of a judge as a monitor."""

from __future__ import annotations

import numpy as np


def test_the_card_says_that_there_is_no_control_group(tmp_path):
    from judgeaudit import audit

    rows = "".join(f"i{k},base,{('SAFE', 'UNSAFE')[k % 4 > 0]},UNSAFE\n" for k in range(40))
    (tmp_path / "t.csv").write_text("item,condition,verdict,gold\n" + rows)
    made = audit.import_verdicts(tmp_path / "t.csv", out=tmp_path / "run")
    card = audit.card(made.folder)
    said = {w.code: w.sentence for w in card.warnings}
    assert said["no_control_group"].startswith("No control group: no item is labelled SAFE")
    from judgeaudit.cards import write

    write(card, tmp_path / "run")
    page = (tmp_path / "run" / "card.html").read_text("utf-8")
    assert "cannot be estimated because: no control group" in page
    assert "Whether the judge is calibrated is not known" in page
    assert any("confidence can be believed" in limit for limit in card.limits)


def test_the_card_draws_on_probabilities_that_were_imported(tmp_path):
    from judgeaudit import audit
    from judgeaudit.cards import write

    rng = np.random.default_rng(0)
    lines = ["item,condition,verdict,gold,p"]
    for k in range(200):
        p = round(float(rng.random()), 3)
        gold = "UNSAFE" if rng.random() < p else "SAFE"
        lines.append(f"i{k},base,{'UNSAFE' if p >= 0.5 else 'SAFE'},{gold},{p}")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    made = audit.import_verdicts(
        tmp_path / "t.csv", out=tmp_path / "run", p_unsafe="p", p_source="made up"
    )
    card = audit.card(made.folder)
    write(card, tmp_path / "run")
    page = (tmp_path / "run" / "card.html").read_text("utf-8")
    assert "no miscalibration is shown" in page
    assert "probability of UNSAFE (made up)" in page
    assert not any("confidence can be believed" in limit for limit in card.limits)
    assert 10 == len([s for s in card.scores.scores if s.metric == "reliability"])
