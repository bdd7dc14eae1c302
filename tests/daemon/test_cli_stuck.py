"""What ``runs show`` and ``audit facts`` say of a run whose handlers are asked, with no engine about."""

from __future__ import annotations

from midcourse.daemon.cli.render_facts import summary
from midcourse.daemon.cli.render_run import show_run
from midcourse.daemon.history import History
from midcourse.domain import facts as f
from midcourse.domain.evolve import evolve
from midcourse.domain.goal import Goal


def test_show_names_the_handler_that_is_asked_and_no_person() -> None:
    history = History("run")
    evolve(history.run, f.RunStarted(Goal("deliver"), "p"))
    evolve(history.run, f.RunStuck("no way"))
    evolve(history.run, f.ConsultationRequested("stuck/desk/1", "stuck", "desk", "no way"))
    shown = "\n".join(show_run(history))
    assert "no way; desk is asked" in shown
    assert "planning" in shown
    assert "Needs a person" not in shown


def test_a_fact_says_who_answered_what_it_set_and_why() -> None:
    said = summary(f.OpinionGiven("stuck/desk/1", "plan", "moved", by="desk", updates={"to": "Oslo"}))
    assert all(part in said for part in ("plan", "moved", "by=desk", "Oslo"))
