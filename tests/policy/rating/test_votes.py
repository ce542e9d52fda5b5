"""Votes: what is taken, what is refused by line, and what they certify."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from raters import careful, careless, vote_file, votes_of

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.records import Rendering
from judgeaudit.policy import load_policy, render
from judgeaudit.policy.rating import (
    CertificateFile,
    attach,
    decide,
    load_certificates,
    make_sheet,
    pairs_of_policy,
    read_votes,
    save,
)
from judgeaudit.policy.rating.tables import sheet_table


@pytest.fixture(scope="module")
def policy():
    return load_policy("agent_safety")


@pytest.fixture(scope="module")
def sheet(policy):
    base, rated = pairs_of_policy(policy)
    return make_sheet(base, rated, policy=policy)


def three(sheet, says=careful):
    return [v for r in ("ann", "bo", "cy") for v in votes_of(sheet, r, says)]


def refused(sheet, path: Path, old: str, new: str, *, line: int = 2) -> str:
    """Change one text on one line of a file of votes, and return what is said of it."""
    lines = path.read_text(encoding="utf-8").split("\n")
    assert old in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    path.write_text("\n".join(lines), encoding="utf-8", newline="")
    with pytest.raises(PolicyError) as e:
        read_votes(sheet, [path])
    assert f"{path}, line {line}:" in str(e.value)
    return str(e.value)


def test_what_the_page_saves_is_read_back(sheet, tmp_path):
    files = [vote_file(tmp_path, sheet, r) for r in ("ann", "bo", "cy")]
    assert tuple(three(sheet)) == read_votes(sheet, files)


def test_a_filled_in_table_is_read_back(sheet, tmp_path):
    """A spreadsheet with semicolons, one name in the first row, and its own line ends."""
    import csv
    import io

    rows = list(csv.DictReader(io.StringIO(sheet_table(sheet).removeprefix("\ufeff"))))
    for row in rows:
        row["vote"] = "Yes "
    rows[0]["rater"] = "Ann Lee"
    rows[0]["rewrite"] = rows[0]["rewrite"].replace("\n", "\r\n")
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0].keys(), delimiter=";")
    writer.writeheader()
    writer.writerows(rows)
    path = tmp_path / "filled.csv"
    path.write_bytes(out.getvalue().encode("utf-8-sig"))
    votes = read_votes(sheet, [path])
    assert 6 * len(sheet.pairs) == len(votes)
    assert {"Ann Lee"} == {v.rater for v in votes}
    assert {"yes"} == {v.vote for v in votes}


def test_an_empty_vote_is_an_open_question(sheet, tmp_path):
    path = vote_file(tmp_path, sheet, "ann")
    lines = path.read_text(encoding="utf-8").replace('"yes"', '""', 1)
    path.write_text(lines, encoding="utf-8")
    assert 6 * len(sheet.pairs) - 1 == len(read_votes(sheet, [path]))


def test_a_changed_text_is_refused(sheet, tmp_path):
    path = vote_file(tmp_path, sheet, "ann")
    said = refused(sheet, path, sheet.pairs[0].rewrite_sha256, "0" * 64)
    assert "was rated with another text than the sheet's" in said


def test_a_text_changed_in_the_table_is_refused(sheet, tmp_path):
    path = tmp_path / "t.csv"
    text = sheet_table(sheet).replace("## Norms", "## Rules", 1)
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(PolicyError, match=r"line 2: the original of pair \w+ was changed in the"):
        read_votes(sheet, [path])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"p', '"q', "there is no pair 'q"),
        ("deontic_force", "deontic_farce", "did you mean 'deontic_force'?"),
        ('"yes"', '"maybe"', "'maybe' is not a vote; a vote is one of yes, no, unsure"),
        ('"ann"', '"=1+1"', "a rater's name begins with a letter or digit"),
    ],
)
def test_what_does_not_match_is_refused_by_line(sheet, tmp_path, old, new, words):
    path = vote_file(tmp_path, sheet, "ann", careless)
    assert words in refused(sheet, path, old, new)


def test_a_vote_on_another_sheet_is_refused(sheet, tmp_path):
    path = vote_file(tmp_path, sheet, "ann")
    assert "not on " + sheet.name in refused(sheet, path, sheet.name, "f" * 16)


def test_the_same_vote_twice_is_refused(sheet, tmp_path):
    path = vote_file(tmp_path, sheet, "ann")
    lines = path.read_text(encoding="utf-8").rstrip().split("\n")
    path.write_text("\n".join([*lines, lines[1]]), encoding="utf-8")
    with pytest.raises(PolicyError, match=rf"line {len(lines) + 1}: 'ann' voted twice on deontic"):
        read_votes(sheet, [path])


def test_a_rater_in_two_files_is_refused_however_the_name_is_spelt(sheet, tmp_path):
    a, b = (vote_file(tmp_path, sheet, r) for r in ("Ann  Lee", "ann lee"))
    with pytest.raises(PolicyError, match=r"rater 'ann lee' has voted already, in .*Ann  Lee"):
        read_votes(sheet, [a, b])


def test_all_faults_are_named_and_no_vote_is_taken(sheet, tmp_path):
    path = vote_file(tmp_path, sheet, "ann", careless)
    path.write_text(path.read_text(encoding="utf-8").replace('"yes"', '"si"'), encoding="utf-8")
    with pytest.raises(PolicyError) as e:
        read_votes(sheet, [path])
    n = 6 * len(sheet.pairs)
    assert f"{n} of the votes do not match the sheet; none was taken" in str(e.value)
    assert f"and {n - 10} more" in str(e.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("a,b\n1,2\n", "column 'sheet' is missing"),
        (
            'sheet,rater,pair,original_sha256,rewrite_sha256,dimension,vote\n"x,1\n',
            "line 2: not CSV",
        ),
        (
            "sheet,rater,pair,original_sha256,rewrite_sha256,dimension,vote\n1,2,3,4,5,6,7,8\n",
            "line 2: 8 cells under 7 columns",
        ),
    ],
)
def test_a_file_that_is_none_is_refused(sheet, tmp_path, text, words):
    path = tmp_path / "v.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError) as e:
        read_votes(sheet, [path])
    assert words in str(e.value)


# ---- what votes certify ----


def test_three_careful_raters_certify_every_rewrite(sheet):
    made = decide(sheet, three(sheet))
    assert [True] * 6 == [c.passed for c in made.certificates]
    assert {"human"} == {c.evidence for c in made.certificates}
    assert () == made.left_out


def test_two_raters_certify_nothing(sheet):
    votes = [v for v in three(sheet) if v.rater != "cy"]
    assert () == decide(sheet, votes).certificates


def test_a_rater_without_all_six_dimensions_does_not_count_on_a_pair(sheet):
    pair = next(p for p in sheet.pairs if p.planted is None)
    votes = [
        v for v in three(sheet) if (v.rater, v.pair, v.dimension) != ("cy", pair.id, "default_rule")
    ]
    made = decide(sheet, votes)
    by_pair = {p.pair.id: p for p in made.pairs}
    assert by_pair[pair.id].certificate is None
    assert 5 == len(made.certificates)


def test_a_failed_attention_check_takes_the_rater_out(sheet):
    votes = [v for v in three(sheet) if v.rater != "cy"] + votes_of(sheet, "cy", careless)
    made = decide(sheet, votes)
    planted = tuple(p.id for p in sheet.pairs if p.planted is not None)
    assert {"ann": (), "bo": (), "cy": planted} == made.failed
    assert ("cy",) == made.left_out
    assert () == made.certificates
    allowed = decide(sheet, votes, allow_failed=3)
    assert 6 == len(allowed.certificates)


def test_a_rater_who_skips_the_checks_does_not_count(sheet):
    planted = {p.id for p in sheet.pairs if p.planted is not None}
    votes = [v for v in three(sheet) if v.rater != "cy" or v.pair not in planted]
    assert ("cy",) == decide(sheet, votes).left_out


def test_one_no_fails_a_rewrite_unless_a_majority_is_enough(sheet):
    pair = next(p for p in sheet.pairs if p.planted is None)

    def doubts(p, d):
        return "no" if (p.id, d) == (pair.id, "scope") else careful(p, d)

    votes = [v for v in three(sheet) if v.rater != "cy"] + votes_of(sheet, "cy", doubts)
    made = {p.pair.id: p.certificate for p in decide(sheet, votes).pairs}[pair.id]
    assert made is not None
    assert not made.passed
    assert [("scope", "kept by 2 of 3 raters (1 no, 0 unsure)")] == [
        (f.dimension, f.what) for f in made.findings
    ]
    assert all(c.passed for c in decide(sheet, votes, rule="majority").certificates)


def test_unsure_is_not_yes(sheet):
    def unsure(p, d):
        return careful(p, d) if p.planted else "unsure"

    votes = three(sheet, unsure)
    assert not any(c.passed for c in decide(sheet, votes).certificates)
    assert not any(c.passed for c in decide(sheet, votes, rule="majority").certificates)


# ---- files, and certificates on renderings ----


def filed(sheet, path: Path, votes=None) -> Path:
    votes = tuple(three(sheet) if votes is None else votes)
    made = decide(sheet, votes).certificates
    save(CertificateFile(sheet=sheet, votes=votes, certificates=made), path)
    return path


def renderings(policy) -> tuple[Rendering, ...]:
    return tuple(render(policy, c) for c in ("base", "T0", "T1", "T2", "T3", "T4", "strict"))


def test_certificates_by_people_take_the_place_of_structural_ones(policy, sheet, tmp_path):
    held = load_certificates(filed(sheet, tmp_path / "c.json"))
    made = attach(renderings(policy), held)
    by = {r.condition: r for r in made}
    assert {"T1", "T2", "T3", "T4"} == {c for c, r in by.items() if r.certified_by == "human"}
    assert "structural" == by["T1"].others[0].evidence
    assert made == attach(made, held)


def test_a_changed_text_voids_its_certificate(policy, sheet, tmp_path):
    held = load_certificates(filed(sheet, tmp_path / "c.json"))
    from judgeaudit.core.hashing import sha256_text

    texts = list(renderings(policy))
    at = next(i for i, r in enumerate(texts) if r.condition == "T2")
    text = texts[at].text.replace("harm", "harms", 1)
    texts[at] = texts[at].model_copy(
        update={"text": text, "sha256": sha256_text(text), "certificate": None}
    )
    made = attach(texts, held)[at]
    assert not made.certified
    assert made.has_void
    assert made.certificate is not None
    assert made.certificate.rendering_sha256 != made.sha256


def test_a_changed_base_text_voids_every_certificate(policy, sheet, tmp_path):
    held = load_certificates(filed(sheet, tmp_path / "c.json"))
    texts = list(renderings(policy))
    texts[0] = texts[0].model_copy(update={"sha256": "0" * 64})
    assert not [r for r in attach(texts, held) if r.certified_by == "human"]


def test_certificates_that_do_not_follow_from_votes_are_refused(sheet, tmp_path):
    path = filed(sheet, tmp_path / "c.json", votes_of(sheet, "ann"))
    data = json.loads(path.read_text(encoding="utf-8"))
    assert [] == data["certificates"]
    good = json.loads(filed(sheet, tmp_path / "d.json").read_text(encoding="utf-8"))
    data["certificates"] = good["certificates"]
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(PolicyError, match="do not follow from the votes"):
        load_certificates(path)


def test_a_failed_certificate_cannot_be_turned_into_a_passed_one(sheet, tmp_path):
    def no(p, d):
        return careful(p, d) if p.planted else "no"

    path = filed(sheet, tmp_path / "c.json", three(sheet, no))
    text = path.read_text(encoding="utf-8").replace('"passed": false', '"passed": true')
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError, match="do not follow from the votes"):
        load_certificates(path)


@pytest.mark.parametrize(
    ("text", "words"),
    [("[]", "is no JSON object"), ("{", "not JSON"), ("{}", "is no file of certificates")],
)
def test_a_file_that_holds_no_certificates_is_refused(tmp_path, text, words):
    path = tmp_path / "c.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError, match=words):
        load_certificates(path)


def test_a_sheet_is_not_a_certificate(sheet, tmp_path):
    save(sheet, tmp_path / "key.json")
    with pytest.raises(PolicyError, match="a rating sheet without votes"):
        load_certificates(tmp_path / "key.json")


def test_two_sets_of_votes_on_one_text_are_refused(policy, sheet, tmp_path):
    a = load_certificates(filed(sheet, tmp_path / "a.json"))

    def no(p, d):
        return careful(p, d) if p.planted else "no"

    b = load_certificates(filed(sheet, tmp_path / "b.json", three(sheet, no)))
    with pytest.raises(PolicyError, match="two sets of votes certify the text of 'T1'"):
        attach(renderings(policy), [*a, *b])
