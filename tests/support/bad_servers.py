"""Servers of the test's Internet that mean no good to whoever connects: each below bad.test, at an address of its own."""
import gzip
import struct
import socket
import time

from authority import Authority
from services import http, tls


def _asked(connection):
    head = b""
    while b"\r\n\r\n" not in head:
        data = connection.recv(65536)
        if not data:
            raise OSError("no request")
        head += data


def never_greets(connection, visit):
    while data := connection.recv(65536):
        visit.bytes += data


def greets_byte_by_byte(connection, visit):
    visit.bytes += connection.recv(65536)
    for byte in b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03" + bytes(100):
        connection.sendall(bytes([byte]))
        time.sleep(1)


def endless_head(connection, visit):
    _asked(connection)
    visit.heads.append("asked")
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(20000):
        connection.sendall(b"X-%d: " % number + b"y" * 1000 + b"\r\n")


def endless_interim(connection, visit):
    _asked(connection)
    visit.heads.append("asked")
    for _ in range(200_000):
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")


def bomb(connection, visit):
    _asked(connection)
    visit.heads.append("asked")
    body = gzip.compress(bytes(64 << 20))
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


def resets(connection, visit):
    _asked(connection)
    visit.heads.append("asked")
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def two_answers(connection, visit):
    """The second one would be taken for the answer to the next request, whoever asks it."""
    while True:
        _asked(connection)
        visit.heads.append("asked")
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled")


def nonsense(connection, visit):
    _asked(connection)
    visit.heads.append("asked")
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 9\r\nTransfer-Encoding: xchunked\r\n\r\nhello")


def to_private(connection, visit):
    _asked(connection)
    visit.heads.append("asked")
    connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://10.9.9.9/\r\nContent-Length: 0\r\n\r\n")


SPEAKERS = {"endless-head": endless_head, "endless-interim": endless_interim, "bomb": bomb, "resets": resets, "two-answers": two_answers,
            "nonsense": nonsense, "to-private": to_private}
SILENT = {"never-greets": never_greets, "greets-slowly": greets_byte_by_byte}


class BadServers:
    """`stranger` is an authority that only a sandbox might trust."""

    def __init__(self, internet):
        self._internet = internet
        self._last = 0
        self.stranger = Authority(internet.folder, "Stranger")
        good = internet.authority
        for name, context in {"expired": good.server_context("expired.bad.test", days=-1), "wrong-name": good.server_context("right-name.bad.test"),
                              "stranger": self.stranger.server_context("stranger.bad.test")}.items():
            self._serve(name, tls({name: context}, http))
        for name, handler in SPEAKERS.items():
            self._serve(name, tls({name: good.server_context(f"{name}.bad.test")}, handler))
        for name, handler in SILENT.items():
            self._serve(name, handler)

    def _serve(self, name, handler):
        self._last += 1
        address = f"203.0.113.{200 + self._last}"
        self._internet.names.hosts[f"{name}.bad.test"] = [address]
        self._internet.services.serve(443, handler, address=address)
