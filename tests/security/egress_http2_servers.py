"""E-18 where a program asks for trailers and oyatd therefore speaks HTTP/2 to the server: whatever that sends, the program's call ends in
bounded time, oyatd stays small, and others notice nothing."""
import time

import doors
from egress_http2 import MANY, memory_of, others_answer
from http2_frames import (CANCEL, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, LATEST_INDEXED, PING, RST_STREAM, SETTINGS, WINDOW_UPDATE,
                          fields, frame, indexed)
from services import tls

ADDRESS = "203.0.113.75"
GROWTH = 32 << 20
PUSH_PROMISE, GOAWAY = 5, 7
ACK = 1
STATUS = fields((":status", "200"))


def answer(block=STATUS, flags=END_HEADERS, stream=1):
    return frame(HEADERS, flags, stream, block)


# What no client may take for a whole answer.
WRONG = {
    "no status": answer(fields(("x-a", "1")), END_HEADERS | END_STREAM), "two of status": answer(STATUS + STATUS, END_HEADERS | END_STREAM),
    "a status of letters": answer(fields((":status", "2xx")), END_HEADERS | END_STREAM),
    "a status behind a field": answer(fields(("x-a", "1")) + STATUS, END_HEADERS | END_STREAM),
    "a line in a field": answer(STATUS + fields(("x-a", "1\r\nSet-Cookie: b")), END_HEADERS | END_STREAM),
    "a name in capitals": answer(STATUS + fields(("X-A", "1")), END_HEADERS | END_STREAM),
    "Connection": answer(STATUS + fields(("connection", "x-a")), END_HEADERS | END_STREAM),
    "less than its length": answer(STATUS + fields(("content-length", "9"))) + frame(DATA, END_STREAM, 1, b"hello"),
    "more than its length": answer(STATUS + fields(("content-length", "1"))) + frame(DATA, END_STREAM, 1, b"hello"),
    "DATA before its head": frame(DATA, END_STREAM, 1, b"hello"), "an answer that nobody asked for": answer(flags=END_HEADERS | END_STREAM, stream=7),
    "a promise": frame(SETTINGS, ACK, 0) + frame(PUSH_PROMISE, END_HEADERS, 1, bytes([0, 0, 0, 2]) + STATUS), "a reset": frame(RST_STREAM, 0, 1, CANCEL),
    "goodbye": frame(GOAWAY, 0, 0, bytes(8)), "a frame that is too long": frame(DATA, 0, 1, bytes(1 << 20)),
    "a trailer with a status": answer() + answer(STATUS, END_HEADERS | END_STREAM), "HTTP/1.1 instead": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
}
FLOODS = {
    "SETTINGS": frame(SETTINGS, 0, 0, bytes.fromhex("000300000064")) * MANY, "PING": frame(PING, 0, 0, bytes(8)) * MANY,
    "CONTINUATION without end": answer(flags=0) + frame(CONTINUATION, 0, 1, fields(("x-a", "1"))) * MANY,
    "empty CONTINUATION without end": answer(flags=0) + frame(CONTINUATION, 0, 1) * MANY,
    "interim answers": answer(fields((":status", "103"))) * MANY, "empty DATA": answer() + frame(DATA, 0, 1) * MANY,
    "a bomb of fields": answer(STATUS + indexed("x-a", "a" * 4000) + LATEST_INDEXED * 10_000), "resets": frame(RST_STREAM, 0, 1, CANCEL) * MANY,
    "WINDOW_UPDATE of nothing": frame(WINDOW_UPDATE, 0, 0, bytes(4)) * MANY, "WINDOW_UPDATE beyond the end": frame(WINDOW_UPDATE, 0, 1, bytes.fromhex("7fffffff")) * 2,
    "DATA beyond the window": answer() + frame(DATA, 0, 1, bytes(16384)) * 4000, "frames of an unknown kind": frame(0xBB, 0, 0, bytes(100)) * MANY,
}


def sends(data):
    """A server that says this once it was asked, and then waits for the other side to leave."""
    def handler(connection, visit):
        connection.recv(65536)
        visit.heads.append("asked")
        connection.sendall(frame(SETTINGS, 0, 0) + data)
        while connection.recv(65536):
            pass
    return handler


def ask(sandbox, internet, data):
    """What curl makes of it, with the trailers that gRPC asks for."""
    internet.forget()
    context = internet.authority.server_context("calls.test", protocols=("h2",))
    listener = internet.services.serve(443, tls({"calls.test": context}, sends(data)), address=ADDRESS)
    try:
        said = doors.curl(sandbox, "--http2", "--header", "TE: trailers", "--max-time", "12", "https://calls.test/x")
    finally:
        listener.close()
    assert any(visit.heads for visit in internet.services.visits if visit.address == ADDRESS), "the server was not asked"
    return said


def policy(internet):
    internet.names.hosts["calls.test"] = [ADDRESS]
    return doors.by_rules({"id": "calls", "action": "allow", "host": ["calls.test"], "port": [443], "path": ["/**"]},
                          {"id": "good", "action": "allow", "host": ["a.test"], "port": [443]})


def wrong_answers(server, internet):
    with server.client.create(**policy(internet)) as sandbox:
        good = ask(sandbox, internet, answer(STATUS + fields(("content-length", "5"))) + frame(DATA, END_STREAM, 1, b"hello"))
        assert good.stdout == "hello", f"the server's HTTP/2 is not spoken to: {good.stdout} {good.stderr}"
        for name, data in WRONG.items():
            began = time.monotonic()
            said = ask(sandbox, internet, data)
            assert said.exit_code != 0 or said.stdout.startswith("oyat: "), f"{name}: {said.exit_code} {said.stdout[:200]}"
            assert time.monotonic() - began < 6, f"the program was left waiting by {name}"
        assert doors.events(server, sandbox, "upstream.failed"), "nothing of it is on the record"
        doors.reach(internet, sandbox)


def floods(server, internet):
    pid = server.ready()["oyatdPid"]
    before = memory_of(pid)
    with server.client.create(**policy(internet)) as sandbox, others_answer(server):
        for name, data in FLOODS.items():
            ask(sandbox, internet, data)
            assert memory_of(pid) - before < GROWTH, f"oyatd grew by {(memory_of(pid) - before) >> 20} MiB with {name}"
        doors.reach(internet, sandbox)
    assert server.ready()["oyatdPid"] == pid, "oyatd did not survive it"


def checks(tally, server, internet):
    tally.check("E-18 wrong answers in HTTP/2", wrong_answers, server, internet)
    tally.check("E-18 floods by servers in HTTP/2", floods, server, internet)
