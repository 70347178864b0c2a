"""A small client of the E2B protocol on Python's standard library, for tests that need raw control over a request.

The published SDKs are tested in tests/sdk; here a test may send what no SDK would.
"""
import base64
import http.client
import json
import struct
import urllib.parse


class Refused(Exception):
    """The server answered with an error."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body if isinstance(body, dict) else {}


class Result:
    def __init__(self, exit_code, stdout, stderr, error, pid):
        self.exit_code, self.stdout, self.stderr, self.error, self.pid = exit_code, stdout, stderr, error, pid


class Client:
    """One server and one key. A connection of its own for each request, unless `connection` is kept by the caller."""

    def __init__(self, url, key, timeout=60):
        self.url = urllib.parse.urlsplit(url)
        self.key = key
        self.timeout = timeout

    def connection(self):
        return http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=self.timeout)

    def raw(self, method, path, body=None, headers=None):
        """(status, headers, body bytes) of one request exactly as given."""
        connection = self.connection()
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def api(self, method, path, body=None, headers=None):
        """A call of the control plane: the parsed JSON, or Refused."""
        merged = {"X-API-KEY": self.key, **(headers or {})}
        if body is not None:
            merged["Content-Type"] = "application/json"
            body = json.dumps(body)
        status, _, data = self.raw(method, path, body, merged)
        try:
            parsed = json.loads(data) if data else None
        except ValueError:
            parsed = data.decode(errors="replace")
        if status >= 300:
            raise Refused(status, parsed)
        return parsed

    def sandboxes(self):
        """All that the list shows, page by page."""
        found, token = [], ""
        while True:
            status, headers, data = self.raw("GET", f"/v2/sandboxes?limit=100&nextToken={urllib.parse.quote(token)}", None, {"X-API-KEY": self.key})
            if status != 200:
                raise Refused(status, data.decode(errors="replace"))
            found += json.loads(data)
            token = headers.get("x-next-token", "")
            if not token:
                return found

    def create(self, template="base", policy=None, **fields):
        made = self.api("POST", "/v2/sandboxes", {"templateID": template, "timeout": 300, **fields})
        sandbox = Sandbox(self, made["sandboxID"], made.get("envdAccessToken"))
        if policy is not None:
            sandbox.set_policy(policy)
        return sandbox

    def connect(self, sandbox_id):
        """One that exists, whoever made it."""
        found = self.api("POST", f"/v2/sandboxes/{sandbox_id}/connect", {})
        return Sandbox(self, sandbox_id, found.get("envdAccessToken"))

    def create_with_limits(self, **limits):
        """By oyat's own API, which takes them for one sandbox."""
        return self.connect(self.api("POST", "/v1/sandboxes", {"limits": limits})["id"])


class Sandbox:
    def __init__(self, client, sandbox_id, token):
        self.client, self.id, self.token = client, sandbox_id, token

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def set_policy(self, document):
        """Its own document of rules; returns when it is in force."""
        return self.client.api("PUT", f"/v1/sandboxes/{self.id}/policy", document)

    def kill(self):
        try:
            self.client.api("DELETE", f"/sandboxes/{self.id}")
            return True
        except Refused as refused:
            if refused.status == 404:
                return False
            raise

    def headers(self, port=49983, user=None):
        headers = {"E2b-Sandbox-Id": self.id, "E2b-Sandbox-Port": str(port)}
        if self.token and port == 49983:
            headers["X-Access-Token"] = self.token
        if user:
            headers["Authorization"] = "Basic " + base64.b64encode(f"{user}:".encode()).decode()
        return headers

    def rpc(self, method, message, user=None):
        status, _, data = self.client.raw("POST", "/" + method, json.dumps(message), {
            **self.headers(user=user), "Content-Type": "application/json", "Connect-Protocol-Version": "1"})
        parsed = json.loads(data) if data else {}
        if status != 200:
            raise Refused(status, parsed)
        return parsed

    def stream(self, method, message, user=None, timeout_ms=None):
        """Yields the messages of a server stream; raises Refused on an error at its end."""
        body = json.dumps(message).encode()
        headers = {**self.headers(user=user), "Content-Type": "application/connect+json", "Connect-Protocol-Version": "1"}
        if timeout_ms is not None:
            headers["Connect-Timeout-Ms"] = str(timeout_ms)
        connection = self.client.connection()
        try:
            connection.request("POST", "/" + method, body=b"\0" + struct.pack(">I", len(body)) + body, headers=headers)
            answer = connection.getresponse()
            if answer.status != 200:
                data = answer.read()
                raise Refused(answer.status, json.loads(data) if data else {})
            while True:
                try:
                    head = answer.read(5)
                except http.client.HTTPException as cut:
                    raise ConnectionError("the stream was cut") from cut
                if len(head) < 5:
                    raise ConnectionError("the stream was cut")
                flag, length = head[0], struct.unpack(">I", head[1:])[0]
                parsed = json.loads(answer.read(length)) if length else {}
                if flag & 2:
                    if "error" in parsed:
                        raise Refused(200, parsed["error"])
                    return
                yield parsed
        finally:
            connection.close()

    def start(self, argv, user=None, envs=None, cwd=None, timeout_ms=60_000, pty=None, stdin=False):
        process = {"cmd": argv[0], "args": argv[1:], "envs": envs or {}}
        if cwd is not None:
            process["cwd"] = cwd
        message = {"process": process, "stdin": stdin}
        if pty:
            message["pty"] = {"size": {"cols": pty[0], "rows": pty[1]}}
        return self.stream("process.Process/Start", message, user=user, timeout_ms=timeout_ms)

    def run(self, command, user=None, **options):
        """Runs a bash command (or an argv list) to its end."""
        argv = command if isinstance(command, list) else ["/bin/bash", "-l", "-c", command]
        out, err, end, pid = b"", b"", {}, None
        for message in self.start(argv, user=user, **options):
            event = message.get("event", {})
            if "start" in event:
                pid = event["start"]["pid"]
            elif "data" in event:
                out += base64.b64decode(event["data"].get("stdout", ""))
                out += base64.b64decode(event["data"].get("pty", ""))
                err += base64.b64decode(event["data"].get("stderr", ""))
            elif "end" in event:
                end = event["end"]
        return Result(end.get("exitCode", 0), out.decode(errors="replace"), err.decode(errors="replace"),
                      end.get("error", ""), pid)

    def write(self, path, data, user="user"):
        query = urllib.parse.urlencode({"path": path, "username": user})
        status, _, answer = self.client.raw("POST", f"/files?{query}", data,
                                            {**self.headers(), "Content-Type": "application/octet-stream"})
        if status != 200:
            raise Refused(status, json.loads(answer) if answer else {})
        return json.loads(answer)

    def read(self, path, user="user"):
        query = urllib.parse.urlencode({"path": path, "username": user})
        status, _, data = self.client.raw("GET", f"/files?{query}", None, self.headers())
        if status != 200:
            raise Refused(status, json.loads(data) if data else {})
        return data
