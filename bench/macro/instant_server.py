"""A server that answers at once what the SDK's create and run ask for, and does nothing: what is measured against it is the SDK.

With `pause`, the answer to a command comes after that many seconds, as if a command had run.
"""
import json
import socket
import struct
import threading
import time

BOX = json.dumps({"sandboxID": "i00000000000000000000", "templateID": "base", "alias": "base", "clientID": "oyat", "envdVersion": "0.6.2",
                  "envdAccessToken": "none", "domain": None}).encode()


def envelope(message, flag=0):
    body = json.dumps(message).encode()
    return bytes([flag]) + struct.pack(">I", len(body)) + body


def chunk(data):
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


STARTED = (b"HTTP/1.1 200 OK\r\nContent-Type: application/connect+json\r\nTransfer-Encoding: chunked\r\n\r\n"
           + chunk(envelope({"event": {"start": {"pid": 2}}})))
ENDED = chunk(envelope({"event": {"end": {"exitCode": 0, "exited": True, "status": "exit status 0"}}}) + envelope({}, 2)) + b"0\r\n\r\n"
CREATED = b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BOX) + BOX
NOTHING = b"HTTP/1.1 204 No Content\r\n\r\n"


class InstantServer:
    """with InstantServer() as url: ..."""

    def __init__(self, pause=0.0):
        self.pause = pause
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def __exit__(self, *_):
        self.listener.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        buffer = b""
        with connection:
            while True:
                while b"\r\n\r\n" not in buffer:
                    part = connection.recv(65536)
                    if not part:
                        return
                    buffer += part
                head, buffer = buffer.split(b"\r\n\r\n", 1)
                buffer = self.after_body(connection, head, buffer)
                if head.startswith(b"POST /process.Process/Start"):
                    connection.sendall(STARTED)
                    time.sleep(self.pause)
                    connection.sendall(ENDED)
                else:
                    connection.sendall(CREATED if head.startswith(b"POST") else NOTHING)

    @staticmethod
    def after_body(connection, head, buffer):
        """What follows the request's body, of a stated length or in chunks."""
        lower = head.lower()
        if b"transfer-encoding: chunked" in lower:
            while b"0\r\n\r\n" not in buffer:
                buffer += connection.recv(65536)
            return buffer.split(b"0\r\n\r\n", 1)[1]
        length = int(lower.split(b"content-length:")[1].split(b"\r\n")[0]) if b"content-length:" in lower else 0
        while len(buffer) < length:
            buffer += connection.recv(65536)
        return buffer[length:]
