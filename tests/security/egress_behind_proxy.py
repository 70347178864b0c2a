"""E-23: the way out leads through somebody's own proxy (E2B's `egressProxy`), which is not there, is late, or lies: nothing goes past it, and what the
program inside meets is a failure in bounded time."""
import socket
import time

import doors
from client import Refused
from internet import OTHER, SHARED
from services import http, tls

PROXY = "203.0.113.70"
REPLIES = {
    "nothing": b"", "half a greeting": b"\x05", "SOCKS4": b"\x00\x5a" + bytes(6), "no way to be known": b"\x05\xff", "a login unasked": b"\x05\x02",
    "an unknown way": b"\x05\x80", "a refusal": b"\x05\x00" + b"\x05\x02\x00\x01" + bytes(6), "an unknown refusal": b"\x05\x00" + b"\x05\xee\x00\x01" + bytes(6),
    "another version": b"\x05\x00" + b"\x04\x00\x00\x01" + bytes(6), "an unknown kind of address": b"\x05\x00" + b"\x05\x00\x00\x09" + bytes(6),
    "a name without an end": b"\x05\x00" + b"\x05\x00\x00\x03\xff" + b"a" * 20, "HTTP": b"HTTP/1.1 200 OK\r\n\r\n", "rubbish": b"\xff" * 4096,
}
HTTP_REPLIES = {
    "nothing": b"", "a refusal": b"HTTP/1.1 407 Who are you\r\n\r\n", "a redirect": b"HTTP/1.1 302 Found\r\nLocation: http://c.test/\r\n\r\n",
    "SOCKS": b"\x05\x00", "a head without an end": b"HTTP/1.1 200 OK\r\n" + b"X-A: " + b"a" * 20_000, "another protocol": b"ICY 200 OK\r\n\r\n",
    "half a line": b"HTTP/1.1 2",
}


def says(replies):
    """A proxy whose whole answer is the next of these, whatever it hears."""
    left = list(replies)

    def handler(connection, visit):
        visit.bytes += connection.recv(65536)
        if left:
            connection.sendall(left.pop(0))
    return handler


def never_answers(connection, visit):
    while data := connection.recv(65536):
        visit.bytes += data


def works(internet):
    """An honest SOCKS5 proxy to a.test, so that it is known that the others fail for what they say."""
    greet = tls({"a.test": internet.authority.server_context("a.test")}, http)

    def handler(connection, visit):
        connection.recv(3)
        connection.sendall(b"\x05\x00")
        visit.bytes = connection.recv(300)
        connection.sendall(b"\x05\x00\x00\x01" + bytes(6))
        greet(connection, visit)
    return handler


def close(listener):
    listener.shutdown(socket.SHUT_RDWR)  # whoever waits for a connection wakes up
    listener.close()


def through(address):
    return {"network": {"egressProxy": {"address": address}}}


def stays_shut(server, internet, scheme, port, replies, seconds=8):
    listener = internet.services.serve(port, says(replies.values()), address=PROXY)
    try:
        with server.client.create(**through(f"{scheme}{PROXY}:{port}")) as sandbox:
            for name in replies:
                internet.forget()
                began = time.monotonic()
                answer = doors.curl(sandbox, "--max-time", "20", "https://a.test/")
                assert answer.exit_code not in (0, 28), f"{name}: {answer.exit_code} {answer.stdout}"
                assert time.monotonic() - began < seconds, f"{name} took {time.monotonic() - began:.0f} s"
                to = {visit.address for visit in internet.services.visits}
                assert to == {PROXY}, f"{name}: {internet.services.visits}"
            failed = [event for event in doors.events(server, sandbox, "connect.closed") if "proxy" in event.get("reason", "")]
            assert failed and all(event["addr"] == SHARED for event in failed), doors.events(server, sandbox, "connect.")
    finally:
        close(listener)


def not_there(server, internet):
    """Nobody listens, it never answers, its address is none that may be reached, its name leads nowhere: nothing goes straight out instead."""
    listener = internet.services.serve(1082, never_answers, address=PROXY)
    internet.names.hosts["to-private-proxy.test"] = ["10.9.9.9"]
    try:
        for place, limit in ((f"{PROXY}:1", 5), (f"{PROXY}:1082", 15), ("10.9.9.9:1080", 5), ("169.254.169.254:80", 5), ("127.0.0.1:1080", 5),
                             ("to-private-proxy.test:1080", 5), ("no-such-proxy.test:1080", 5)):
            for user in doors.USERS:
                with server.client.create(**through(place)) as sandbox:
                    internet.forget()
                    began = time.monotonic()
                    answer = doors.curl(sandbox, "--max-time", "20", "https://a.test/", user=user)
                    assert answer.exit_code not in (0, 28), f"{place} as {user}: {answer.exit_code} {answer.stdout}"
                    assert time.monotonic() - began < limit, f"{place} took {time.monotonic() - began:.0f} s"
                    to = {visit.address for visit in internet.services.visits} | {packet[1] for packet in internet.packets.all()}
                    assert to <= {PROXY}, f"{place} as {user}: {to}"
                    closed = doors.events(server, sandbox, "connect.closed")
                    assert closed and all(event["reason"] != "closed" for event in closed), closed
    finally:
        close(listener)


def is_found_again(server, internet):
    """The same sandbox, whose proxy is away, there, and away again; then without one."""
    with server.client.create(**through(f"{PROXY}:1083")) as sandbox:
        assert doors.curl(sandbox, "https://a.test/").exit_code != 0
        listener = internet.services.serve(1083, works(internet), address=PROXY)
        internet.forget()
        answer = doors.curl(sandbox, "https://a.test/by-proxy")
        assert "answered" in answer.stdout, answer.stderr
        assert {visit.address for visit in internet.services.visits} == {PROXY}, internet.services.visits
        close(listener)
        internet.forget()
        assert doors.curl(sandbox, "https://a.test/").exit_code != 0
        assert SHARED not in {visit.address for visit in internet.services.visits}
        server.client.api("PUT", f"/sandboxes/{sandbox.id}/network", {})
        doors.reach(internet, sandbox)


def names_of_proxies(server, _internet):
    """What is no HOST:PORT is refused before there is a sandbox."""
    for address in ("a.test\0.b.test:1080", "a.test:0", "a.test:65536", "a.test", ":1080", "a b:1080", "user@a.test:1080", "a.test:1080/x", "\r\n:1080",
                    "ftp://a.test:21", "a.test:1080\0", "[::1:1080", "a" * 300 + ".test:1080"):
        try:
            server.client.create(**through(address)).kill()
        except Refused as refused:
            assert refused.status == 400, f"{address!r}: {refused}"
            continue
        raise AssertionError(f"{address!r} was taken for a proxy")


def is_all_there_is(server, internet):
    """Rules hold in front of it as well: what they refuse is not even asked of the proxy."""
    listener = internet.services.serve(1084, works(internet), address=PROXY)
    try:
        with server.client.create(network={"allowOut": ["a.test"], "denyOut": ["0.0.0.0/0"], "egressProxy": {"address": f"{PROXY}:1084"}}) as sandbox:
            assert "answered" in doors.curl(sandbox, "https://a.test/").stdout
            internet.forget()
            for user in doors.USERS:
                for target in ("https://c.test/", f"https://{OTHER}/", "http://169.254.169.254/", "http://10.9.9.9/"):
                    assert doors.curl(sandbox, "--insecure", target, user=user).exit_code != 0, target
            assert not internet.services.visits, internet.services.visits
            assert "answered" in doors.curl(sandbox, "https://a.test/").stdout
    finally:
        close(listener)


def checks(tally, server, internet):
    tally.check("E-23 a proxy of one's own that is not there", not_there, server, internet)
    tally.check("E-23 answers of a SOCKS proxy", stays_shut, server, internet, "", 1080, REPLIES)
    tally.check("E-23 answers of an HTTP proxy", stays_shut, server, internet, "http://", 8080, HTTP_REPLIES)
    tally.check("E-23 a proxy that comes and goes", is_found_again, server, internet)
    tally.check("E-23 rules hold in front of a proxy", is_all_there_is, server, internet)
    tally.check("E-23 names of proxies", names_of_proxies, server, internet)
