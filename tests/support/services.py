"""Servers of the test's Internet: each a small function that is given one connection and notes what it saw."""
import contextlib
import hashlib
import json
import re
import socket
import ssl
import threading
import time


class Visit:
    """One connection as the server saw it: where it was going, and what came."""

    def __init__(self, address, port):
        self.address, self.port = address, port
        self.at = time.monotonic()
        self.server_name = None  # of the TLS handshake
        self.heads = []          # of HTTP requests, as they came
        self.bodies = []         # theirs, where they say a length
        self.bytes = b""         # of other protocols

    def __repr__(self):
        return f"{self.address}:{self.port} {self.server_name or ''} {self.heads or self.bytes[:60]}"


class _Listener(socket.socket):
    def close(self):
        """Also for the thread that waits on it, which would go on taking connections otherwise."""
        with contextlib.suppress(OSError):
            self.shutdown(socket.SHUT_RDWR)
        super().close()


class Services:
    """Listens on every address of a namespace. `visits` is the log of connections."""

    def __init__(self, namespace):
        self.visits = []
        self._namespace = namespace

    def serve(self, port, handler, address=""):
        """handler(connection, visit) runs in a thread of its own for each connection. Who listens on one address is asked before who
        listens on all; the listener is returned, to be closed by whoever wants it gone."""
        with self._namespace.entered():
            listener = _Listener(fileno=socket.create_server((address, port), backlog=512, reuse_port=True).detach())
        threading.Thread(target=self._accept, args=(listener, port, handler), daemon=True).start()
        return listener

    def _accept(self, listener, port, handler):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # closed
            visit = Visit(connection.getsockname()[0], port)
            self.visits.append(visit)
            threading.Thread(target=self._handle, args=(connection, visit, handler), daemon=True).start()

    @staticmethod
    def _handle(connection, visit, handler):
        connection.settimeout(60)
        try:
            with connection:
                handler(connection, visit)
        except (OSError, ValueError):
            pass  # what a client does to its connection is its own affair


def tls(contexts, handler):
    """`handler` over TLS: the certificate is that of the name which the client gives, the first of all without a name."""
    def handle(connection, visit):
        own = next(iter(contexts.values()))

        def choose(wrapped, name, _):
            visit.server_name = name
            wrapped.context = contexts.get(name, own)
        greeter = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        greeter.sni_callback = choose
        with greeter.wrap_socket(connection, server_side=True) as wrapped:
            handler(wrapped, visit)
    return handle


def echo(connection, visit):
    while data := connection.recv(65536):
        visit.bytes = (visit.bytes + data)[-65536:]
        connection.sendall(data)


def speaks_first(banner):
    """A server that greets before it has heard anything, as SSH, SMTP and databases do; then it echoes."""
    def handler(connection, visit):
        connection.sendall(banner)
        echo(connection, visit)
    return handler


def answers(status):
    """A server whose every answer is this status, without a body."""
    def handler(connection, visit):
        data = b""
        while piece := connection.recv(65536):
            data += piece
            while b"\r\n\r\n" in data:
                head, data = data.split(b"\r\n\r\n", 1)
                visit.heads.append(head.decode("latin-1"))
                empty = "" if status.startswith("204") else "Content-Length: 0\r\n"
                connection.sendall(f"HTTP/1.1 {status}\r\n{empty}\r\n".encode())
    return handler


def _body(connection, head, buffer):
    """(the body of this request, what follows it); None when it broke off."""
    length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.IGNORECASE)
    chunked = re.search(rb"\r\ntransfer-encoding: *chunked", head, re.IGNORECASE)
    body, wanted = b"", int(length[1]) if length else 0
    while True:
        line = buffer.find(b"\r\n") if chunked else 0
        if not chunked and len(buffer) >= wanted:
            return body + buffer[:wanted], buffer[wanted:]
        if chunked and line >= 0 and len(buffer) >= line + 4 + int(buffer[:line], 16):
            size = int(buffer[:line], 16)
            body, buffer = body + buffer[line + 2:line + 2 + size], buffer[line + 4 + size:]
            if size == 0:
                return body, buffer
            continue
        data = connection.recv(65536)
        if not data:
            return None
        buffer += data


def _digests(head):
    """SHA-256 of each field's value: what came of a secret can be told without sending it back."""
    fields = (line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
    return {name.lower(): hashlib.sha256(value.encode("latin-1")).hexdigest() for name, value in fields}


def read_head(connection):
    """The head of a request and what came with it. OSError when the other side leaves before its end."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            raise OSError("no request")
        data += piece
    return data


def discreet(connection, visit):
    """As `http`, but the answer holds nothing of the request."""
    http(connection, visit, echoes=False)


def http(connection, visit, echoes=True):
    """Answers each request with what it saw of it, as JSON; the connection is kept."""
    buffer = b""
    while True:
        while b"\r\n\r\n" not in buffer:
            data = connection.recv(65536)
            if not data:
                return
            buffer += data
        head, buffer = buffer.split(b"\r\n\r\n", 1)
        visit.heads.append(head.decode("latin-1"))
        parts = _body(connection, head, buffer)
        if parts is None:
            return
        body, buffer = parts
        visit.bodies.append(body)
        said = {"answered": visit.server_name or "plain", "from": connection.getpeername()[0]}
        if echoes:
            said |= {"head": visit.heads[-1], "digests": _digests(visit.heads[-1])}
        body = json.dumps(said).encode()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
