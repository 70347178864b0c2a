"""The proxies inside (HTTP CONNECT and SOCKS5) take the same decision as everything else: what is refused to a plain connection is refused
to one that is asked for, in whatever words."""
import json

import doors
from client_hello import greeting
from doors import ONLY_A, a_try
from internet import HOST, METADATA, PRIVATE, SHARED

PROXY, HTTP_PORT, SOCKS_PORT = "10.254.0.1", 3128, 1080
HELLO = b"\x05\x01\x00"  # SOCKS 5 without authentication (RFC 1928)


def connect(target, *fields, more=b""):
    return "\r\n".join([f"CONNECT {target} HTTP/1.1", *(fields or [f"Host: {target}"]), "", ""]).encode("latin-1") + more


def socks(kind, address, port=80, command=1):
    return HELLO + bytes([5, command, 0, kind]) + address + port.to_bytes(2, "big")


def named(name, port=80, command=1):
    return socks(3, bytes([len(name)]) + name, port, command)


FORBIDDEN = [METADATA, PRIVATE, HOST, "127.0.0.1", "0.0.0.0", "169.254.43518", "0xa9fea9fe", "2852039166", "metadata.test", "private.test",
             "localhost", "a.test.169.254.169.254.test", "b.test", "c.test", PROXY]
BY_CONNECT = {
    **{target: connect(f"{target}:80", more=b"GET / HTTP/1.0\r\n\r\n") for target in FORBIDDEN},
    "mapped": connect("[::ffff:169.254.169.254]:80"), "loopback": connect("[::1]:80"), "no port": connect("a.test"), "port 0": connect("a.test:0"),
    "a big port": connect("a.test:65979"), "a signed port": connect("a.test:+443"), "userinfo": connect("a.test@b.test:443"), "a NUL": connect("b.test\0.a.test:443"),
    "two hosts": connect("b.test:443", "Host: a.test:443", "Host: b.test:443"), "another Host": connect("b.test:443", "Host: a.test:443"),
    "a path": connect("b.test:443/a.test:443"), "an absolute URL": b"GET http://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n",
    "a neighbour's greeting": connect("a.test:443", more=greeting(b"b.test")), "itself": connect(f"{PROXY}:{HTTP_PORT}", more=connect("b.test:443")),
}
BY_SOCKS = {
    **{target: named(target.encode()) + b"GET / HTTP/1.0\r\n\r\n" for target in FORBIDDEN},
    "an address": socks(1, bytes([169, 254, 169, 254])), "a private address": socks(1, bytes([10, 9, 9, 9])),
    "mapped": socks(4, bytes(10) + b"\xff\xff" + bytes([169, 254, 169, 254])), "IPv6": socks(4, bytes.fromhex("20010db8" + "0" * 23 + "2"), 443),
    "a NUL": named(b"b.test\0.a.test", 443), "a NUL behind": named(b"a.test\0", 443), "no name": named(b"", 443), "a long name": named(b"a" * 255, 443),
    "BIND": named(b"a.test", 443, command=2), "UDP": named(b"a.test", 443, command=3), "another version": b"\x04\x01\x00\x50" + bytes([169, 254, 169, 254]) + b"\0",
    "no way to be known": b"\x05\x01\x02", "a neighbour's greeting": named(b"a.test", 443) + greeting(b"b.test"), "an unknown kind": socks(9, b"abcd"),
}


def forbidden(server, internet, port, table):
    with server.client.create(**ONLY_A) as sandbox:
        for user in doors.USERS:
            with doors.nothing_leaves(internet, sandbox):
                for name, outcome in zip(table, doors.knock(sandbox, [a_try(PROXY, port, data, finish=True) for data in table.values()], user)):
                    assert b"answered" not in outcome.got and b"\x16\x03" not in outcome.got, f"{name} as {user}: {outcome}"
                    assert outcome.errno != "timeout", f"{name} as {user}: {outcome}"
        doors.on_record(server, sandbox, ("always-deny:",), addr=METADATA, port=80)
        doors.on_record(server, sandbox, ("private",), addr=PRIVATE, port=80)


def allowed(server, internet):
    with server.client.create(**ONLY_A) as sandbox:
        for proxy in (f"http://{PROXY}:{HTTP_PORT}", f"socks5h://{PROXY}:{SOCKS_PORT}", f"socks5://{PROXY}:{SOCKS_PORT}"):
            internet.forget()
            answer = doors.curl(sandbox, "--proxy", proxy, "https://a.test/by-proxy")
            assert answer.stdout and json.loads(answer.stdout)["answered"] == "a.test", f"{proxy}: {answer.stdout} {answer.stderr}"
            assert [visit.address for visit in internet.services.visits] == [SHARED], internet.services.visits
            assert doors.curl(sandbox, "--proxy", proxy, "https://b.test/").exit_code != 0, proxy


def checks(tally, server, internet):
    tally.check("E-01 proxies inside lead where rules allow", allowed, server, internet)
    tally.check("E-07 E-08 forbidden targets by CONNECT", forbidden, server, internet, HTTP_PORT, BY_CONNECT)
    tally.check("E-07 E-08 forbidden targets by SOCKS", forbidden, server, internet, SOCKS_PORT, BY_SOCKS)
