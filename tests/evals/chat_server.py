"""A server on the loopback that speaks the OpenAI chat API, and misbehaves when it is told to."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Says(NamedTuple):
    """An answer with status 200."""

    text: str | None
    finish: str = "stop"
    refusal: str | None = None
    tools: bool = False
    choices: bool = True  # whether there is any


class Fails(NamedTuple):
    """An answer with another status."""

    status: int
    retry_after: str | None = None


class Cuts(NamedTuple):
    """An answer whose connection is closed before its end."""

    text: str


class Hangs(NamedTuple):
    """No answer until the server is closed."""


Behaviour = Callable[[int, str], Says | Fails | Cuts | Hangs]
"""Called with the number of the request, from 0, and the last message of its prompt."""


def first_open(prompt: str) -> str:
    """Return the first decision that a prompt lists."""
    return open_decisions(prompt)[0]


def open_decisions(prompt: str) -> list[str]:
    (listed,) = re.findall(r"^Open to you: (.*)$", prompt, re.MULTILINE)
    return [re.sub(r" \(.*\)$", "", one) for one in listed.split(", ")]


def any_open(prompt: str) -> str:
    """Return one of the decisions that a prompt lists, the same for the same prompt."""
    names = open_decisions(prompt)
    return names[blake2b(prompt.encode(), digest_size=2).digest()[0] % len(names)]


def says(name: str) -> Says:
    return Says(json.dumps({"decision": name}))


def obeys(number: int, prompt: str) -> Says:  # noqa: ARG001
    """Answer every prompt with one of its decisions."""
    return says(any_open(prompt))


class ChatServer:
    """The server, from `with` on. It counts what it was asked."""

    def __init__(self, behaviour: Behaviour = obeys) -> None:
        self.behaviour = behaviour
        self.prompts: list[list[dict[str, Any]]] = []
        self.closing = threading.Event()
        self._lock = threading.Lock()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> ChatServer:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                outer.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        with self._lock:
            number = len(self.prompts)
            self.prompts.append(body["messages"])
        reply = self.behaviour(number, text_of(body["messages"][-1]))
        match reply:
            case Hangs():
                self.closing.wait()
                request.close_connection = True
            case Fails(status, retry_after):
                data = json.dumps({"error": {"message": f"status {status}", "type": "server_error"}}).encode()
                request.send_response(status)
                if retry_after is not None:
                    request.send_header("Retry-After", retry_after)
                send(request, data)
            case Cuts(text):
                if body.get("stream"):
                    chunk = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
                    data = f"data: {json.dumps(completion(chunk, 'chat.completion.chunk'))}\n\n".encode()
                else:
                    data = json.dumps(document(Says(text))).encode()[:-20]
                request.send_response(200)
                kind = "text/event-stream" if body.get("stream") else "application/json"
                request.send_header("Content-Type", kind)
                request.send_header("Content-Length", str(len(data) + 1000))
                request.end_headers()
                request.wfile.write(data)
                request.wfile.flush()
                request.close_connection = True
            case Says():
                request.send_response(200)
                if body.get("stream"):
                    stream(request, reply)
                else:
                    send(request, json.dumps(document(reply)).encode())


def send(request: BaseHTTPRequestHandler, data: bytes, kind: str = "application/json") -> None:
    request.send_header("Content-Type", kind)
    request.send_header("Content-Length", str(len(data)))
    request.end_headers()
    request.wfile.write(data)


def stream(request: BaseHTTPRequestHandler, says: Says) -> None:
    parts = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": says.text}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": says.finish}]},
    ]
    lines = [f"data: {json.dumps(completion(part, 'chat.completion.chunk'))}\n\n" for part in parts]
    send(request, "".join([*lines, "data: [DONE]\n\n"]).encode(), "text/event-stream")


def document(says: Says) -> dict[str, Any]:
    """Return an answer as the chat API has it: every request reads 100 tokens, and 10 are written."""
    message: dict[str, Any] = {"role": "assistant", "content": says.text, "refusal": says.refusal}
    if says.tools:
        call = {"id": "call", "type": "function", "function": {"name": "keep", "arguments": "{}"}}
        message["tool_calls"] = [call]
    choices = [{"index": 0, "message": message, "finish_reason": says.finish}] if says.choices else []
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return completion({"choices": choices, "usage": usage}, "chat.completion")


def completion(part: dict[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "answer", "object": kind, "created": 1, "model": "local", **part}


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
