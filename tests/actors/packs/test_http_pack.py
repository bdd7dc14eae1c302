"""The pack ``http``, against a real service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midcourse import Engine, Outcome, Plan, Step, ToolDefinitionError
from midcourse.actors.packs import http_pack
from midcourse.domain import facts as f
from midcourse.testing import wait_for_fact

from ...http_service import Reply, Service, http_service


@pytest.fixture
def service() -> Iterator[Service]:
    with http_service() as each:
        yield each


async def run(folder: Path, input: Any, **terms: Any) -> Outcome:
    tools = http_pack(**{"hosts": ["127.0.0.1"], **terms})
    async with Engine(f"sqlite:///{folder / 'runs.db'}", tools=tools) as engine:
        plan = Plan([Step("A", "builtin__http", input)])
        return await (await engine.start("it", plan=plan)).outcome(timeout_s=20)


async def test_a_read_returns_status_headers_and_body(tmp_path: Path, service: Service) -> None:
    service.answers(Reply(200, {"a": 1}, {"ETag": "x", "Set-Cookie": "secret=1"}))
    outcome = await run(
        tmp_path, {"url": f"{service.url}/a?b=1", "query": {"c": [2, 3]}, "headers": {"X": "y"}}
    )
    assert outcome.result == {
        "status": 200, "headers": {"content-type": "application/json", "etag": "x"}, "body": {"a": 1}
    }  # fmt: skip
    [call] = service.calls
    assert (call.method, call.query, call.headers["x"]) == ("GET", [("b", "1"), ("c", "2"), ("c", "3")], "y")
    assert "idempotency-key" not in call.headers


async def test_other_methods_have_to_be_enabled_and_are_effects(tmp_path: Path, service: Service) -> None:
    post = {"url": service.url, "method": "POST", "json": {"a": 1}}
    refused = await run(tmp_path, post)
    assert refused.failure is not None
    assert refused.failure.message == "method POST is not enabled; allowed are GET, HEAD"
    await run(tmp_path, post, methods=["GET", "POST"])
    [call] = service.calls
    assert json.loads(call.body) == {"a": 1}
    assert call.headers["idempotency-key"].startswith("builtin__http:")


@pytest.mark.parametrize(
    ("methods", "effect", "idempotent"),
    [(["GET"], "read", False), (["GET", "PUT"], "irreversible", True), (["POST"], "irreversible", False)],
)
def test_the_effect_is_that_of_the_methods(methods: Any, effect: str, idempotent: bool) -> None:
    [tool] = http_pack(hosts=["x"], methods=methods)
    assert (tool.spec.effect, tool.spec.idempotent or effect == "read") == (
        effect,
        idempotent or effect == "read",
    )


async def test_an_effect_without_an_answer_is_unknown(tmp_path: Path, service: Service) -> None:
    service.answers(Reply(how="hang_up"))
    tools = http_pack(hosts=["*"], methods=["POST"])
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=tools) as engine:
        plan = Plan([Step("A", "builtin__http", {"url": service.url, "method": "POST", "text": "x"})])
        await wait_for_fact(await engine.start("it", plan=plan), f.OutcomeUnknown)
    assert len(service.calls) == 1


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://localhost:1/x", "host 'localhost:1' is not enabled; allowed are 127.0.0.1"),
        ("http://127.0.0.1.evil.com/x", "is not enabled"),
        ("http://127.0.0.1@evil.com/x", "may not hold a password"),
        ("http://evil.com\\@127.0.0.1/x", ""),
        ("file:///etc/passwd", "begins with http:// or https:// and a host"),
        ("/x", "begins with http:// or https:// and a host"),
        ("http://[x/", "is not enabled"),
    ],
)
async def test_only_hosts_that_were_named_are_called(tmp_path: Path, url: str, problem: str) -> None:
    outcome = await run(tmp_path, {"url": url})
    assert outcome.failure is not None
    assert problem in outcome.failure.message


async def test_a_host_with_a_port_means_that_port(tmp_path: Path, service: Service) -> None:
    port = service.url.rpartition(":")[2]
    assert (await run(tmp_path, {"url": service.url}, hosts=[f"127.0.0.1:{port}"])).status == "completed"
    assert (await run(tmp_path, {"url": service.url}, hosts=["127.0.0.1:1"])).status == "failed"


async def test_a_request_has_one_body(tmp_path: Path, service: Service) -> None:
    input = {"url": service.url, "json": {}, "text": "x"}
    outcome = await run(tmp_path, input)
    assert outcome.failure is not None
    assert outcome.failure.message == "json and text exclude each other; a request has one body"


async def test_other_statuses_can_be_success(tmp_path: Path, service: Service) -> None:
    service.answers(Reply(404, "none"))
    assert (await run(tmp_path, {"url": service.url, "ok": [404]})).result["status"] == 404


@pytest.mark.parametrize(
    ("terms", "problem"),
    [
        ({"hosts": []}, "hosts names the hosts"),
        ({"hosts": "x"}, "hosts names the hosts"),
        ({"hosts": ["x"], "methods": ["POTS"]}, "methods has 'POTS'; allowed are GET"),
        ({"hosts": ["x"], "methods": []}, "allowed are GET"),
    ],
)
def test_a_pack_that_cannot_work_is_refused(terms: Any, problem: str) -> None:
    with pytest.raises(ToolDefinitionError, match=problem):
        http_pack(**terms)
