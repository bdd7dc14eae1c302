"""`python -m midcourse.examples.order`: the demo without the command line tool."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from midcourse import MidcourseError
from midcourse.examples.order.demo import PLANNERS, VARIANTS, run


def main() -> int:
    """Read the arguments and run the demo."""
    parser = argparse.ArgumentParser(prog="python -m midcourse.examples.order", description=__doc__)
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep everything here; go on with what is here"
    )
    parser.add_argument("--planner", choices=PLANNERS, default="goap")
    parser.add_argument("--variant", choices=VARIANTS, default="all")
    parser.add_argument("--pace", type=float, metavar="SECONDS", help="between the facts shown")
    parser.add_argument("--json", action="store_true", help="print one JSON document at the end")
    given = parser.parse_args()
    try:
        return run(
            keep=given.keep,
            planner=given.planner,
            variant=given.variant,
            pace_s=given.pace,
            as_json=given.json,
            program=str(Path(sys.executable).with_name("midcourse")),
        )
    except MidcourseError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
