"""A gate's files and messages for machines, written after its verdict was said."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgeaudit.watch.gating import GateResult
    from judgeaudit.watch.webhook import Target

__all__ = ["Reports"]


@dataclass(frozen=True, slots=True)
class Reports:
    """Where a gate's result is wanted beside standard output.

    Parameters
    ----------
    junit, jsonl, prometheus, sarif, markdown : path, optional
        Files.
    webhook : str, optional
        An address, `env:NAME`, or a file.
    token_env : str, optional
        Variable of the webhook's token.
    config : path, optional
        The gate.toml, whose lines SARIF points at.
    github : bool
        Whether GitHub is told.
    """

    junit: Path | None = None
    jsonl: Path | None = None
    prometheus: Path | None = None
    sarif: Path | None = None
    markdown: Path | None = None
    webhook: str | None = None
    token_env: str | None = None
    config: Path | None = None
    github: bool = False

    def target(self) -> Target | None:
        """Check the webhook before anything is decided; None: there is none, or it is a file.

        Raises
        ------
        ConfigError
            If it cannot be used.
        """
        from judgeaudit.core.errors import ConfigError
        from judgeaudit.watch.webhook import target_of

        if self.webhook is not None and not self.webhook.strip():
            raise ConfigError(
                "--webhook is empty",
                mend="Give an address, env:NAME or a file, or leave it out",
            )
        if self.webhook is None:
            if self.token_env is not None:
                raise ConfigError("--webhook-token-env goes with --webhook URL")
            return None
        return target_of(self.webhook, self.token_env)

    def check(self, target: Target | None, *inputs: Path | None) -> None:
        """Refuse files that would replace each other, or what is read.

        Raises
        ------
        ConfigError
            Before anything is decided.
        """
        from judgeaudit.cli._reports_paths import distinct, inputs_of

        named = {
            "--junit": self.junit,
            "--sarif": self.sarif,
            "--jsonl": self.jsonl,
            "--prometheus": self.prometheus,
            "--markdown": self.markdown,
            "--webhook": self._file(target),
        }
        distinct(named, inputs_of(*inputs, self.config))

    def _file(self, target: Target | None) -> Path | None:
        return Path(self.webhook) if self.webhook is not None and target is None else None

    def write(self, found: GateResult, target: Target | None) -> list[str]:
        """Write each, whatever became of the others; return a line a file that is not there."""
        from judgeaudit.watch import outputs, webhook
        from judgeaudit.watch.sarif import sarif
        from judgeaudit.watch.words import of_gate

        file = self._file(target)
        wanted: tuple[tuple[Path | None, Callable[[], str]], ...] = (
            (self.junit, lambda: outputs.junit(found)),
            (self.jsonl, lambda: outputs.json_lines(found)),
            (self.prometheus, lambda: outputs.prometheus(found)),
            (self.sarif, lambda: sarif(found, self.config)),
            (self.markdown, lambda: of_gate(found, md=True) + "\n"),
            (file, lambda: webhook.payload(found)),
        )
        troubles = [
            said
            for path, make in wanted
            if path is not None and (said := _written(path, make, "w")) is not None
        ]
        summary = os.environ.get("GITHUB_STEP_SUMMARY")
        if self.github and summary:
            said = _written(Path(summary), lambda: of_gate(found, md=True) + "\n", "a")
            troubles += [said] if said is not None else []
        return troubles


def _written(path: Path, make: Callable[[], str], mode: str) -> str | None:
    try:
        text = make()
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        return f"{path}: cannot be written ({error.strerror or error})"
    return None
