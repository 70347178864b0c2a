"""C: keys, routes, routing headers, smuggling, and what errors give away."""
import json
import socket
import time

from client import Client, Refused

FOREIGN = "iaaaaaaaaaaaaaaaaaaaa"


def routes(server):
    """All routes of all fronts, as the server itself lists them ("METHOD /pattern")."""
    status, _, data = server.client.raw("GET", "/v1/routes", None, {"X-API-Key": server.client.key})
    assert status == 200, data
    return json.loads(data)["routes"]


# The only ones that answer without a key: services that are shown an identity token fetch the public halves.
OPEN = {"GET /health", "GET /", "GET /.well-known/jwks.json", "GET /.well-known/openid-configuration"}


def filled(pattern):
    path = pattern.split(" ", 1)[1]
    while "{" in path:
        begin, end = path.index("{"), path.index("}")
        path = path[:begin] + FOREIGN + path[end + 1:]
    return path


def every_route_wants_a_key(server):
    """C-01: each route of the router, without a key, with a wrong one, and with a sandbox's token instead of a key."""
    with server.client.create() as sandbox:
        known = routes(server)
        assert len(known) > 30, known
        for route in known:
            if route in OPEN:
                continue
            method = route.split(" ", 1)[0]
            for headers in ({}, {"X-API-KEY": "e2b_" + "0" * 40}, {"X-API-KEY": sandbox.token or "x"},
                            {"Authorization": f"Bearer {sandbox.token}"}):
                for attempt in range(2):
                    status, _, body = server.client.raw(method, filled(route), "{}" if method in ("POST", "PUT", "PATCH") else None,
                                                        {"Content-Type": "application/json", **headers})
                    if status != 429 or attempt:
                        break
                assert status in (401, 403, 410, 429, 501), f"{route} with {list(headers)}: {status} {body[:200]!r}"
                if status == 429:
                    break  # too many failures from here: that is C-16 at work


def another_key(server, tenant, scopes=("run", "read")):
    status, _, data = server.client.raw("POST", "/v1/keys", json.dumps({"name": "test", "tenant": tenant, "scopes": list(scopes)}),
                                        {"X-API-Key": server.client.key, "Content-Type": "application/json"})
    assert status in (200, 201), data
    return Client(server.ready()["url"], json.loads(data)["key"])


def foreign_is_unknown(server):
    """C-01, I9: another tenant's sandbox is the same as one that does not exist: same status, same body."""
    stranger = another_key(server, "stranger")
    with server.client.create() as sandbox:
        for method, path, body in [("GET", "/sandboxes/{}", None), ("DELETE", "/sandboxes/{}", None),
                                   ("POST", "/sandboxes/{}/timeout", {"timeout": 10}), ("POST", "/v2/sandboxes/{}/connect", {}),
                                   ("POST", "/sandboxes/{}/pause", {}), ("GET", "/sandboxes/{}/metrics", None),
                                   ("GET", "/v2/sandboxes/{}/logs", None), ("GET", "/v1/sandboxes/{}", None), ("DELETE", "/v1/sandboxes/{}", None)]:
            answers = []
            for id_ in (sandbox.id, FOREIGN):
                try:
                    stranger.api(method, path.format(id_), body)
                    answers.append("accepted")
                except Refused as refused:
                    # The event behind a failure is a new one each time.
                    text = json.dumps({key: value for key, value in refused.body.items() if key not in ("event", "error")})
                    answers.append((refused.status, text.replace(id_, "ID")))
            assert answers[0] == answers[1] and answers[0] != "accepted", f"{method} {path}: {answers}"
        assert sandbox.id not in [each["sandboxID"] for each in stranger.api("GET", "/v2/sandboxes")]
        assert sandbox.run("echo mine").stdout == "mine\n"


def lower_scope(server):
    """C-01: a key that may only read changes nothing."""
    reader = another_key(server, "default", ("read",))
    for method, path, body in [("POST", "/v2/sandboxes", {"templateID": "base"}), ("POST", "/v1/keys", {"name": "x", "scopes": ["admin"]})]:
        try:
            reader.api(method, path, body)
            raise AssertionError(f"{method} {path} was accepted")
        except Refused as refused:
            assert refused.status == 403, refused
    assert reader.api("GET", "/v2/sandboxes") is not None


def strange_ids(server):
    """C-03: ids with anything in them are 400 or 404."""
    for id_ in ("..", "%2e%2e", "a%2fb", "A" * 21, "%00", "i" + "a" * 10_000, "%c3%a9", "-", "i", "%20"):
        status, _, _ = server.client.raw("GET", f"/sandboxes/{id_}", None, {"X-API-KEY": server.client.key})
        assert status in (400, 404, 414, 431), f"{id_[:20]}: {status}"


def routing_headers(server):
    """C-04: a host name that names a sandbox wins over headers; one header alone or two values are refused."""
    with server.client.create() as sandbox, server.client.create() as other:
        port = {"E2b-Sandbox-Id": other.id, "E2b-Sandbox-Port": "49983"}
        status, _, _ = server.client.raw("GET", "/health", None, {**port, "Host": f"49983-{sandbox.id}.example.org"})
        assert status == 204
        other.kill()
        status, _, _ = server.client.raw("GET", "/health", None, {**port, "Host": f"49983-{sandbox.id}.example.org"})
        assert status == 204, "the header overrode the host name"
        assert server.client.raw("GET", "/files?path=/x", None, {"E2b-Sandbox-Id": sandbox.id})[0] == 400
        assert server.client.raw("GET", "/files?path=/x", None, {"E2b-Sandbox-Port": "49983"})[0] == 400
        url = server.client.url
        with socket.create_connection((url.hostname, url.port)) as raw:
            raw.sendall(f"GET /health HTTP/1.1\r\nHost: x\r\nE2b-Sandbox-Id: {sandbox.id}\r\nE2b-Sandbox-Id: {FOREIGN}\r\n"
                        "E2b-Sandbox-Port: 49983\r\n\r\n".encode())
            assert raw.recv(64).split()[1] == b"400"


RECORDER = """
import socket, threading
s = socket.socket(); s.setsockopt(1, 2, 1); s.bind(('0.0.0.0', 8080)); s.listen(64)
log = open('/tmp/seen', 'ab', buffering=0)
def serve(c):
    data = b''
    c.settimeout(2)
    try:
        while b'\\r\\n\\r\\n' not in data:
            part = c.recv(65536)
            if not part: break
            data += part
        try:
            while True:
                part = c.recv(65536)
                if not part: break
                data += part
        except OSError: pass
        log.write(b'>>>' + data + b'<<<')
        c.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok')
    except OSError: pass
    c.close()
while True:
    c, _ = s.accept()
    threading.Thread(target=serve, args=(c,), daemon=True).start()
"""


def smuggling(server):
    """C-05: what could be read in two ways is refused with 400 and the connection closed; the back end sees none of it."""
    with server.client.create() as sandbox:
        sandbox.write("/tmp/recorder.py", RECORDER.encode())
        sandbox.run("(setsid python3 /tmp/recorder.py >/dev/null 2>&1 &); for i in $(seq 50); do ss -ltn | grep -q :8080 && break; sleep 0.1; done")
        url = server.client.url
        routing = f"Host: x\r\nE2b-Sandbox-Id: {sandbox.id}\r\nE2b-Sandbox-Port: 8080\r\n"
        smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
        attacks = {
            "CL and TE": "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
            "two CL": "Content-Length: 0\r\nContent-Length: 40\r\n\r\n" + smuggled,
            "CL +5": "Content-Length: +5\r\n\r\nhello",
            "CL 0x5": "Content-Length: 0x5\r\n\r\nhello",
            "CL list": "Content-Length: 5, 5\r\n\r\nhello",
            "TE xchunked": "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
            "TE list": "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "TE twice": "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
            "obs-fold": "X-A: b\r\n c\r\n\r\n",
            "bare LF": "X-A: b\nX-B: c\r\n\r\n",
            "space before colon": "X-A : b\r\n\r\n",
            "NUL": "X-A: b\0c\r\n\r\n",
            "second Host": "Host: y\r\n\r\n",
            "giant chunk extension": "Transfer-Encoding: chunked\r\n\r\n1;" + "a" * 65_536 + "\r\nx\r\n0\r\n\r\n",
            "bad chunk size": "Transfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n0\r\n\r\n",
        }
        for name, rest in attacks.items():
            with socket.create_connection((url.hostname, url.port), timeout=10) as raw:
                try:
                    raw.sendall((f"POST /attack HTTP/1.1\r\n{routing}" + rest).encode("latin-1"))
                    answer = raw.recv(4096)
                except (BrokenPipeError, ConnectionResetError):
                    answer = b""
            assert answer == b"" or answer.split()[1] == b"400", f"{name}: {answer[:100]!r}"
        with socket.create_connection((url.hostname, url.port), timeout=10) as raw:
            raw.sendall(f"POST /good HTTP/1.1\r\n{routing}Content-Length: 5\r\n\r\nhello".encode())
            assert raw.recv(4096).split()[1] == b"200"
        seen = sandbox.read("/tmp/seen")
        assert b"/smuggled" not in seen and seen.count(b">>>POST /good") == 1, seen[:400]


SPLITTER = """
import socket
s = socket.socket(); s.setsockopt(1, 2, 1); s.bind(('0.0.0.0', 8081)); s.listen(64)
while True:
    c, _ = s.accept()
    c.recv(65536)
    c.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nSet-Cookie: a=b; Domain=example.org\\r\\nStrict-Transport-Security: max-age=1\\r\\n\\r\\nok'
              b'HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\n\\r\\nevil')
    c.close()
"""


def splitting(server):
    """C-06: a second response that nobody asked for is dropped with its connection."""
    with server.client.create() as sandbox:
        sandbox.write("/tmp/splitter.py", SPLITTER.encode())
        sandbox.run("(setsid python3 /tmp/splitter.py >/dev/null 2>&1 &); for i in $(seq 50); do ss -ltn | grep -q :8081 && break; sleep 0.1; done")
        url = server.client.url
        request = f"GET / HTTP/1.1\r\nHost: x\r\nE2b-Sandbox-Id: {sandbox.id}\r\nE2b-Sandbox-Port: 8081\r\n\r\n".encode()
        with socket.create_connection((url.hostname, url.port), timeout=10) as raw:
            raw.sendall(request)
            time.sleep(0.5)
            answer = raw.recv(65_536)
            assert answer.split()[1] == b"200" and b"evil" not in answer, answer
            assert b"Domain=" not in answer, "a cookie for a parent domain went through"


def reserved_ports(server):
    """C-08: the ports that belong to oyat itself, and impossible ones."""
    with server.client.create() as sandbox:
        for port in ("65501", "65502", "0", "65536", "-1", "abc", "1"):
            headers = {"E2b-Sandbox-Id": sandbox.id, "E2b-Sandbox-Port": port}
            status, _, _ = server.client.raw("GET", "/", None, headers)
            assert status in (400, 403, 404, 502), f"port {port}: {status}"


def assignments(server):
    """C-12: deep, giant, doubled and unknown JSON never reaches the inside."""
    key = {"X-API-KEY": server.client.key, "Content-Type": "application/json"}
    deep = "[" * 10_000 + "]" * 10_000
    for body, statuses in [(deep, (400, 413)), ('{"templateID":"base","metadata":' + "[" * 1000 + "]" * 1000 + "}", (400,)),
                           ('{"templateID":"base","timeout":1e400}', (400,)), ('{"templateID":"base","timeout":NaN}', (400,)),
                           ('{"templateID":"base","timeout":9007199254740993}', (400,)), ("x" * (2 << 20), (400, 413)), ("", (400,)),
                           ('{"templateID":"base"', (400,)), ('{"templateID":"no-such-template"}', (404,)), ('{"templateID":7}', (400,)),
                           ('{"templateID":"base","timeout":-1}', (400,)), ('{"templateID":"base","metadata":{"a":1}}', (400,))]:
        try:
            status, _, data = server.client.raw("POST", "/v2/sandboxes", body, key)
        except (BrokenPipeError, ConnectionResetError):
            assert len(body) > 1 << 20, "cut, though it was small"
            continue  # the server need not read what it will not take
        assert status in statuses, f"{body[:60]}: {status} {data[:200]!r}"
        assert json.loads(data)["code"] == status, data


def nothing_given_away(server):
    """C-13, C-14: keys, tokens and values of the environment are in no error, event, log or metric."""
    value = "oyat-secret-canary-91c2"
    with server.client.create(envVars={"PASSWORD": value}) as sandbox:
        sandbox.run("true", envs={"OTHER": value + "-cmd"})
        try:
            sandbox.run("true", cwd="/no/such/place")
        except Refused:
            pass
        key = {"X-API-Key": server.client.key}
        seen = b"".join(server.client.raw("GET", path, None, key)[2] for path in
                        (f"/v1/events?sandbox={sandbox.id}&limit=1000", f"/v1/sandboxes/{sandbox.id}", "/metrics", f"/v2/sandboxes/{sandbox.id}/logs",
                         "/v1/info", "/v2/sandboxes", f"/sandboxes/{sandbox.id}/metrics"))
        for name, secret in [("a value of the environment", value), ("the key", server.client.key)]:
            assert secret.encode() not in seen, f"{name} is in an answer"
    for log in list((server.state / "log").glob("*.log")) + list((server.state / "audit").rglob("*")):
        if log.is_file():
            text = log.read_bytes()
            for secret in (value, server.client.key, sandbox.token or "no-token"):
                assert secret.encode() not in text, f"{log.name} holds a secret"


def brute_force(server):
    """C-16: guessing keys is slowed down after ten failures, and a good key from elsewhere is not hurt by it for long."""
    statuses = []
    for _ in range(25):
        statuses.append(server.client.raw("GET", "/sandboxes", None, {"X-API-KEY": "e2b_" + "1" * 40})[0])
    assert 429 in statuses and set(statuses) <= {401, 429}, statuses


def checks(tally, server, _full):
    tally.check("C-03 strange ids", strange_ids, server)
    tally.check("C-04 routing headers", routing_headers, server)
    tally.check("C-05 smuggling", smuggling, server)
    tally.check("C-06 splitting", splitting, server)
    tally.check("C-08 reserved ports", reserved_ports, server)
    tally.check("C-12 strange JSON", assignments, server)
    tally.check("C-13 C-14 nothing is given away", nothing_given_away, server)
    tally.check("C-01 foreign is unknown", foreign_is_unknown, server)
    tally.check("C-01 lower scope", lower_scope, server)
    tally.check("C-01 every route wants a key", every_route_wants_a_key, server)
    tally.check("C-16 guessing keys", brute_force, server)
