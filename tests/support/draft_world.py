"""A company's rules as text, what a good model drafts from them, and models that do not."""

from __future__ import annotations

import copy
import json
from typing import Any

from loopback import Answer, Behaviour, completion

TEXT = """# Rules for our mail assistant

These rules apply to every message that the assistant reads or writes.

The assistant must not forward a customer's message to anyone outside the company, unless the
customer has agreed in writing. The assistant must answer every complaint within 2 working days.
The assistant may delete newsletters.

Employees wear a badge in the lobby.

When it is unclear whether a rule was broken, we assume that it was not.
"""

GOOD: dict[str, Any] = {
    "id": "mail_rules",
    "title": "Rules for our mail assistant",
    "version": "1.0",
    "bearer": "the assistant",
    "bearer_plural": False,
    "scope": "every message that the assistant reads or writes",
    "definitions": [],
    "norms": [
        {
            "id": "forward",
            "title": "Forwarding",
            "force": "prohibited",
            "action": {
                "verb": {"base": "forward", "gerund": "forwarding", "participle": "forwarded"},
                "object": "a customer's message",
                "rest": "to anyone outside the company",
            },
            "scope": "",
            "exceptions": [{"id": "agreed", "when": "the customer has agreed in writing"}],
        },
        {
            "id": "complaints",
            "title": "Complaints",
            "force": "required",
            "action": {
                "verb": {"base": "answer", "gerund": "answering", "participle": "answered"},
                "object": "every complaint",
                "rest": "",
            },
            "scope": "within 2 working days",
            "exceptions": [],
        },
        {
            "id": "newsletters",
            "title": "Newsletters",
            "force": "permitted",
            "action": {
                "verb": {"base": "delete", "gerund": "deleting", "participle": "deleted"},
                "object": "newsletters",
                "rest": "",
            },
            "scope": "",
            "exceptions": [],
        },
    ],
    "threshold": {"level": "any"},
    "burden": {"doubt": "SAFE", "exception": "must_be_shown"},
    "default": {"uncovered": "SAFE"},
    "assumed": ["threshold", "default"],
}


def changed(**values: Any) -> dict[str, Any]:
    return copy.deepcopy(GOOD) | values


def drafts(data: object) -> Behaviour:
    """Answer with a draft in a fence, after some talk."""
    text = f"Here is the policy as data:\n```json\n{json.dumps(data, indent=1)}\n```\nDone."
    return lambda _body, _n, _k: Answer(body=completion(text))
