import subprocess
import sys

import midcourse
import midcourse.actors.testing
import midcourse.testing


def test_the_names_are_sorted_and_there() -> None:
    assert midcourse.__all__ == sorted(midcourse.__all__)
    assert [name for name in midcourse.__all__ if not hasattr(midcourse, name)] == []
    assert dir(midcourse) == midcourse.__all__


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    assert not hasattr(midcourse, "Motor")


def test_the_test_kit_has_a_public_name() -> None:
    kit = midcourse.actors.testing
    assert midcourse.testing.__all__ == kit.__all__
    assert [name for name in kit.__all__ if getattr(midcourse.testing, name) is not getattr(kit, name)] == []


def test_importing_the_face_imports_nothing_behind_it() -> None:
    code = "import sys, midcourse; print([name for name in sys.modules if name.startswith('midcourse.')])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
