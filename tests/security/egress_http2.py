"""E-11, E-18 in HTTP/2: what a program sends to oyatd where its TLS is read. Of a.test only GET below /open/ is allowed. Requests that lie about
where they go reach nobody; floods end the connection that they come on, cost oyatd no memory, and others notice nothing."""
import contextlib
import threading
import time

import doors
from doors import a_try
from egress_requests import OPEN_PATH, heads
from http2_frames import (CANCEL, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, LATEST_INDEXED, PING, PRIORITY, RST_STREAM, SETTINGS,
                          WINDOW_UPDATE, fields, frame, greeting, head, indexed, request)
from internet import SHARED

GROWTH = 32 << 20  # of oyatd, over all floods
MANY = 20_000
USUAL = [(":method", "GET"), (":scheme", "https"), (":path", "/open/x"), (":authority", "a.test")]


def one(block):
    return greeting(request(1, block))


# Heads that two readers could understand differently, or that are not allowed.
REFUSED = {
    "another's :authority": one(head(authority="b.test")), "an :authority with a port": one(head(authority="a.test:22")),
    "userinfo in :authority": one(head(authority="a.test@b.test")), "an empty :authority": one(head(authority="")),
    "a NUL in :authority": one(head(authority="a.test\0.b.test")), "Host against :authority": one(head(more=[("host", "b.test")])),
    "no :authority and another's Host": one(head(authority=None, more=[("host", "b.test")])), "neither": one(head(authority=None)),
    "two of :authority": one(fields(*USUAL, (":authority", "b.test"))), "two of :path": one(fields(*USUAL, (":path", "/closed"))),
    "two of :method": one(fields(*USUAL, (":method", "POST"))), "no :path": one(head(path=None)), "an empty :path": one(head(path="")),
    "no :method": one(head(method=None)), "no :scheme": one(head(scheme=None)), ":scheme http": one(head(scheme="http")),
    "an unknown pseudo-field": one(fields(*USUAL, (":host", "b.test"))), ":status of a request": one(fields(*USUAL, (":status", "200"))),
    ":protocol": one(fields((":method", "CONNECT"), (":protocol", "websocket"), *USUAL[1:])),
    "a pseudo-field behind others": one(fields(*USUAL[:3], ("x-a", "1"), USUAL[3])), "a name in capitals": one(head(more=[("X-A", "1")])),
    "an absolute :path": one(head(path="https://b.test/open/x")), "another :path": one(head(path="/closed")),
    "a :path with dots": one(head(path="/open/../closed")), "a blank in :path": one(head(path="/open/x HTTP/1.1")),
    "a line in :path": one(head(path="/open/x HTTP/1.1\r\nHost: b.test\r\n")), "a line in a field": one(head(more=[("x-a", "1\r\nHost: b.test")])),
    "a line in a name": one(head(more=[("x-a: 1\r\nx-b", "1")])), "CONNECT": one(head(method="CONNECT", scheme=None, path=None, authority="b.test:443")),
    "a method with a blank": one(head(method="GET /closed")), "another method": one(head(method="POST")),
    "a method by a field": one(head(more=[("x-http-method-override", "DELETE")])), "Connection": one(head(more=[("connection", "x-a")])),
    "Transfer-Encoding": one(head(more=[("transfer-encoding", "chunked")])), "Upgrade": one(head(more=[("upgrade", "h2c")])),
    "TE": one(head(more=[("te", "gzip")])), "a length without a body": one(head(more=[("content-length", "5")])),
    "two lengths": one(head(more=[("content-length", "0"), ("content-length", "5")])),
    "an even stream": greeting(request(2, head())), "stream 0": greeting(request(0, head())), "no greeting": request(1, head()),
    "DATA before its stream": greeting(frame(DATA, END_STREAM, 1, b"x")), "HTTP/1.1 instead": b"GET /open/x HTTP/1.1\r\nHost: a.test\r\n\r\n",
}


def reset_again_and_again():
    return greeting(*[request(stream, head()) + frame(RST_STREAM, 0, stream, CANCEL) for stream in range(1, 2 * MANY, 2)])


FLOODS = {
    "rapid reset": reset_again_and_again(),
    "CONTINUATION without end": greeting(frame(HEADERS, 0, 1, head())) + frame(CONTINUATION, 0, 1, fields(("x-a", "1"))) * MANY,
    "empty CONTINUATION without end": greeting(frame(HEADERS, 0, 1, head())) + frame(CONTINUATION, 0, 1) * MANY,
    "SETTINGS": greeting() + frame(SETTINGS, 0, 0, bytes.fromhex("000300000064")) * MANY, "PING": greeting() + frame(PING, 0, 0, bytes(8)) * MANY,
    "PRIORITY": greeting() + b"".join(frame(PRIORITY, 0, stream, bytes([0, 0, 0, 0, 15])) for stream in range(1, 2 * MANY, 2)),
    "WINDOW_UPDATE of nothing": greeting() + frame(WINDOW_UPDATE, 0, 0, bytes(4)) * MANY,
    "WINDOW_UPDATE beyond the end": greeting() + frame(WINDOW_UPDATE, 0, 0, bytes.fromhex("7fffffff")) * 2,
    "empty DATA": greeting(request(1, head(), END_HEADERS)) + frame(DATA, 0, 1) * MANY,
    "a bomb of fields": greeting(request(1, head() + indexed("x-a", "a" * 4000) + LATEST_INDEXED * 10_000)),
    "4,000 fields": greeting(request(1, head(more=[(f"x-{number}", "1") for number in range(1500)]))),
    "half a head on each of 1,000 streams": greeting(*[frame(HEADERS, 0, stream, head()) for stream in range(1, 2000, 2)]),
    "1,000 streams without an end": greeting(*[request(stream, head(), END_HEADERS) for stream in range(1, 2000, 2)]),
    "frames of an unknown kind": greeting() + frame(0xBB, 0, 0, bytes(100)) * MANY,
}


def over_http2(data, **more):
    return a_try(SHARED, 443, data, tls="a.test", alpn="h2", **more)


def memory_of(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as pages:
        return int(pages.read().split()[1]) * 4096


@contextlib.contextmanager
def others_answer(server, most=3.0):
    """Meanwhile another sandbox is answered as ever."""
    over, slowest, wrong = threading.Event(), [0.0], []

    def visit(sandbox):
        while not over.is_set():
            began = time.monotonic()
            answer = doors.curl(sandbox, "https://a.test/open/neighbour")
            if answer.exit_code != 0:
                wrong.append(answer.stderr)
            slowest[0] = max(slowest[0], time.monotonic() - began)
            over.wait(0.2)
    with server.client.create(**doors.ONLY_A) as sandbox:
        visitor = threading.Thread(target=visit, args=(sandbox,))
        visitor.start()
        try:
            yield
        finally:
            over.set()
            visitor.join()
    assert not wrong and 0 < slowest[0] < most, f"a neighbour waited {slowest[0]:.1f} s {wrong[:2]}"


def reach_by_http2(internet, sandbox, user="user"):
    internet.forget()
    outcome = doors.knock(sandbox, [over_http2(one(head(path="/open/7")), wait=2)], user)[0]
    assert b"answered" in outcome.got and any(found.startswith("GET /open/7 HTTP/1.1\r\n") for found in heads(internet)), outcome


def refused(server, internet):
    # DATA that belongs to nothing asks for nothing: its connection ends, and there is nobody to name.
    attempts = (len(REFUSED) - 1) * len(doors.USERS)
    with doors.all_on_record(server, attempts, **OPEN_PATH) as sandbox:
        for user in doors.USERS:
            reach_by_http2(internet, sandbox, user)
            internet.forget()
            outcomes = doors.knock(sandbox, [over_http2(data, wait=1) for data in REFUSED.values()], user)
            for name, outcome in zip(REFUSED, outcomes):
                assert b"answered" not in outcome.got, f"{name} as {user}: {outcome}"
            assert not heads(internet), f"as {user}: {heads(internet)}"
            reach_by_http2(internet, sandbox, user)
        doors.on_record(server, sandbox, ("host-mismatch",), host="b.test", port=443)
        rules = {event["rule"] for event in doors.denied(server, sandbox) if event.get("host") == "a.test"}
        assert {"malformed-request", "default"} <= rules, rules


def floods(server, internet):
    pid = server.ready()["oyatdPid"]
    with server.client.create(**OPEN_PATH) as sandbox, others_answer(server):
        reach_by_http2(internet, sandbox)
        before = memory_of(pid)
        for name, data in FLOODS.items():
            for user in doors.USERS:
                internet.forget()
                doors.knock(sandbox, [over_http2(data, wait=1.5)] * 4, user)
                asked = [found for found in heads(internet) if "/open/x" in found]
                assert len(asked) <= 4 * 300, f"{name} as {user}: {len(asked)} requests arrived"
            assert memory_of(pid) - before < GROWTH, f"{name}: oyatd grew by {(memory_of(pid) - before) >> 20} MiB"
            reach_by_http2(internet, sandbox)
    assert server.ready()["oyatdPid"] == pid, "oyatd did not survive it"


def checks(tally, server, internet):
    tally.check("E-11 requests in HTTP/2", refused, server, internet)
    tally.check("E-18 floods in HTTP/2", floods, server, internet)
