"""C-04 to C-08 and E-24 at the front door that browsers use: ports of sandboxes under names of their own, by TLS, HTTP/1.1 and HTTP/2."""
import base64
import hashlib
import http.client
import json
import os
import socket
import ssl
import subprocess
import time

from server import Server, free_port

BROWSER = {"User-Agent": "Mozilla/5.0 (X11)", "Accept": "text/html"}

# Says what it was asked, streams events, speaks WebSocket, and answers as a hostile neighbour would.
SHOP = r"""
import base64, hashlib, json, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Shop(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *_): pass
    def body(self):
        if self.headers.get('Transfer-Encoding') == 'chunked':
            data = b''
            while size := int(self.rfile.readline(), 16):
                data += self.rfile.read(size); self.rfile.readline()
            self.rfile.readline()
            return data
        return self.rfile.read(int(self.headers.get('Content-Length', 0)))
    def do_GET(self):
        if self.headers.get('Upgrade') == 'websocket':
            key = self.headers['Sec-WebSocket-Key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
            self.send_response(101)
            self.send_header('Upgrade', 'websocket'); self.send_header('Connection', 'Upgrade')
            self.send_header('Sec-WebSocket-Accept', base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
            self.end_headers(); self.wfile.write(b'\x81\x05hello'); self.wfile.flush()
            return
        if self.path == '/events':
            self.send_response(200); self.send_header('Content-Type', 'text/event-stream'); self.send_header('Connection', 'close')
            self.end_headers()
            for n in range(3):
                self.wfile.write(b'data: %d\n\n' % n); self.wfile.flush(); time.sleep(0.3)
            self.close_connection = True
            return
        answer = json.dumps({'method': self.command, 'path': self.path, 'headers': {k.lower(): v for k, v in self.headers.items()},
                             'sha256': hashlib.sha256(self.body()).hexdigest()}).encode()
        self.send_response(200); self.send_header('Content-Length', str(len(answer)))
        if self.path == '/hostile':
            self.send_header('Set-Cookie', 'a=b; Domain=oyat.localhost; Path=/')
            self.send_header('Strict-Transport-Security', 'max-age=99999; includeSubDomains')
            self.send_header('Clear-Site-Data', '"*"')
        self.end_headers(); self.wfile.write(answer)
    do_POST = do_PUT = do_GET
ThreadingHTTPServer(('127.0.0.1', 8080), Shop).serve_forever()
"""


class House:
    """A server in domain mode and requests to names below it, without a resolver."""

    def __init__(self, server):
        self.server = server
        ready = server.ready()
        self.domain = ready["domain"]
        self.name, port = self.domain.split(":")
        self.port = int(port)
        self.authority = ready["caFile"]

    def connection(self, host):
        raw = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        return ssl.create_default_context(cafile=self.authority).wrap_socket(raw, server_hostname=host)

    def ask(self, host, path="/", headers=None, method="GET", body=None, name=None):
        """HTTP/1.1; `name` is the Host where it is not that of the TLS handshake."""
        with self.connection(host) as secure:
            link = http.client.HTTPConnection(host)
            link.sock = secure
            link.request(method, path, body, {"Host": f"{name or host}:{self.port}", **(headers or {})})
            answer = link.getresponse()
            return answer.status, answer.headers, answer.read()

    def curl(self, url, *options):
        """What curl prints of a request by HTTP/2 and the protocol that it says to have used."""
        out = subprocess.run(["curl", "-sS", "--http2", "--cacert", self.authority, "-w", "\n%{http_version} %{http_code}", "--connect-to",
                              f"::127.0.0.1:{self.port}", *options, url], capture_output=True, text=True, timeout=60, check=True).stdout
        body, last = out.rsplit("\n", 1)
        version, status = last.split()
        return version, int(status), body

    def host(self, sandbox, port=8080):
        return f"{port}-{sandbox.id}.{self.name}"

    def native(self, method, path, body=None, expected=(200, 201)):
        client = self.server.client
        status, _, data = client.raw(method, path, json.dumps(body or {}), {"X-API-Key": client.key, "Content-Type": "application/json"})
        assert status in expected, f"{method} {path}: {status} {data!r}"
        return json.loads(data) if data else None

    def expose(self, sandbox, who, port=8080):
        self.native("PUT", f"/v1/sandboxes/{sandbox.id}/ports/{port}", {"who": who})

    def link(self, sandbox, port=8080, ttl=3_600_000):
        return self.native("POST", f"/v1/sandboxes/{sandbox.id}/ports/{port}/link", {"ttl_ms": ttl})

    def events(self, sandbox, kind):
        client = self.server.client
        _, _, data = client.raw("GET", f"/v1/events?sandbox={sandbox.id}&type={kind}&limit=1000", None, {"X-API-Key": client.key})
        return [json.loads(line) for line in data.splitlines() if line]


def open_shop(sandbox):
    sandbox.write("/tmp/shop.py", SHOP.encode())
    sandbox.run("(setsid python3 /tmp/shop.py >/tmp/shop.log 2>&1 &); for i in $(seq 100); do ss -ltn | grep -q :8080 && break; sleep 0.1; done")


def both_protocols(house):
    """The API and a port under their names: HTTP/1.1 and HTTP/2, uploads, events as they come, WebSocket."""
    with house.server.client.create() as sandbox:
        open_shop(sandbox)
        api, shop = f"https://api.{house.domain}", f"https://{house.host(sandbox)}:{house.port}"
        for version in ("2", "1.1"):
            assert house.curl(f"{api}/health", f"--http{version}")[:2] == (version, 204), house.curl(f"{api}/health", f"--http{version}")
        version, status, body = house.curl(f"{shop}/a?b=c")
        assert (version, status) == ("2", 200), body
        seen = json.loads(body)
        assert seen["path"] == "/a?b=c" and seen["headers"]["host"] == f"{house.host(sandbox)}:{house.port}", seen
        assert seen["headers"]["x-forwarded-proto"] == "https", seen
        large = os.urandom(20 << 20)
        with open(house.server.state / "large", "wb") as file:
            file.write(large)
        version, status, body = house.curl(f"{shop}/upload", "-T", str(house.server.state / "large"))
        assert (version, status) == ("2", 200) and json.loads(body)["sha256"] == hashlib.sha256(large).hexdigest(), body
        began = time.monotonic()
        with subprocess.Popen(["curl", "-sSN", "--http2", "--cacert", house.authority, "--connect-to", f"::127.0.0.1:{house.port}", f"{shop}/events"],
                              stdout=subprocess.PIPE) as curl:
            assert curl.stdout.readline() == b"data: 0\n" and time.monotonic() - began < 0.9, "the first event waited for the last"
            assert curl.stdout.read().count(b"data:") == 2
        assert websocket(house, sandbox, {}) == 101


def websocket(house, sandbox, headers):
    with house.connection(house.host(sandbox)) as secure:
        key = base64.b64encode(os.urandom(16)).decode()
        lines = {"Host": f"{house.host(sandbox)}:{house.port}", "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Key": key,
                 "Sec-WebSocket-Version": "13", **headers}
        secure.sendall(("GET /socket HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items()) + "\r\n").encode())
        seen = b""
        while b"hello" not in seen and (part := secure.recv(4096)):
            seen += part
        return int(seen.split()[1])


def host_name_wins(house):
    """C-04: by TLS too, the Host decides: neither a routing header nor the name of the handshake leads elsewhere, and two Hosts are none."""
    with house.server.client.create() as ours, house.server.client.create(network={"allowPublicTraffic": False}) as other:
        open_shop(ours)
        open_shop(other)
        routing = {"E2b-Sandbox-Id": other.id, "E2b-Sandbox-Port": "8080"}
        status, _, body = house.ask(house.host(ours), headers=routing)
        assert status == 200 and ours.id in json.loads(body)["headers"]["host"], body
        assert house.ask(house.host(ours), name=house.host(other))[0] == 403, "the handshake's name opened another's port"
        version, status, _ = house.curl(f"https://{house.host(ours)}:{house.port}/", "-H", f"Host: {house.host(other)}:{house.port}")
        assert (version, status) == ("2", 403)
        for strange in (f"8080-{other.id}", f"8080-{other.id}.", f"8080-{ours.id}.{house.name}@8080-{other.id}.{house.name}", f"08080-{other.id}.{house.name}"):
            assert house.ask(house.host(ours), name=strange)[0] in (400, 403), strange


def foreign_tokens(house):
    """E-24, C-07: a port that wants a token takes its own sandbox's only, whoever asks; the agent's own port is not meant by it."""
    closed = {"network": {"allowPublicTraffic": False}}
    with house.server.client.create(**closed) as one, house.server.client.create(**closed) as other:
        open_shop(one)
        tokens = [house.native("GET", f"/v1/sandboxes/{each.id}/ports")["token"] for each in (one, other)]
        host = house.host(one)
        for wrong in ({}, {"E2B-Traffic-Access-Token": ""}, {"E2B-Traffic-Access-Token": tokens[1]}, {"E2B-Traffic-Access-Token": tokens[0][:-1]},
                      {"X-Access-Token": one.token}, {"X-API-KEY": "e2b_" + "0" * 40}):
            status, _, body = house.ask(host, headers=wrong)
            assert status == 403 and json.loads(body)["code"] == 403, f"{list(wrong)}: {status} {body!r}"
        status, _, body = house.ask(host, headers={"E2B-Traffic-Access-Token": tokens[0]})
        assert status == 200 and "e2b-traffic-access-token" not in json.loads(body)["headers"], body
        inside = other.run(f"curl -sk -m 5 -o /dev/null -w '%{{http_code}}' --connect-to ::127.0.0.1:{house.port} https://{host}:{house.port}/; "
                           f"curl -sk -m 5 -o /dev/null -w '%{{http_code}}' https://{host}:{house.port}/")
        assert "200" not in inside.stdout, inside.stdout
        status, _, _ = house.ask(house.host(one, 49983), "/health")
        assert status == 204
        assert one.run("echo fine").stdout == "fine\n"
        denied = house.events(one, "ingress.denied")
        assert denied and denied[0]["port"] == 8080 and denied[0]["fault"] == "policy", denied
        assert [each["way"] for each in house.events(one, "ingress.visit")] == ["token"], house.events(one, "ingress.visit")
        everything = json.dumps(denied + house.events(one, "ingress."))
        assert not any(token in everything for token in tokens), "the record holds a token"


def links(house):
    """C-07: a link opens one port for its time; a browser keeps it as a cookie that no other page can use, and the server inside sees neither."""
    with house.server.client.create() as sandbox:
        open_shop(sandbox)
        house.native("POST", f"/v1/sandboxes/{sandbox.id}/ports/8080/link", expected=(200, 201))  # public: nothing to open, and no harm
        house.expose(sandbox, "link")
        host, link = house.host(sandbox), house.link(sandbox)
        assert link["url"].startswith(f"https://{host}:{house.port}/?oyat_link="), link
        query = link["url"].split("/?")[1]
        assert house.ask(host)[0] == 403
        status, _, body = house.ask(host, f"/page?x=1&{query}")
        assert status == 200 and json.loads(body)["path"] == "/page?x=1", body
        stale = house.link(sandbox, ttl=0)["url"].split("/?")[1]
        house.expose(sandbox, "link", 8081)
        elsewhere = house.link(sandbox, 8081)["url"].split("/?")[1]
        forged = query.replace("oyat_link=", "oyat_link=9")
        for name, wrong in {"over": stale, "another port's": elsewhere, "forged": forged, "empty": "oyat_link="}.items():
            assert house.ask(host, f"/?{wrong}")[0] == 403, name

        status, headers, _ = house.ask(host, f"/page?{query}", BROWSER)
        assert status == 303 and headers["Location"] == "/page" and headers["Referrer-Policy"] == "no-referrer", (status, headers.items())
        cookie = headers["Set-Cookie"]
        assert cookie.startswith("__Host-oyat-link=") and "Secure" in cookie and "HttpOnly" in cookie and "Domain" not in cookie, cookie
        kept = {"Cookie": "mine=1; " + cookie.split(";")[0]}
        status, _, body = house.ask(host, "/page", {**BROWSER, **kept})
        assert status == 200 and json.loads(body)["headers"]["cookie"] == "mine=1", body
        neighbour = f"https://8080-iaaaaaaaaaaaaaaaaaaaa.{house.domain}"
        for name, foreign in {"a POST": ("POST", {"Origin": neighbour}), "a fetch": ("GET", {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"})}.items():
            assert house.ask(host, "/", {**kept, **foreign[1]}, foreign[0])[0] == 403, name
        own = f"https://{host}:{house.port}"
        assert websocket(house, sandbox, {**kept, "Origin": own}) == 101
        assert websocket(house, sandbox, {**kept, "Origin": neighbour}) == 403
        assert websocket(house, sandbox, {**kept, "Origin": "null"}) == 403
        house.expose(sandbox, "token")
        assert house.ask(host, "/page", kept)[0] == 403, "a link outlived the exposure"
        house.native("POST", f"/v1/sandboxes/{sandbox.id}/ports/8080/link", expected=(400, 409, 412))


def what_answers_may_say(house):
    """C-06: a port's answer reaches no neighbour: no cookie for the domain above, no HSTS, no Clear-Site-Data."""
    with house.server.client.create() as sandbox:
        open_shop(sandbox)
        status, headers, _ = house.ask(house.host(sandbox), "/hostile")
        assert status == 200 and headers["Set-Cookie"] == "a=b; Path=/", headers.items()
        assert headers["Strict-Transport-Security"] is None and headers["Clear-Site-Data"] is None, headers.items()


def exposure_holds(house):
    """C-08: a closed port stays closed over a restart of oyatd, and so do the mask of the host and the links; dead ports and sandboxes are 502."""
    with house.server.client.create(network={"maskRequestHost": "shop.example:${PORT}"}) as sandbox:
        open_shop(sandbox)
        host = house.host(sandbox)
        house.expose(sandbox, "closed", 8081)
        house.expose(sandbox, "link", 8080)
        query = house.link(sandbox)["url"].split("/?")[1]
        opened = [(each["port"], each["who"]) for each in house.events(sandbox, "ingress.opened")]
        assert opened == [(8081, "closed"), (8080, "link")], opened
        before = house.server.ready()
        os.kill(before["oyatdPid"], 9)
        house.server.wait_restarted(before)
        assert house.ask(house.host(sandbox, 8081))[0] == 403
        assert house.ask(host)[0] == 403
        status, _, body = house.ask(host, f"/?{query}")
        assert status == 200 and json.loads(body)["headers"]["host"] == "shop.example:8080", body
        assert json.loads(body)["headers"]["x-forwarded-host"] == f"{host}:{house.port}", body
        status, _, body = house.ask(house.host(sandbox, 8082))
        assert status == 502 and json.loads(body)["message"] == "The sandbox is running but port is not open", body
        status, headers, body = house.ask(house.host(sandbox, 8082), headers=BROWSER)
        assert status == 502 and headers["Content-Type"].startswith("text/html") and b"start a server there" in body, body
        for port in (65501, 65502, 0, 65536):
            assert house.ask(house.host(sandbox, port))[0] in (400, 502), port
        gone = host
    assert house.ask(gone)[0] == 502


def visits(house):
    """Who came is on the record: the first visit of a visitor and day, not each request."""
    with house.server.client.create() as sandbox:
        open_shop(sandbox)
        for _ in range(5):
            assert house.ask(house.host(sandbox), headers={"User-Agent": "visitor/1"})[0] == 200
        seen = house.events(sandbox, "ingress.visit")
        assert [(each["port"], each["peer"], each["way"], each["client"]) for each in seen] == [(8080, "127.0.0.1", "anyone", "visitor/1")], seen


def operators_cap():
    """C-08: with `preview_max` no port is wider than the operator says, whatever the client asks for or says later."""
    server = Server(tls_domain=f"oyat.localhost:{free_port()}")
    config = server.state / "cap.toml"
    config.write_text('[tenant]\npreview_max = "token"\n')
    server.state.chmod(0o755)
    server.options = ["--config", str(config)]
    with server:
        house = House(server)
        made = server.client.api("POST", "/v2/sandboxes", {"templateID": "base", "timeout": 300, "network": {"allowPublicTraffic": True}})
        with server.client.connect(made["sandboxID"]) as sandbox:
            open_shop(sandbox)
            assert house.ask(house.host(sandbox))[0] == 403
            assert house.ask(house.host(sandbox), headers={"E2B-Traffic-Access-Token": made["trafficAccessToken"]})[0] == 200
            refused = house.native("PUT", f"/v1/sandboxes/{sandbox.id}/ports/8080", {"who": "public"}, expected=(403,))
            assert "wider than token" in refused["error"]["message"] and refused["error"]["fault"] == "operator", refused
            house.expose(sandbox, "closed")
            assert house.ask(house.host(sandbox), headers={"E2B-Traffic-Access-Token": made["trafficAccessToken"]})[0] == 403


def checks(tally):
    tally.check("C-08 previews: the operator's cap", operators_cap)
    names = {"C-04 previews: host names": host_name_wins, "C-06 previews: answers": what_answers_may_say, "C-07 previews: links": links,
             "C-08 previews: exposure holds": exposure_holds, "E-24 previews: foreign tokens": foreign_tokens,
             "previews: both protocols": both_protocols, "previews: visits": visits}
    if not any(tally.wants(name) for name in names):
        return
    with Server(tls_domain=f"oyat.localhost:{free_port()}") as server:
        house = House(server)
        for name, check in names.items():
            tally.check(name, check, house)
