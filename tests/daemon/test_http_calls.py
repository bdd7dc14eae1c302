"""HTTP calls declared in the configuration, against a real service."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import msgspec
import pytest

from midcourse import Engine, Outcome, Plan, Step, Tool, ToolDefinitionError
from midcourse.daemon.http_calls import HttpCall, http_tool
from midcourse.domain import facts as f
from midcourse.domain.retry import RetryPolicy
from midcourse.testing import wait_for_fact

from ..http_service import Reply, Service, http_service

AT_ONCE = {"initial_s": 0.001}


@pytest.fixture
def service() -> Iterator[Service]:
    with http_service() as each:
        yield each


def declared(**fields: Any) -> HttpCall:
    return msgspec.convert(fields, HttpCall)


def made(service: Service, path: str = "/it", name: str = "it", **fields: Any) -> Tool:
    return http_tool(name, declared(url=service.url + path, **fields))


async def run_once(tmp_path: Path, *tools: Tool, **input: Any) -> Outcome:
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=tools) as engine:
        run = await engine.start("it", plan=Plan([Step("A", "it", input)]))
        return await run.outcome(timeout_s=20)


async def test_arguments_go_into_address_query_headers_and_body(tmp_path: Path, service: Service) -> None:
    tool = made(
        service, "/users/{{user}}/notes?v=1", method="POST",
        args={"user": "string", "tags": "array", "n": "integer"},
        query={"tag": "{{tags}}", "empty": "", "n": "{{n}}"}, headers={"X-User": "user {{user}}"},
        json={"text": "hello {{user}}", "count": "{{n}}"},
    )  # fmt: skip
    outcome = await run_once(tmp_path, tool, user="a/b c", tags=["x", "y"], n=3)
    [call] = service.calls
    assert outcome.result == {"ok": True}
    assert (call.method, call.path) == ("POST", "/users/a%2Fb%20c/notes")
    assert call.query == [("v", "1"), ("tag", "x"), ("tag", "y"), ("n", "3")]
    assert call.headers["x-user"] == "user a/b c"
    assert json.loads(call.body) == {"text": "hello a/b c", "count": 3}


@pytest.mark.parametrize(
    ("body", "kind", "sent"),
    [
        ({"form": {"a": "{{a}}", "b": 1}}, "application/x-www-form-urlencoded", b"a=x+y&b=1"),
        ({"text": "<{{a}}>"}, "text/plain; charset=utf-8", b"<x y>"),
    ],
)
async def test_other_bodies(tmp_path: Path, service: Service, body: Any, kind: str, sent: bytes) -> None:
    await run_once(tmp_path, made(service, method="PUT", args={"a": "string"}, **body), a="x y")
    assert (service.calls[0].headers["content-type"], service.calls[0].body) == (kind, sent)


@pytest.mark.parametrize("effect", ["irreversible", "read"])
async def test_the_operation_key_goes_with_an_effect(tmp_path: Path, service: Service, effect: str) -> None:
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[made(service, effect=effect)]) as engine:
        run = await engine.start("it", plan=Plan([Step("A", "it")]))
        started = await wait_for_fact(run, f.StepStarted)
        await run.outcome(timeout_s=20)
    key = service.calls[0].headers.get("idempotency-key")
    assert key == (started.fact.operation if effect == "irreversible" else None)


async def test_the_name_of_the_key_header_can_be_chosen(tmp_path: Path, service: Service) -> None:
    await run_once(tmp_path, made(service, method="POST", key_header="X-Key"))
    assert service.calls[0].headers["x-key"].startswith("user__it:")
    await run_once(tmp_path, made(service, method="POST", key_header=""))
    assert [name for name in service.calls[1].headers if "key" in name] == []


@pytest.mark.parametrize(
    ("output", "reply", "result"),
    [
        ("body", Reply(body="plain"), "plain"),
        ("body", Reply(204), None),
        ("body", Reply(body='{"a": 1}', headers={"Content-Type": "application/problem+json"}), {"a": 1}),
        ("json", Reply(body='{"a": 1}'), {"a": 1}),
        ("text", Reply(body={"a": 1}), '{"a":1}'),
        (
            "response",
            Reply(201, {"a": 1}, {"ETag": "7", "X-Other": "no"}),
            {"status": 201, "headers": {"etag": "7"}, "body": {"a": 1}},
        ),
    ],
)
async def test_output(tmp_path: Path, service: Service, output: str, reply: Reply, result: Any) -> None:
    service.answers(reply)
    more: Any = {"response_headers": ["ETag", "X-None"]} if output == "response" else {}
    assert (await run_once(tmp_path, made(service, output=output, effect="read", **more))).result == result


async def test_other_statuses_can_be_success(tmp_path: Path, service: Service) -> None:
    service.answers(Reply(404, {"found": False}))
    assert (await run_once(tmp_path, made(service, ok=[200, 404]))).result == {"found": False}


async def test_a_secret_is_sent_and_never_recorded(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAY_TOKEN", "s3cr3t")
    service.answers(Reply(200, {"you sent": ["Bearer s3cr3t"]}), Reply(403, "who is s3cr3t?"))
    tool = made(
        service, method="POST", headers={"Authorization": {"env": "PAY_TOKEN", "prefix": "Bearer "}},
        query={"key": {"env": "PAY_TOKEN"}},
    )  # fmt: skip
    outcome = await run_once(tmp_path, tool)
    assert service.calls[0].headers["authorization"] == "Bearer s3cr3t"
    assert service.calls[0].query == [("key", "s3cr3t")]
    assert outcome.result == {"you sent": ["Bearer [PAY_TOKEN]"]}
    refused = await run_once(tmp_path, tool)
    assert refused.failure is not None
    assert refused.failure.message.endswith("403 Forbidden: who is [PAY_TOKEN]?")
    files = [path.read_bytes() for path in tmp_path.glob("runs.db*")]
    assert [content for content in files if b"s3cr3t" in content] == []


async def test_a_secret_that_is_not_there_fails_before_anything_is_sent(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PAY_TOKEN", raising=False)
    outcome = await run_once(tmp_path, made(service, headers={"X": {"env": "PAY_TOKEN"}}))
    assert outcome.failure is not None
    assert outcome.failure.message == (
        "the environment variable PAY_TOKEN is not set, which 'X' is to come from"
    )
    assert service.calls == []


@pytest.mark.parametrize("fields", [{}, {"idempotent": True}, {"effect": "read"}])
async def test_an_answer_4xx_is_a_failure_for_good_with_what_it_said(
    tmp_path: Path, service: Service, fields: Any
) -> None:
    service.answers(Reply(422, {"error": "no such currency"}))
    outcome = await run_once(tmp_path, made(service, method="POST", **fields))
    assert outcome.failure is not None
    assert outcome.failure.message == (
        f'POST {service.url}/it was answered with 422 Unprocessable Entity: {{"error":"no such currency"}}'
    )
    assert len(service.calls) == 1


@pytest.mark.parametrize("effect", ["irreversible", "read"])
@pytest.mark.parametrize(
    "busy",
    [
        Reply(429, headers={"Retry-After": "0"}),
        Reply(503, headers={"Retry-After": formatdate(0, usegmt=True)}),
    ],
)
async def test_a_service_that_is_busy_is_asked_again_when_it_says(
    tmp_path: Path, service: Service, effect: str, busy: Reply
) -> None:
    service.answers(busy, busy, Reply(200, "done"))
    outcome = await run_once(
        tmp_path, made(service, method="POST", effect=effect, retry={"initial_s": 1000.0})
    )
    assert outcome.result == "done"
    assert len(service.calls) == 3


async def test_the_wait_that_a_service_asks_for_is_that_of_the_run(tmp_path: Path, service: Service) -> None:
    service.answers(Reply(429, headers={"Retry-After": "3600"}))
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[made(service, method="POST")]) as engine:
        run = await engine.start("it", plan=Plan([Step("A", "it")]))
        failed = await wait_for_fact(run, f.AttemptFailed)
        await run.cancel("that is too long")
    assert round(failed.fact.retry_at - failed.at) == 3600


@pytest.mark.parametrize(
    "reply", [Reply(500), Reply(503), Reply(how="hang_up"), Reply(body="abcd", how="half")]
)
async def test_an_effect_without_a_plain_answer_is_unknown(
    tmp_path: Path, service: Service, reply: Reply
) -> None:
    service.answers(reply)
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[made(service, method="POST")]) as engine:
        run = await engine.start("it", plan=Plan([Step("A", "it")]))
        unknown = await wait_for_fact(run, f.OutcomeUnknown)
    assert f"POST {service.url}/it" in unknown.fact.why
    assert len(service.calls) == 1


async def test_an_effect_that_is_not_answered_in_time_is_unknown(tmp_path: Path, service: Service) -> None:
    service.answers(Reply(how="hang"))
    tool = made(service, method="POST", timeout_s=0.5)
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[tool]) as engine:
        run = await engine.start("it", plan=Plan([Step("A", "it")]))
        await wait_for_fact(run, f.OutcomeUnknown)
    assert len(service.calls) == 1


@pytest.mark.parametrize("reply", [Reply(500), Reply(how="hang_up"), Reply(body="abcd", how="half")])
@pytest.mark.parametrize("fields", [{"effect": "read"}, {"idempotent": True}])
async def test_what_may_be_repeated_is_tried_again_with_the_same_key(
    tmp_path: Path, service: Service, reply: Reply, fields: Any
) -> None:
    service.answers(reply, Reply(200, "done"))
    outcome = await run_once(tmp_path, made(service, method="POST", retry=AT_ONCE, **fields))
    assert outcome.result == "done"
    keys = [call.headers.get("idempotency-key") for call in service.calls]
    assert (len(keys), len(set(keys))) == (2, 1)


async def test_a_refusal_after_a_lost_answer_does_not_make_it_failed(
    tmp_path: Path, service: Service
) -> None:
    service.answers(Reply(how="hang_up"), Reply(409, "it is there already"))
    tool = made(service, method="POST", idempotent=True, retry=AT_ONCE)
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[tool]) as engine:
        run = await engine.start("it", plan=Plan([Step("A", "it")]))
        await wait_for_fact(run, f.OutcomeUnknown)
    assert len(service.calls) == 2


async def test_what_fails_before_it_is_sent_does_not_speak_for_what_was_sent_before(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAY_TOKEN", "s3cr3t")
    service.answers(Reply(how="hang_up"))
    secret = {"X": {"env": "PAY_TOKEN"}}
    service.on_call = lambda: monkeypatch.delenv("PAY_TOKEN")
    tool = made(service, method="POST", idempotent=True, headers=secret, retry=AT_ONCE)
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[tool]) as engine:
        run = await engine.start("it", plan=Plan([Step("A", "it")]))
        await wait_for_fact(run, f.OutcomeUnknown)
    assert len(service.calls) == 1


async def test_a_service_can_say_that_nothing_happened(tmp_path: Path, service: Service) -> None:
    service.answers(Reply(500), Reply(200, "done"))
    outcome = await run_once(tmp_path, made(service, method="POST", no_effect=[500], retry=AT_ONCE))
    assert outcome.result == "done"


async def test_what_could_not_be_sent_is_tried_again_and_failed_in_the_end(tmp_path: Path) -> None:
    with socket.socket() as nobody:  # it has an address and does not listen
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/it"
        retry = RetryPolicy(max_attempts=2, initial_s=0.001)
        outcome = await run_once(tmp_path, http_tool("it", HttpCall(url=url, method="POST", retry=retry)))
    assert outcome.failure is not None
    assert outcome.failure.message.startswith(f"POST {url} was not sent: ")


@pytest.mark.parametrize("status", [302, 308])
async def test_redirects_are_not_followed_and_say_where_to(
    tmp_path: Path, service: Service, status: int
) -> None:
    service.answers(Reply(status, headers={"Location": "/other"}))
    outcome = await run_once(tmp_path, made(service, effect="read"))
    assert outcome.failure is not None
    assert "it is at /other, and redirects are not followed; write that address" in outcome.failure.message
    assert len(service.calls) == 1


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(body="x" * 101), "was answered with more than 100 bytes"),
        (Reply(body="{", headers={"Content-Type": "application/json"}), "was to be answered with JSON"),
    ],
)
async def test_an_answer_that_cannot_be_kept_fails_a_read_and_not_an_effect(
    tmp_path: Path, service: Service, reply: Reply, problem: str
) -> None:
    service.answers(reply)
    read = await run_once(tmp_path, made(service, effect="read", max_bytes=100))
    assert read.failure is not None
    assert problem in read.failure.message
    effect = await run_once(tmp_path, made(service, method="POST", max_bytes=100))
    assert effect.status == "completed"
    assert problem in effect.result["unreadable_result"]["problems"][0]


@pytest.mark.parametrize("user", [".", ".."])
async def test_no_argument_leads_out_of_its_segment(tmp_path: Path, service: Service, user: str) -> None:
    tool = made(service, "/users/{{user}}/notes", args={"user": "string"}, effect="read")
    outcome = await run_once(tmp_path, tool, user=user)
    assert outcome.failure is not None
    assert "leads elsewhere by its dots" in outcome.failure.message
    assert service.calls == []


async def test_no_argument_adds_a_header(tmp_path: Path, service: Service) -> None:
    tool = made(service, args={"a": "string"}, headers={"X-A": "{{a}}"})
    outcome = await run_once(tmp_path, tool, a="x\r\nX-B: y")
    assert outcome.failure is not None
    assert outcome.failure.message == "header 'X-A' has a value that is no line of ASCII text"
    assert service.calls == []


async def test_an_undo_reads_the_receipt(tmp_path: Path, service: Service) -> None:
    service.answers(Reply(200, {"id": 7}), Reply(400, "no"), Reply(204))
    charge = made(service, "/charges", "it", method="POST", effect="reversible", undo="refund")
    refund = made(
        service, "/charges/{{receipt.result.id}}", "refund", method="DELETE", args={"receipt": "object"},
        idempotent=True,
    )  # fmt: skip
    fails = made(service, "/fails", "fails", method="POST")
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[charge, refund, fails]) as engine:
        run = await engine.start("it", plan=Plan([Step("A", "it"), Step("B", "fails")]))
        await run.outcome(timeout_s=20)
    assert [(call.method, call.path) for call in service.calls] == [
        ("POST", "/charges"), ("POST", "/fails"), ("DELETE", "/charges/7"),
    ]  # fmt: skip
    assert service.keys[2] == f"undo/{service.keys[0]}"


@pytest.mark.parametrize(
    ("answer", "becomes"),
    [(Reply(200, {"id": 7}), {"id": 7}), (Reply(404), "again"), (Reply(500), None)],
)
async def test_a_probe_says_what_became_of_an_operation(
    tmp_path: Path, service: Service, answer: Reply, becomes: Any
) -> None:
    service.answers(Reply(how="hang_up"), answer, Reply(200, "again"))
    tool = made(service, "/charges", method="POST", probe=f"{service.url}/charges?key={{{{operation}}}}")
    async with Engine(f"sqlite:///{tmp_path / 'runs.db'}", tools=[tool]) as engine:
        run = await engine.start("it", plan=Plan([Step("A", "it")]))
        if becomes is None:
            await wait_for_fact(run, f.ProbeFailed)
        else:
            assert (await run.outcome(timeout_s=20)).result == becomes
    assert (service.calls[1].method, service.calls[1].query) == ("GET", [("key", service.keys[0])])


async def test_calls_of_several_loops_do_not_meet(service: Service, tmp_path: Path) -> None:
    tool = made(service, effect="read")

    def in_a_thread(number: int) -> Any:
        folder = tmp_path / str(number)
        folder.mkdir()
        return asyncio.run(run_once(folder, tool)).result

    results = await asyncio.gather(*(asyncio.to_thread(in_a_thread, number) for number in range(2)))
    assert results == [{"ok": True}, {"ok": True}]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"url": "ftp://x"}, "it begins with http:// or https:// and a host"),
        ({"url": "https://{{host}}/x", "args": {"host": "string"}}, "without templates"),
        ({"url": "https://x.com{{path}}", "args": {"path": "string"}}, "without templates"),
        ({"url": "https://me:secret@x.com/"}, "without a password"),
        ({"url": "https://x.com/{{idd}}", "args": {"id": "string"}}, "not in args .did you mean 'id'"),
        ({"headers": {"X": "{{y}}"}}, r"reads 'y', which is not in args \(none\)"),
        ({"query": {"x": {"environ": "Y"}}}, "query.x is a template, or { env = 'NAME'"),
        ({"method": "POST", "json": {"a": ["{{b}}"]}}, "reads 'b'"),
        ({"method": "POST", "json": 1, "text": "x"}, "json and text exclude each other"),
        ({"method": "GET", "json": 1}, "a GET has no body; drop json"),
        ({"response_headers": ["etag"]}, "only with output = 'response'"),
        ({"max_bytes": 0}, "a number above 0"),
        ({"probe": "https://x.com/{{key}}"}, "reads 'key'"),
        (
            {"args": {"a": "string"}, "headers": {"X": "{{a}}"}, "probe": "https://x.com/"},
            "without arguments",
        ),
        ({"effect": "reversible"}, "undo"),
    ],
)
def test_a_call_that_cannot_work_is_refused(fields: Any, problem: str) -> None:
    with pytest.raises(ToolDefinitionError, match=problem):
        http_tool("it", declared(**{"url": "https://x.com/", **fields}))


def test_all_that_is_wrong_is_said_at_once(call: Any, tmp_path: Path) -> None:
    (tmp_path / "midcourse.toml").write_text(
        "[http.pay]\nmethd = 'POST'\nmethod = 'POTS'\nheaders = { X = 1 }\n"
        "[http.ask]\nurl = 'x'\nretry = { max_attemps = 2 }\n[http]\nbad = 3\n[pack.files]\n"
    )
    answer = call("tools", "list")
    assert answer.code == 2
    for line in (
        "http.pay.methd: unknown key (did you mean 'method'?)",
        "http.pay: needs url",
        "http.pay.method: is 'POTS' (did you mean 'POST'?); it is one of GET, HEAD",
        "http.pay.headers[...]: Expected",
        "http.ask.retry.max_attemps: unknown key (did you mean 'max_attempts'?)",
        "http.bad: must be a table, not 3; write [http.bad]",
        "pack: unknown key; allowed are store, tools, commands, http, packs",
    ):
        assert line in answer.err


def test_calls_of_the_configuration_are_tools(call: Any, tmp_path: Path, service: Service) -> None:
    (tmp_path / "midcourse.toml").write_text(
        f'[http.look]\nurl = "{service.url}/things/{{{{id}}}}"\nargs = {{ id = "string" }}\neffect = "read"\n'
    )
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "look.yaml").write_text(
        "identifier: look\nname: Look\ndescription: Looks.\nsteps:\n"
        '  - {id: A, tool_name: look, input: {id: lamp}}\noutput: {is: "{{A.ok}}"}\n'
    )
    assert call("plan", "run", "look", "-q").json == {"is": True}
    assert "look  read" in call("tools", "list").out
    assert service.calls[0].path == "/things/lamp"
