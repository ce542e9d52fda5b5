"""The texts of an audit: renderings of a policy, or the user's own; and who certified them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgeaudit.core.records import AuditSpec, Policy, Rendering
from judgeaudit.engine.presets import PRESETS

if TYPE_CHECKING:
    from judgeaudit.engine.identity import RunMeta
    from judgeaudit.policy.rewrites import OwnRewrites

__all__ = ["certified", "drafted", "own_conditions", "own_texts", "uncertified"]


def own_texts(spec: AuditSpec) -> OwnRewrites | None:
    """Load the user's own rewrites; None where the audit renders a policy.

    Raises
    ------
    PolicyError
        If a text, or the policy that they are to be read back against, cannot be used.
    """
    from judgeaudit.policy import load_policy
    from judgeaudit.policy.rewrites import load_rewrites

    if spec.rewrites is None:
        return None
    # the default policy is nothing that the user said of these texts
    named = "policy" in spec.model_fields_set
    return load_rewrites(spec.rewrites, policy=load_policy(spec.policy) if named else None)


def own_conditions(own: OwnRewrites, spec: AuditSpec) -> tuple[str, ...] | None:
    """Choose the conditions of an audit of the user's own texts.

    Without a choice: those of the preset that have a text, and all that only the user has.
    """
    preset = PRESETS.get(spec.preset or "default")
    if spec.conditions is not None or preset is None:
        return spec.conditions
    shipped = {c for p in PRESETS.values() for c in p.conditions}
    return tuple(c.id for c in own.conditions if c.id in preset.conditions or c.id not in shipped)


def certified(renderings: Sequence[Rendering], paths: Sequence[Path]) -> tuple[Rendering, ...]:
    """Put the certificates of all files on the renderings to whose texts they are bound.

    Raises
    ------
    PolicyError
        If a file cannot be read, or does not follow from the votes or answers in it.
    """
    from judgeaudit.policy.rating import attach, load_certificates

    return attach(renderings, [h for path in paths for h in load_certificates(path)])


def drafted(policy: Policy | None) -> dict[str, str]:
    """Return what a run must remember of its policy.

    That nobody confirmed it, or that it was edited and kept the id of one that ships. Neither is
    part of what a run is: the policy's hash is.
    """
    from judgeaudit.policy.confirming import why_unconfirmed
    from judgeaudit.policy.loading import is_edited

    if policy is None:
        return {}
    why = why_unconfirmed(policy)
    found = {} if why is None else {"unconfirmed_policy": why}
    return found | ({"edited_policy": policy.id} if is_edited(policy) else {})


def uncertified(meta: RunMeta, renderings: Sequence[Rendering]) -> frozenset[str]:
    """Return the conditions that are scored but not pooled: no certificate of theirs passed.

    Of imported verdicts the texts may not be known at all; then nothing is certified, unless
    whoever imported them said that it is.

    Parameters
    ----------
    meta : RunMeta
        What the run is.
    renderings : sequence of Rendering
        Its texts, with the certificates that count.
    """
    failed = {r.condition for r in renderings if not r.certified}
    imported = meta.extra.get("imported")
    if imported is None:
        return frozenset(failed)
    if imported.get("assume_certified"):
        return frozenset()
    sure = {r.condition for r in renderings} - failed
    bare = {c.id for c in meta.protocol.conditions if c.kind == "certified"} - sure
    return frozenset(failed | bare)
