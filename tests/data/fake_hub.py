"""A hub of one data set on this machine: as much of the hub's protocol as reading a data set takes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
NO_FILE = {"X-Error-Code": "EntryNotFound"}
NO_REPOSITORY = {"X-Error-Code": "RepoNotFound"}


@dataclass
class Hub:
    """What is on the hub, what it was asked, and how it behaves."""

    repo: str
    files: Mapping[str, bytes]
    busy: int = 0
    """Requests still to be answered with 503."""
    asked: list[str] = field(default_factory=list)
    endpoint: str = ""


@contextmanager
def serving(hub: Hub) -> Iterator[Hub]:
    """The hub on a free port of this machine."""
    handler = type("Handler", (_Handler,), {"hub": hub})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        hub.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield hub
        finally:
            server.shutdown()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def do_GET(self) -> None:
        self._answer(b"")

    def do_HEAD(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def log_message(self, *arguments: Any) -> None:
        """Nothing on stderr."""

    def _answer(self, body: bytes) -> None:
        hub, path = self.hub, unquote(urlsplit(self.path).path)
        hub.asked.append(f"{self.command} {self.path}")
        if hub.busy:
            hub.busy -= 1
            return self._send(503, b"busy", {})
        if path.startswith(f"/datasets/{hub.repo}/resolve/"):
            return self._file(path.removeprefix(f"/datasets/{hub.repo}/resolve/").partition("/")[2])
        if path == f"/api/datasets/{hub.repo}" or path.startswith(f"/api/datasets/{hub.repo}/"):
            return self._json(self._described(path.removeprefix(f"/api/datasets/{hub.repo}").lstrip("/"), body))
        return self._send(404, b"{}", NO_REPOSITORY)

    def _described(self, path: str, body: bytes) -> Any:
        what, _, rest = path.partition("/")
        entries = [
            {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}
            for name, content in self.hub.files.items()
        ]
        if what == "tree":
            below = rest.partition("/")[2]
            return [entry for entry in entries if str(entry["path"]).startswith(below)]
        if what == "paths-info":
            wanted = json.loads(body)["paths"]
            return [entry for entry in entries if entry["path"] in wanted]
        return {"id": self.hub.repo, "sha": COMMIT, "siblings": [{"rfilename": name} for name in self.hub.files]}

    def _file(self, name: str) -> None:
        content = self.hub.files.get(name)
        if content is None:
            return self._send(404, b"", {**NO_FILE, "X-Repo-Commit": COMMIT})
        etag = f'"{hashlib.sha1(content).hexdigest()}"'
        return self._send(200, content, {"X-Repo-Commit": COMMIT, "ETag": etag})

    def _json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, content: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
