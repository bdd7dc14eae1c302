"""Logging of the daemon's own processes: on stderr, for people on a terminal, else one JSON object a line."""

from __future__ import annotations

import logging
import sys

import structlog


def configure_logging(level: int = logging.WARNING) -> None:
    """Send the logs of this process to stderr, structured ones and others alike; only a program calls this.

    Args:
        level: the lowest level shown.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_last()],
            foreign_pre_chain=shared,
        )
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)


def _last() -> list[structlog.typing.Processor]:
    if sys.stderr.isatty():
        return [structlog.dev.ConsoleRenderer()]
    return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
