"""Times as they are shown."""

import pytest

from midcourse.daemon.cli.moments import parse_moment, show_moment


@pytest.mark.parametrize("at", [0.0, 1796128609.5])
def test_a_time_is_shown_as_it_is_read(at: float) -> None:
    assert parse_moment(show_moment(at, fine=True), now=0.0) == at


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        (1e300, "1e+300 s after 1970"),
        (-1e300, "-1e+300 s after 1970"),
        (253402383599.0, "2.53402e+11 s after 1970"),
    ],
)
def test_a_time_that_no_calendar_has_is_shown_in_seconds(at: float, shown: str) -> None:
    assert show_moment(at) == shown
