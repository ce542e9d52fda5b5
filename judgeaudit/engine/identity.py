"""What a run is, and in what exactly two runs differ."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import LedgerError
from judgeaudit.core.hashing import canonical_json, sha256_text
from judgeaudit.core.records import CorpusFacts, JudgeSpec, PolicyFacts, Protocol, Rendering

__all__ = ["RunMeta", "differences", "refuse"]

_SHOWN: Final = 8


@dataclass(frozen=True, slots=True)
class RunMeta:
    """Everything that a ledger keeps of a run beside items, calls and answers.

    Parameters
    ----------
    protocol, judge, policy, corpus
        See their records.
    renderings : tuple of Rendering
        With texts and certificates.
    template : str
        Text of the judge's prompt template.
    versions : dict of str to str
        Software versions; a later session may have others.
    created : str
        ISO 8601, UTC.
    extra : dict
        Anything else that is needed to rebuild prompts (a fence key); JSON-like.
    """

    protocol: Protocol
    judge: JudgeSpec
    policy: PolicyFacts
    renderings: tuple[Rendering, ...]
    corpus: CorpusFacts
    template: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    created: str = ""
    extra: dict[str, Any] = field(default_factory=dict)

    def to_rows(self) -> list[tuple[str, str]]:
        """Return (key, canonical JSON) pairs; the rendering texts included."""
        return [
            ("protocol", canonical_json(self.protocol)),
            ("judge", canonical_json(self.judge)),
            ("policy", canonical_json(self.policy)),
            ("corpus", canonical_json(self.corpus)),
            ("renderings", canonical_json([r.model_dump(mode="json") for r in self.renderings])),
            ("template", canonical_json(self.template)),
            ("versions", canonical_json(self.versions)),
            ("created", canonical_json(self.created)),
            ("extra", canonical_json(self.extra)),
        ]

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> RunMeta:
        """Rebuild from parsed `meta` rows."""
        return cls(
            protocol=Protocol.model_validate(values["protocol"]),
            judge=JudgeSpec.model_validate(values["judge"]),
            policy=PolicyFacts.model_validate(values["policy"]),
            renderings=tuple(Rendering.model_validate(r) for r in values["renderings"]),
            corpus=CorpusFacts.model_validate(values["corpus"]),
            template=values["template"],
            versions=values["versions"],
            created=values["created"],
            extra=values["extra"],
        )

    def identity(self) -> dict[str, Any]:
        """Return all that must be the same for a run to be continued, by dotted name.

        Titles and summaries are left out: an upgrade that words them better must not make
        anybody pay twice.
        """
        p = self.protocol.model_dump(mode="json", exclude={"preset", "conditions"})
        out: dict[str, Any] = {f"protocol.{k}": v for k, v in p.items()}
        out["protocol.conditions"] = [c.id for c in self.protocol.conditions]
        for c in self.protocol.conditions:
            out[f"condition {c.id}.kind"] = c.kind
            out[f"condition {c.id}.side"] = c.side
            out[f"condition {c.id}.moves"] = list(c.moves)
        for k, v in self.judge.model_dump(mode="json", exclude={"decoding"}).items():
            out[f"judge.{k}"] = v
        for k, v in self.judge.decoding.items():
            out[f"judge.decoding.{k}"] = v
        out |= {f"policy.{k}": getattr(self.policy, k) for k in ("id", "sha256", "language")}
        for r in self.renderings:
            out[f"rendering {r.condition}/{r.wording}.sha256"] = r.sha256
        out |= {f"corpus.{k}": getattr(self.corpus, k) for k in ("name", "subset", "n_items")}
        out["corpus.sha256"] = self.corpus.sha256
        out["template.sha256"] = sha256_text(self.template)
        if "retry_truncated" in self.extra:
            out["retry_truncated"] = self.extra["retry_truncated"]
        if cut := self.extra.get("too_long"):
            out["too_long"] = f"{cut['policy']} at {cut['limit']} tokens"
        return out


def differences(old: RunMeta, new: RunMeta) -> list[str]:
    """List in words what differs, as `name: old → new`."""
    a, b = old.identity(), new.identity()
    out = []
    for name in dict.fromkeys([*a, *b]):
        if name not in a:
            out.append(f"{name}: not there → {b[name]!r}")
        elif name not in b:
            out.append(f"{name}: {a[name]!r} → not there")
        elif a[name] != b[name]:
            out.append(f"{name}: {a[name]!r} → {b[name]!r}")
    return out


def refuse(path: Path, found: list[str]) -> LedgerError:
    """Word the refusal to continue a ledger of another run."""
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return LedgerError(
        f"this ledger belongs to another run: {'; '.join(found[:_SHOWN])}{more}",
        where=str(path),
        mend="Choose another output folder, or go back to the settings that the ledger was made "
        "with",
    )
