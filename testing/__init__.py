"""The test kit under its public name; see `midcourse.actors.testing`."""

from ..actors.testing import *  # noqa: F403 - the same names
from ..actors.testing import __all__ as __all__
