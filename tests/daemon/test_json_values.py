"""JSON on a command line."""

import click
import pytest

from midcourse.daemon.cli.options import JsonValue


@pytest.mark.parametrize("text", ['{"n": 1, "n": 2}', '{"a": [{"n": 1, "n": 1}]}'])
def test_a_key_that_is_there_twice_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="the key 'n' is there twice; write it once"):
        JsonValue().convert(text, None, None)


def test_the_same_key_in_two_objects_is_no_problem() -> None:
    assert JsonValue().convert('[{"n": 1}, {"n": {"n": 2}}]', None, None) == [{"n": 1}, {"n": {"n": 2}}]
