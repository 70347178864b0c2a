"""Runs inside a sandbox: makes the connections that a file lists as JSON, some at a time, and prints what came of each, one JSON
line a try.

A try: {"address": text, "port": number, "udp": bool, "send": base64, "pieces": number, "finish": bool, "wait": seconds, "tls": name, "delay":
seconds, "pause": seconds, "alpn": protocol}; `pause` is made after each piece, `finish` says that nothing more will be sent, `tls` that a handshake comes first, by that name, for HTTP/1.1 unless
`alpn` says "h2". An address with a colon is taken as IPv6. What came: {"got": base64, "errno": name or "", "ms": number};
errno is empty when the other side closed in good order.
"""
import base64
import concurrent.futures
import errno
import json
import os
import socket
import ssl
import sys
import time


def pieces_of(data, count):
    size = max(1, len(data) // count)
    return [data[at:at + size] for at in range(0, len(data), size)]


def over_tls(connection, name, protocol):
    trust = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE"))
    trust.set_alpn_protocols([protocol])
    return trust.wrap_socket(connection, server_hostname=name)


def knock(attempt):
    family = socket.AF_INET6 if ":" in attempt["address"] else socket.AF_INET
    kind = socket.SOCK_DGRAM if attempt.get("udp") else socket.SOCK_STREAM
    got, problem, began = b"", "", time.monotonic()
    try:
        with socket.socket(family, kind) as plain:
            connection = plain
            connection.settimeout(attempt.get("wait", 5))
            connection.connect((attempt["address"], attempt["port"]))
            if kind == socket.SOCK_STREAM:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            time.sleep(attempt.get("delay", 0))
            if "tls" in attempt:
                connection = over_tls(connection, attempt["tls"], attempt.get("alpn", "http/1.1"))
            for piece in pieces_of(base64.b64decode(attempt.get("send", "")), attempt.get("pieces", 1)):
                connection.sendall(piece)
                time.sleep(attempt.get("pause", 0))
            if attempt.get("finish"):
                connection.shutdown(socket.SHUT_WR)
            while len(got) < 65536:
                data = connection.recv(65536)
                got += data
                if not data or kind == socket.SOCK_DGRAM:
                    break
    except TimeoutError:
        problem = "timeout"
    except ssl.SSLError as error:
        problem = error.reason or "TLS"
    except OSError as error:
        problem = errno.errorcode.get(error.errno, str(error))
    return {"got": base64.b64encode(got).decode(), "errno": problem, "ms": round((time.monotonic() - began) * 1000)}


with concurrent.futures.ThreadPoolExecutor(16) as crowd:
    for outcome in crowd.map(knock, json.load(open(sys.argv[1], encoding="utf-8"))):
        print(json.dumps(outcome), flush=True)
