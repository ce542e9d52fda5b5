"""One line where a request that is no HTTP would leave a traceback."""

from __future__ import annotations

import logging
from typing import Final

__all__ = ["quiet_logger"]

_LONGEST: Final = 160
_NAME: Final = "judgeaudit.serving.http"


class _OneLine(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        said = record.getMessage()
        if error is not None:
            # the class alone: its text repeats what the client sent, over several lines
            said = f"{said}: {type(error).__name__}"
        record.msg, record.args = " ".join(said.split())[:_LONGEST], ()
        record.exc_info, record.exc_text, record.stack_info = None, None, None
        return True


def quiet_logger() -> logging.Logger:
    """Return the logger of what a server finds wrong before a request is one: a short line each.

    Examples
    --------
    >>> quiet_logger().name
    'judgeaudit.serving.http'
    """
    logger = logging.getLogger(_NAME)
    if not any(isinstance(f, _OneLine) for f in logger.filters):
        logger.addFilter(_OneLine())
    return logger
