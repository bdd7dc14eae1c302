"""A service on this machine that answers, refuses, falls silent or hangs up, as a test has told it to."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import msgspec


class Call(NamedTuple):
    method: str
    path: str
    query: list[tuple[str, str]]
    headers: Mapping[str, str]
    body: bytes


class Reply(NamedTuple):
    """What a call is answered with.

    ``how`` is ``answer``; or ``hang``: nothing until the service is closed; ``hang_up``: the connection ends;
    or ``half``: it ends after the first half of the body.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = {}
    how: str = "answer"


class Service:
    """The service: its calls, and what it answers to the next ones; the last answer stays.

    ``on_call`` is called before each answer.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.calls: list[Call] = []
        self.replies: list[Reply] = [Reply(body={"ok": True})]
        self.on_call: Callable[[], object] = lambda: None
        self.closing = threading.Event()

    def answers(self, *replies: Reply) -> None:
        self.replies = list(replies)

    @property
    def keys(self) -> list[str]:
        keys = [call.headers.get("idempotency-key") for call in self.calls]
        return [key for key in keys if key]


@contextlib.contextmanager
def http_service() -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            address = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            query = parse_qsl(address.query, keep_blank_values=True)
            service.calls.append(Call(self.command, address.path, query, headers, body))
            reply = service.replies.pop(0) if len(service.replies) > 1 else service.replies[0]
            service.on_call()
            self.close_connection = True
            if reply.how == "hang":
                service.closing.wait()
            elif reply.how != "hang_up":
                self._answer(reply)

        def _answer(self, reply: Reply) -> None:
            is_json = not isinstance(reply.body, (bytes, str, type(None)))
            body = msgspec.json.encode(reply.body) if is_json else reply.body or b""
            body = body.encode() if isinstance(body, str) else body
            kind = {"Content-Type": "application/json"} if is_json else {}
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(body)), **kind, **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if reply.how == "half" else body)

        def __getattr__(self, name: str) -> Any:
            """Serve every method alike."""
            if name.startswith("do_"):
                return self._serve
            raise AttributeError(name)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        service = Service(server.server_port)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            service.closing.set()
            server.shutdown()
            thread.join()
