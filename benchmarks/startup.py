"""How long does ``midcourse --help`` take, against a Python that does nothing?

All modules are compiled before, as they are after an installation.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

from _bench import emit, median, parse, parser, scratch

COMMANDS = {
    "midcourse --help": [str(Path(sysconfig.get_path("scripts")) / "midcourse"), "--help"],
    "import midcourse": [sys.executable, "-c", "import midcourse"],
    "python -c pass": [sys.executable, "-c", "pass"],
}


def took_ms(command: list[str], environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return (time.perf_counter() - start) * 1000


def main() -> None:
    options = parse(parser(__doc__, size=1, unit="not used", rounds=25), quick_size=1)
    each: dict[str, list[float]] = {name: [] for name in COMMANDS}
    with scratch(options) as folder:
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(folder)
        for command in COMMANDS.values():
            took_ms(command, environment)  # compiles
        for _ in range(options.rounds):
            for name, command in COMMANDS.items():
                each[name].append(took_ms(command, environment))
    for name, times in each.items():
        emit("startup", name, options, wall_ms=median(times), fastest_ms=min(times), slowest_ms=max(times))


if __name__ == "__main__":
    main()
