"""A service in a process of its own: it has an effect once for each key, and kills a caller when told to.

``GET /TRIAL/things?key=KEY`` says whether there was an effect, ``POST /TRIAL/KIND`` has one, ``PUT /TRIAL``
says which call kills its caller: ``{"call": 2, "moment": "before"}``. ``GET /TRIAL`` shows all.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Trial:
    def __init__(self) -> None:
        self.calls: list[str] = []
        self.effects: list[str] = []
        self.kill: dict[str, Any] = {}


TRIALS: dict[str, Trial] = defaultdict(Trial)
LOCK = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        address = urlsplit(self.path)
        trial = TRIALS[address.path.split("/")[1]]
        key = parse_qs(address.query).get("key", [""])[0]
        if not key:
            self._answer(200, {"calls": trial.calls, "effects": trial.effects})
        elif key in trial.effects:
            self._answer(200, {"key": key})
        else:
            self._answer(404, "it did not happen")

    def do_PUT(self) -> None:
        TRIALS[self.path.split("/")[1]].kill = self._body()
        self._answer(200, "noted")

    def do_POST(self) -> None:
        _, name, kind = self.path.split("/")
        key, trial = self.headers["Idempotency-Key"], TRIALS[name]
        with LOCK:
            trial.calls.append(key)
            is_deadly = trial.kill.get("call") == len(trial.calls)
            if is_deadly and trial.kill["moment"] == "before":
                return self._kill()
            if kind != "kept" or key not in trial.effects:
                trial.effects.append(key)
            if is_deadly:
                return self._kill()
        return self._answer(200, {"key": key})

    def _kill(self) -> None:
        os.kill(int(self.headers["X-Process"]), signal.SIGKILL)

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        sys.stdout.write(f"{server.server_port}\n")
        sys.stdout.flush()
        server.serve_forever()
