"""Servers of the test's Internet that mean no good to whoever connects: each below bad.test, at an address of its own."""
import gzip
import socket
import struct
import time

from authority import Authority
from http2_frames import CONTINUATION, HEADERS, SETTINGS, frame
from services import http, read_head, tls


def never_greets(connection, visit):
    while data := connection.recv(65536):
        visit.bytes += data


def greets_byte_by_byte(connection, visit):
    visit.bytes += connection.recv(65536)
    for byte in b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03" + bytes(100):
        connection.sendall(bytes([byte]))
        time.sleep(1)


def endless_head(connection, visit):
    read_head(connection)
    visit.heads.append("asked")
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(20000):
        connection.sendall(b"X-%d: " % number + b"y" * 1000 + b"\r\n")


def endless_interim(connection, visit):
    read_head(connection)
    visit.heads.append("asked")
    for _ in range(200_000):
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")


def bomb(connection, visit):
    read_head(connection)
    visit.heads.append("asked")
    body = gzip.compress(bytes(64 << 20))
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


def resets(connection, visit):
    read_head(connection)
    visit.heads.append("asked")
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def two_answers(connection, visit):
    """The second one would be taken for the answer to the next request, whoever asks it."""
    while True:
        read_head(connection)
        visit.heads.append("asked")
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled")


def _until_left(connection, visit, step=lambda: None):
    """Notes when the client has left."""
    connection.settimeout(0.2)
    while True:
        try:
            step()
            if not connection.recv(65536):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    visit.heads.append("left")


def never_answers(connection, visit):
    read_head(connection)
    visit.heads.append("asked")
    _until_left(connection, visit)


def answers_byte_by_byte(connection, visit):
    read_head(connection)
    visit.heads.append("asked")
    answer = iter(b"HTTP/1.1 200 OK\r\nX-Much: " + b"y" * 600)
    _until_left(connection, visit, lambda: connection.sendall(bytes([next(answer)])))


def speaks_http2(connection, visit):
    """Frames that nobody asked for, without an end."""
    read_head(connection)
    visit.heads.append("asked")
    connection.sendall(frame(SETTINGS, 0, 0) + frame(HEADERS, 0, 1, b"\x88"))
    for _ in range(100_000):
        connection.sendall(frame(CONTINUATION, 0, 1, bytes(16)))


def nonsense(connection, visit):
    read_head(connection)
    visit.heads.append("asked")
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 9\r\nTransfer-Encoding: xchunked\r\n\r\nhello")


def leads_to(place):
    def handler(connection, visit):
        read_head(connection)
        visit.heads.append("asked")
        connection.sendall(b"HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n" % place)
    return handler


SPEAKERS = {"endless-head": endless_head, "endless-interim": endless_interim, "bomb": bomb, "resets": resets, "two-answers": two_answers,
            "nonsense": nonsense, "http2": speaks_http2, "to-private": leads_to(b"http://10.9.9.9/"), "to-denied": leads_to(b"https://c.test/")}
PATIENT = {"never-answers": never_answers, "answers-slowly": answers_byte_by_byte}
SILENT = {"never-greets": never_greets, "greets-slowly": greets_byte_by_byte}


class BadServers:
    """`stranger` is an authority that only a sandbox might trust."""

    def __init__(self, internet):
        self._internet = internet
        self._last = 0
        self.stranger = Authority(internet.folder, "Stranger")
        good = internet.authority
        for name, context in {"expired": good.server_context("expired.bad.test", days=-1), "wrong-name": good.server_context("right-name.bad.test"),
                              "stranger": self.stranger.server_context("stranger.bad.test"),
                              "self-signed": Authority(internet.folder, "self-signed.bad.test").as_server("self-signed.bad.test")}.items():
            self._serve(name, tls({name: context}, http))
        for name, handler in {**SPEAKERS, **PATIENT}.items():
            self._serve(name, tls({name: good.server_context(f"{name}.bad.test")}, handler))
        for name, handler in SILENT.items():
            self._serve(name, handler)

    def _serve(self, name, handler):
        self._last += 1
        address = f"203.0.113.{200 + self._last}"
        self._internet.names.hosts[f"{name}.bad.test"] = [address]
        self._internet.services.serve(443, handler, address=address)
