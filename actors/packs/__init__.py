"""Tools that come with Midcourse, in packs: ``Engine(store, tools=[*data_pack(), *files_pack("files")])``.

A pack is handed to an engine, or enabled in the configuration; none is there by itself, because what a plan
may reach is for whoever runs it to say.
"""

from .data import data_pack
from .exec import exec_pack
from .files import files_pack
from .http import http_pack

__all__ = ["data_pack", "exec_pack", "files_pack", "http_pack"]
