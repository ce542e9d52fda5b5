"""A policy drafted by a model binds nobody until a person has confirmed it."""

from __future__ import annotations

from pydantic import ValidationError

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import Draft, Policy

__all__ = ["confirm", "refuse_unconfirmed", "why_unconfirmed"]


def why_unconfirmed(policy: Policy) -> str | None:
    """Say why a policy is not to be used as it stands; None where nothing is in the way."""
    draft = policy.draft
    if draft is None:
        return None
    if not draft.confirmed:
        return f"drafted by {draft.model} and confirmed by nobody"
    if draft.policy_sha256 != policy.sha256:
        return f"changed after {draft.confirmed_by} confirmed it"
    return None


def refuse_unconfirmed(policy: Policy) -> None:
    """Refuse a draft.

    Raises
    ------
    PolicyError
        If a model drafted the policy and no person confirmed it as it stands.
    """
    why = why_unconfirmed(policy)
    if why is not None:
        raise PolicyError(
            f"the policy {policy.id!r} was {why}",
            mend="Read it, then `judgeaudit policy confirm FILE --by NAME`; or audit with "
            "--unconfirmed, and the card will say so",
        )


def confirm(toml: str, policy: Policy, *, by: str, original: str | None, where: str) -> str:
    """Return the text of a policy's file with a person's confirmation in it.

    Parameters
    ----------
    toml : str
        The file's text; all but its `[draft]` table stays as it is.
    policy : Policy
        What it holds.
    by : str
        Name of the person.
    original : str, optional
        The text it was drafted from; must be that very text.

    Raises
    ------
    PolicyError
        If the name is none, the original is another text, or the table cannot be found.
    """
    from judgeaudit.policy.drafting import with_draft_table

    draft = policy.draft
    if draft is None:
        raise PolicyError("no model drafted it: there is nothing to confirm", where=where)
    if original is not None and sha256_text(original) != draft.source_sha256:
        raise PolicyError(
            "this is not the text that the policy was drafted from",
            where=where,
            mend="Name that text, or leave --source out",
        )
    if not by.strip():
        raise PolicyError("a confirmation needs a name", mend="Give yours with --by")
    try:
        made = Draft(
            confirmed=True,
            model=draft.model,
            source_sha256=draft.source_sha256,
            confirmed_by=by.strip(),
            policy_sha256=policy.sha256,
        )
    except ValidationError as e:
        raise PolicyError(f"{by!r} is no name: {e.errors()[0]['msg']}", where="--by") from None
    return with_draft_table(toml, made)
