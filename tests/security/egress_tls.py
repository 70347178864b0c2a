"""E-02, E-03, E-04, E-05: whose name a TLS connection carries, and where it goes. Only a.test is allowed."""
import json

import doors
from client_hello import ENCRYPTED_HELLO, ENCRYPTED_NAME, PADDING, greeting
from doors import ONLY_A, a_try
from egress_requests import OPEN_PATH
from internet import OTHER, SHARED

UNRESOLVED = "203.0.113.40"  # a server stands there, but no name leads to it


def unresolved_addresses(server, internet):
    """E-02: an address that no allowed name leads to stays shut, whatever name is claimed on it."""
    tries = [a_try(address, 443, greeting(*names), wait=15) for address in (UNRESOLVED, OTHER) for names in ([], [b"a.test"], [b"c.test"])]
    tries += [a_try(UNRESOLVED, 443, finish=True), a_try(UNRESOLVED, 22, finish=True), a_try(UNRESOLVED, 7, b"xyz", finish=True)]
    with server.client.create(**ONLY_A) as sandbox:
        doors.stay_shut(server, internet, sandbox, tries, doors.ANY_RULE)


def name_before_lookup(server, internet):
    """E-02: who claims a.test on the very address that a.test has is let through, though this sandbox never asked for it."""
    with server.client.create(**ONLY_A) as sandbox:
        answer = doors.curl(sandbox, "--resolve", f"a.test:443:{SHARED}", "https://a.test/pinned")
        assert json.loads(answer.stdout)["answered"] == "a.test", answer.stderr


def neighbours(server, internet):
    """E-03: b.test lives at the address of a.test. Its name opens nothing; a Host line inside TLS leads no further than a.test's server."""
    with server.client.create(**ONLY_A) as sandbox:
        for user in doors.USERS:
            with doors.nothing_leaves(internet, sandbox):
                answer = doors.curl(sandbox, "--resolve", f"b.test:443:{SHARED}", "https://b.test/", user=user)
                assert answer.exit_code != 0, answer.stdout
        doors.on_record(server, sandbox, doors.ANY_RULE, addr=SHARED, port=443, host="b.test")
        internet.forget()
        answer = doors.curl(sandbox, "--header", "Host: b.test", "https://a.test/")
        assert {visit.server_name for visit in internet.services.visits} == {"a.test"}, internet.services.visits
        assert json.loads(answer.stdout)["answered"] == "a.test"
        allowed = [event for event in doors.events(server, sandbox, "connect.allowed") if event.get("host") == "a.test"]
        assert allowed and all(event["strength"] == "sni+pin" for event in allowed), allowed


# What a server could take for another name than oyatd does.
FORGED = {
    "two names": greeting(b"a.test", b"b.test"), "another's": greeting(b"b.test"), "an address": greeting(SHARED.encode()),
    "a NUL": greeting(b"a.test\0.evil.test"), "a NUL before it": greeting(b"b.test\0a.test"), "a U-label": greeting("ä.test".encode()),
    "two dots": greeting(b"a.test.."), "a space": greeting(b"a.test "), "empty": greeting(b""), "a port": greeting(b"a.test:443"),
    "a slash": greeting(b"b.test/a.test"), "a wildcard": greeting(b"*.test"), "254 letters": greeting(b"a" * 254),
    "the same twice": greeting(b"a.test", more=[(0, b"\0\x09\0\0\x06b.test")]),
    "another's in small records": greeting(b"b.test", size=1), "a name behind much padding": greeting(b"b.test", more=[(PADDING, bytes(60000))]),
    "a greeting of 64 KiB": greeting(b"a.test", more=[(PADDING, bytes(65000))]),
    "an encrypted greeting within another's": greeting(b"b.test", more=[(ENCRYPTED_HELLO, bytes(300))]),
    "an encrypted name": greeting(b"a.test", more=[(ENCRYPTED_NAME, bytes(300))]),
    "HTTP where TLS is expected": b"GET / HTTP/1.1\r\nHost: b.test\r\nConnection: close\r\n\r\n", "PROXY protocol": b"PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n" + greeting(b"a.test"),
    "PROXY protocol 2": b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x01\x01\x01\x01\x02\x02\x02\x02\0\x01\0\x02" + greeting(b"a.test"),
    "a control byte": greeting(b"a.test\x01"), "HTTP/2 unasked": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9),
    "a cut greeting": greeting(b"a.test")[:40], "SSLv2": b"\x80\x2e\x01\x00\x02" + bytes(41),
}


def is_shut(outcome):
    """Cut, or answered by oyatd: HTTP in clear is read, and told that it is at the wrong place."""
    return outcome.got.startswith(b"HTTP/1.1 421 ") or not outcome.got and outcome.errno != "timeout"


def forged_names(server, internet, policy, path):
    """E-04, E-05: greetings with a name that is doubled, hidden, disguised or missing."""
    # Who leaves in the middle of a greeting has not attempted anything yet.
    attempts = sum(name != "a cut greeting" and (len(data) < 1000 or pieces == 1) for name, data in FORGED.items() for pieces in (1, 1000)) * len(doors.USERS)
    with doors.all_on_record(server, attempts, **policy) as sandbox:
        for pieces in (1, 1000):
            tries = {name: a_try(SHARED, 443, data, finish=name == "a cut greeting", wait=12, pieces=pieces) for name, data in FORGED.items()
                     if pieces == 1 or len(data) < 1000}
            for user in doors.USERS:
                with doors.nothing_leaves(internet, sandbox, path):
                    for name, outcome in zip(tries, doors.knock(sandbox, list(tries.values()), user)):
                        assert is_shut(outcome), f"{name} in {pieces} pieces as {user}: {outcome}"
        refusals = [event for event in doors.denied(server, sandbox) if event.get("addr") == SHARED]
        assert refusals and all(event.get("rule") for event in refusals), refusals


def late_names(server, internet):
    """E-04: who says nothing until oyatd lets the server begin gains a connection, but no forged word on it."""
    with server.client.create(**ONLY_A) as sandbox:
        for user in doors.USERS:
            doors.reach(internet, sandbox)
            for name, outcome in zip(FORGED, doors.knock(sandbox, [a_try(SHARED, 443, data, wait=12, delay=0.6, finish=True) for data in FORGED.values()], user)):
                assert is_shut(outcome), f"{name} as {user}: {outcome}"
            doors.reach(internet, sandbox)


def odd_but_honest(server, internet):
    """E-04, E-05: the same name in capitals, in many small pieces, or outside of an encrypted greeting is still a.test, and reaches a.test."""
    honest = {"capitals": greeting(b"A.TEST"), "small records": greeting(b"a.test", size=3), "padding": greeting(b"a.test", more=[(PADDING, bytes(2000))]),
              # The keys for a real one are never told (E-05), so the outer name is all there is; browsers send such noise every time.
              "an encrypted greeting": greeting(b"a.test", more=[(ENCRYPTED_HELLO, bytes(300))])}
    with server.client.create(**ONLY_A) as sandbox:
        doors.reach(internet, sandbox)
        for pieces in (1, 1000):
            tries = [a_try(SHARED, 443, data, pieces=pieces, finish=True) for data in honest.values()]
            for name, outcome in zip(honest, doors.knock(sandbox, tries)):
                assert outcome.got[:1] == b"\x16", f"{name} in {pieces} pieces: {outcome}"


def checks(tally, server, internet):
    tally.check("E-02 addresses that no name leads to", unresolved_addresses, server, internet)
    tally.check("E-02 a name on its own address", name_before_lookup, server, internet)
    tally.check("E-03 two names at one address", neighbours, server, internet)
    tally.check("E-04 forged names", forged_names, server, internet, ONLY_A, "/well")
    tally.check("E-04 forged names where connections are read", forged_names, server, internet, OPEN_PATH, "/open/well")
    tally.check("E-04 forged names after a silence", late_names, server, internet)
    tally.check("E-04 odd but honest names", odd_but_honest, server, internet)
