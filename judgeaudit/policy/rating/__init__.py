"""Certificates by people: rating sheets, votes, and what the votes certify."""

from judgeaudit.policy.rating.files import (
    CertificateFile,
    attach,
    load_certificates,
    load_sheet,
    save,
)
from judgeaudit.policy.rating.making import make_sheet, pairs_of_policy, write_sheet
from judgeaudit.policy.rating.records import DIMENSIONS, RatedPair, Sheet, Vote
from judgeaudit.policy.rating.tally import Decision, decide
from judgeaudit.policy.rating.votes import read_votes

__all__ = [
    "DIMENSIONS",
    "CertificateFile",
    "Decision",
    "RatedPair",
    "Sheet",
    "Vote",
    "attach",
    "decide",
    "load_certificates",
    "load_sheet",
    "make_sheet",
    "pairs_of_policy",
    "read_votes",
    "save",
    "write_sheet",
]
