"""The shapes of results, where the store that a command means has any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .output import note
from .session import Session, wait_for

if TYPE_CHECKING:
    from ...domain.shapes import Shape


def shapes_in(session: Session) -> dict[str, Shape]:
    """Return what was seen of the results of tools, by full name; nothing if there is no store yet."""
    from ...store import StoreError, StoreMissingError
    from ..errors import ConfigError
    from ..shapes import observed_shapes

    try:
        with session.read() as journal:
            return wait_for(observed_shapes(journal))
    except StoreMissingError:
        return {}
    except (StoreError, ConfigError) as error:
        note(f"Results of tools are not looked at: {error}")
        return {}
