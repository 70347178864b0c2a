"""E-11, E-12: requests that oyatd reads. Of a.test only GET below /open/ is allowed, in clear and in TLS: whatever a server could make of
the bytes, it is given nothing else."""
import doors
from doors import a_try
from internet import SHARED

OPEN_PATH = doors.by_rules({"id": "open-path", "action": "allow", "host": ["a.test"], "port": [80, 443], "method": ["GET"], "path": ["/open/**"]})


def request(line="GET /open/x HTTP/1.1", *fields, host="a.test", body=b""):
    names = [f"Host: {host}"] if host is not None else []
    return "\r\n".join([line, *names, *fields, "", ""]).encode("latin-1") + body


SECOND = request("GET /closed HTTP/1.1")

# What must not reach the server in any form.
REFUSED = {
    "another method": request("POST /open/x HTTP/1.1", "Content-Length: 0"), "a method in small letters": request("post /open/x HTTP/1.1"),
    "another path": request("GET /closed HTTP/1.1"), "CONNECT": request("CONNECT b.test:443 HTTP/1.1", host="b.test:443"),
    "CONNECT to itself": request("CONNECT a.test:443 HTTP/1.1", host="a.test:443"), "another host": request(host="b.test"),
    "an absolute URL elsewhere": request("GET http://b.test/open/x HTTP/1.1"),
    "an absolute URL against Host": request("GET http://a.test/open/x HTTP/1.1", host="b.test"),
    "no host": request(host=None), "an empty host": request(host=""), "two hosts": request("GET /open/x HTTP/1.1", "Host: b.test"),
    "the same host twice": request("GET /open/x HTTP/1.1", "Host: a.test"), "a list of hosts": request(host="a.test, b.test"),
    "userinfo in the host": request(host="a.test@b.test"), "another port": request(host="a.test:22"), "a NUL in the host": request(host="a.test\0.b.test"),
    "a control byte in the host": request(host="a.test\x01"), "an escape in the host": request(host="a%2etest"), "full-width dots in the host": request(host="a\xef\xbc\x8etest"),
    "PROXY protocol": b"PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n" + request(),
    "PROXY protocol 2": b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x01\x01\x01\x01\x02\x02\x02\x02\0\x01\0\x02" + request(),
    "a folded field": request("GET /open/x HTTP/1.1", "X-A: 1\r\n b.test"), "a space before the colon": request("GET /open/x HTTP/1.1", "Host : b.test"),
    "a bare line feed": b"GET /open/x HTTP/1.1\nHost: a.test\n\n" + SECOND, "a NUL in a field": request("GET /open/x HTTP/1.1", "X-A: 1\0"),
    "a bare carriage return": request("GET /open/x HTTP/1.1", "X-A: 1\rHost: b.test"),
    "no version": b"GET /open/x\r\n\r\n", "version 2.0": request("GET /open/x HTTP/2.0"), "HTTP/2 unasked": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9),
    "two lengths": request("GET /open/x HTTP/1.1", "Content-Length: 0", f"Content-Length: {len(SECOND)}", body=SECOND),
    "a length with a sign": request("GET /open/x HTTP/1.1", f"Content-Length: +{len(SECOND)}", body=SECOND),
    "length and chunks": request("GET /open/x HTTP/1.1", "Content-Length: 5", "Transfer-Encoding: chunked", body=b"0\r\n\r\n" + SECOND),
    "an unknown coding": request("GET /open/x HTTP/1.1", "Transfer-Encoding: xchunked", body=b"0\r\n\r\n" + SECOND),
    "a list of codings": request("GET /open/x HTTP/1.1", "Transfer-Encoding: chunked, identity", body=b"0\r\n\r\n" + SECOND),
    "an empty line first": b"\r\n" + request("GET /closed HTTP/1.1"), "a space first": b" " + request("GET /closed HTTP/1.1"),
    "a WebSocket elsewhere": request("GET /closed/ws HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                                     "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="),
    **{f"an upgrade to HTTP/2 by {upgrade}": request("GET /open/x HTTP/1.1", "Connection: Upgrade, HTTP2-Settings", f"Upgrade: {upgrade}",
                                                     "HTTP2-Settings: AAMAAABkAAQAAP__") for upgrade in ("h2c", "H2C", "websocket, h2c")},
    **{f"a method by {field}": request("GET /open/x HTTP/1.1", f"{field}: DELETE")
       for field in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override")},
    **{f"the path {path}": request(f"GET {path} HTTP/1.1") for path in (
        "/open/../closed", "/open/./../closed", "/open/%2e%2e/closed", "/open/%2E./closed", "/open/..%2fclosed", "/open/%2f..%2fclosed", "//closed",
        "/open//../closed", "/open//x", "/OPEN/x", "/open\\..\\closed", "/open/..\\closed", "/open/%5c..%5cclosed", "/open/%c0%ae%c0%ae/closed",
        "/open/%00/../closed", "/open/..;/closed", "/closed?/open/", "/closed#/open/", "/open", "/%6fpen/../closed", "/open/x%zz", "open/x", "*")},
}

# Allowed ones, with something behind or in them that must not come along.
TRIMMED = {
    "a second request to another host": request() + request("GET /open/second HTTP/1.1", host="b.test"),
    "a second request to another path": request() + SECOND,
    "chunks and a second request": request("GET /open/x HTTP/1.1", "Transfer-Encoding: chunked", body=b"0\r\n\r\n" + SECOND),
    "a chunk of a wrong size": request("GET /open/x HTTP/1.1", "Transfer-Encoding: chunked", body=b"1\r\n" + SECOND),
    "fields named by Connection": request("GET /open/x HTTP/1.1", "Connection: close, Host, X-Secret", "X-Secret: y"),
}


def tries_of(table, tls, **carrier):
    if tls:
        carrier = {"tls": "a.test"}
    return [a_try(SHARED, 443 if tls else 80, data, wait=2, **carrier) for data in table.values()]


def heads(internet):
    return [head for visit in internet.services.visits for head in visit.heads]


def refused(server, internet, tls):
    with doors.all_on_record(server, len(REFUSED) * len(doors.USERS), **OPEN_PATH) as sandbox:
        for user in doors.USERS:
            reach_open(internet, sandbox, tls, user)
            internet.forget()
            for name, outcome in zip(REFUSED, doors.knock(sandbox, tries_of(REFUSED, tls, finish=True), user)):
                assert b"answered" not in outcome.got, f"{name} as {user}: {outcome}"
            assert not heads(internet), f"as {user}: {heads(internet)}"
            reach_open(internet, sandbox, tls, user)


def trimmed(server, internet, tls):
    with server.client.create(**OPEN_PATH) as sandbox:
        for user in doors.USERS:
            internet.forget()
            doors.knock(sandbox, tries_of(TRIMMED, tls), user)
            seen = heads(internet)
            assert 0 < len(seen) <= len(TRIMMED) and all(head.startswith("GET /open/x HTTP/1.1\r\n") for head in seen), f"as {user}: {seen}"
            for word in ("h2c", "x-secret", "host: b.test", "http2-settings"):
                assert not any(word in head.lower() for head in seen), f"{word} came along as {user}: {seen}"
            reach_open(internet, sandbox, tls, user)
        doors.on_record(server, sandbox, ("host-mismatch", "default"), host="b.test")


def reach_open(internet, sandbox, tls, user):
    internet.forget()
    answer = doors.curl(sandbox, f"{'https' if tls else 'http'}://a.test/open/7?x=/../y", user=user)
    assert "answered" in answer.stdout and len(heads(internet)) == 1, answer.stdout + answer.stderr


def checks(tally, server, internet):
    for tls, how in ((False, "in clear"), (True, "in TLS")):
        tally.check(f"E-11 E-12 requests {how}", refused, server, internet, tls)
        tally.check(f"E-11 what comes behind a request, {how}", trimmed, server, internet, tls)
