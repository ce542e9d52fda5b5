"""A policy drafted by a model binds nobody until a person has confirmed it."""

from __future__ import annotations

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.records import Policy

__all__ = ["refuse_unconfirmed", "why_unconfirmed"]


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
