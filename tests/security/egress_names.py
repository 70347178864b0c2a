"""E-05, E-06: what the name server of a sandbox tells, whatever a sandbox asks and a resolver answers."""
import hashlib
import struct
import threading
import time

import dns_wire
import doors
from doors import a_try
from dns_wire import TYPES, record, reply
from internet import METADATA, PRIVATE, SHARED

REFUSED = 5
ELSEWHERE = "203.0.113.53"  # a resolver that the sandbox would rather ask


class Told:
    def __init__(self, message):
        self.flags, _, count = struct.unpack_from(">HHH", message, 2)
        self.rcode, self.addresses, self.ttls, self.size = self.flags & 15, [], [], len(message)
        at = dns_wire.question(message)[2]
        for _ in range(count):
            _, at = dns_wire.decode_name(message, at)
            kind, _, ttl, length = struct.unpack_from(">HHIH", message, at)
            self.ttls.append(ttl)
            if kind == TYPES["A"]:
                self.addresses.append(".".join(map(str, message[at + 10:at + 14])))
            at += 10 + length
        self.count = count

    def __repr__(self):
        return f"rcode {self.rcode}, {self.count} records, {self.addresses}"


def ask(sandbox, questions, user="user", server=ELSEWHERE, stream=False, wait=8):
    """Asks a name server anywhere; (name, type) each. None where nothing came."""
    tries = []
    for name, kind in questions:
        message = dns_wire.ask(name, kind)
        tries.append(a_try(server, 53, struct.pack(">H", len(message)) + message if stream else message, udp=not stream, finish=stream, wait=wait))
    return [Told(outcome.got[2:] if stream else outcome.got) if outcome.got else None for outcome in doors.knock(sandbox, tries, user)]


def forbidden_types(server, internet):
    """E-05: no HTTPS and SVCB records, so no keys that hide names; whatever else could carry a tunnel is refused."""
    kinds = {"HTTPS": 0, "SVCB": 0, "AAAA": 0, "ANY": 5, "NULL": 5, "AXFR": 5, 65280: 5}
    with server.client.create() as sandbox:
        for user in doors.USERS:
            with doors.nothing_leaves(internet, sandbox):
                for stream in (False, True):
                    for kind, told in zip(kinds, ask(sandbox, [("a.test", kind) for kind in kinds], user, stream=stream, wait=2)):
                        assert told and told.rcode == kinds[kind] and told.count == 0, f"{kind} as {user}: {told}"
                assert not [kind for kind in internet.names.asked_for("a.test") if kind != TYPES["A"]], internet.names.asked
        doors.on_record(server, sandbox, ("type",), name="a.test", qtype="ANY")


def forbidden_answers(server, internet):
    """Addresses that a sandbox may not reach are not told to it either, in whatever company they come."""
    lies = {
        "to-metadata.test": [METADATA], "to-private.test": [PRIVATE], "to-nothing.test": ["0.0.0.0"], "to-loopback.test": ["127.0.0.1"],
        "to-all.test": ["255.255.255.255", "224.0.0.1"], "to-some.test": [PRIVATE, "203.0.113.30", METADATA],
    }
    try:
        internet.names.hosts.update(lies)
        internet.names.scripts["alias.test"] = lambda message, *_: reply(message, [
            record("alias.test", "CNAME", "inside.test"), record("inside.test", "A", PRIVATE)])
        internet.names.scripts["mapped.test"] = lambda message, *_: reply(message, [
            record("mapped.test", "AAAA", "::ffff:169.254.169.254"), record("mapped.test", "A", METADATA)])
        names = [*lies, "alias.test", "mapped.test"]
        with server.client.create() as sandbox, doors.nothing_leaves(internet, sandbox):
            for name, told in zip(names, ask(sandbox, [(name, "A") for name in names])):
                expected = ["203.0.113.30"] if name == "to-some.test" else []
                assert told and told.addresses == expected, f"{name}: {told}"
            for name in ("to-metadata.test", "to-private.test", "alias.test"):
                doors.on_record(server, sandbox, ("rebind", "always-deny", "private"), name=name)
    finally:
        internet.names.scripts.clear()


def rebinding(server, internet):
    """A name that was public a moment ago and is private now opens nothing: the connection is judged by its address."""
    internet.names.hosts["rebind.test"] = ["203.0.113.30"]
    with server.client.create() as sandbox:
        first = ask(sandbox, [("rebind.test", "A")])[0]
        assert first.addresses == ["203.0.113.30"] and min(first.ttls) >= 30, f"{first} with {first.ttls}"
        internet.names.hosts["rebind.test"] = [PRIVATE]
        with doors.nothing_leaves(internet, sandbox):
            assert ask(sandbox, [("rebind.test", "A")])[0].addresses in ([], ["203.0.113.30"])
            for outcome in doors.knock(sandbox, [a_try(PRIVATE, port, b"GET / HTTP/1.1\r\nHost: rebind.test\r\n\r\n") for port in (80, 443)]):
                assert not outcome.got, outcome
        doors.on_record(server, sandbox, ("private",), addr=PRIVATE, port=80)


def floods(server, internet):
    """Endless answers, answers to other questions, rubbish and silence: the sandbox hears a short answer or a failure, in bounded time."""
    many = [f"203.0.{n >> 8}.{n & 255}" for n in range(3000)]
    scripts = internet.names.scripts

    def ten_thousand(message, name, _kind, by_stream):
        if not by_stream:
            return reply(message, flags=dns_wire.TRUNCATED)
        return reply(message, [b"\xc0\x0c" + record("", "A", address)[1:] for address in many])
    scripts["many.test"] = ten_thousand
    scripts["rubbish.test"] = lambda *_: [b"\xff" * 500] * 200
    scripts["other.test"] = lambda message, *_: [reply(dns_wire.ask("a.test", "A", number), [record("a.test", "A", "203.0.113.66")]) for number in range(64)]
    scripts["endless.test"] = lambda message, name, *_: reply(message, [record(name, "CNAME", name)])
    scripts["chain.test"] = lambda message, *_: reply(message, [
        record(f"{n}.chain.test" if n else "chain.test", "CNAME", f"{n + 1}.chain.test") for n in range(40)])
    scripts["cut.test"] = lambda message, name, *_: reply(message, [record(name, "A", SHARED)])[:-3]
    try:
        with server.client.create() as sandbox, doors.nothing_leaves(internet, sandbox):
            told = ask(sandbox, [("many.test", "A")], stream=True)[0]
            assert told and len(told.addresses) <= 64, told
            told = ask(sandbox, [("many.test", "A")])[0]
            assert told and told.size <= 4096, told
            for name in ("rubbish.test", "other.test", "endless.test", "chain.test", "cut.test"):
                began = time.monotonic()
                told = ask(sandbox, [(name, "A")])[0]
                assert told and told.rcode == 2 and not told.addresses, f"{name}: {told}"
                assert time.monotonic() - began < 6, f"{name} took {time.monotonic() - began:.1f} s"
            assert ask(sandbox, [("a.test", "A")])[0].addresses == [SHARED], "an answer to another question was believed"
    finally:
        scripts.clear()


def silence(server, internet):
    """A resolver that says nothing: a failure after its limit, and other names are answered meanwhile."""
    internet.names.scripts["silent.test"] = lambda *_: None
    try:
        with server.client.create() as sandbox:
            told = []
            waiting = threading.Thread(target=lambda: told.extend(ask(sandbox, [("silent.test", "A")])))
            waiting.start()
            while not internet.names.asked_for("silent.test"):
                time.sleep(0.01)
            began = time.monotonic()
            doors.reach(internet, sandbox)
            assert time.monotonic() - began < 2, "a silent resolver held up other names"
            waiting.join()
            assert told[0] and told[0].rcode == 2, told
            failed = [event for event in doors.events(server, sandbox, "dns.query") if event["name"] == "silent.test"]
            assert failed and all(event["reason"] and event["fault"] for event in failed), failed
    finally:
        internet.names.scripts.clear()


def other_resolvers(server, internet):
    """Port 53 anywhere is the sandbox's own name server, by datagram and stream; it speaks nothing else."""
    with server.client.create() as sandbox:
        for user in doors.USERS:
            with doors.nothing_leaves(internet, sandbox):
                for resolver in (ELSEWHERE, METADATA, PRIVATE):
                    for stream in (False, True):
                        told = ask(sandbox, [("a.test", "A")], user, server=resolver, stream=stream, wait=3)[0]
                        assert told and told.addresses == [SHARED], f"{resolver} by {'stream' if stream else 'datagram'} as {user}: {told}"
                for outcome in doors.knock(sandbox, [a_try(ELSEWHERE, 53, b"GET / HTTP/1.0\r\nHost: a.test\r\n\r\n", finish=True),
                                                     a_try(ELSEWHERE, 53, b"SSH-2.0-x\r\n" * 500, finish=True)], user):
                    assert not outcome.got, outcome


def tunnel(server, internet):
    """Names that carry data out: most reach nobody, the domain is shut from then on, it is told once, and other names go on."""
    names = [hashlib.sha256(str(number).encode()).hexdigest()[:40] + ".tunnel.test" for number in range(150)]
    with server.client.create() as sandbox:
        doors.reach(internet, sandbox)
        internet.names.asked.clear()
        told = ask(sandbox, [(name, "TXT") for name in names])
        assert [answer.rcode for answer in told].count(REFUSED) == 50, told
        assert len({name for name, _ in internet.names.asked if name.endswith(".tunnel.test")}) == 100
        assert ask(sandbox, [("www.tunnel.test", "A")])[0].rcode == REFUSED
        signals = doors.events(server, sandbox, "signal.dns_tunnel")
        assert [signal["domain"] for signal in signals] == ["tunnel.test"], signals
        doors.on_record(server, sandbox, ("dns-tunnel",), name="www.tunnel.test")
        doors.reach(internet, sandbox)


def checks(tally, server, internet):
    tally.check("E-05 types of records", forbidden_types, server, internet)
    tally.check("E-06 forbidden answers", forbidden_answers, server, internet)
    tally.check("E-06 rebinding", rebinding, server, internet)
    tally.check("E-06 floods", floods, server, internet)
    tally.check("E-06 tunnel", tunnel, server, internet)
    tally.check("E-06 silence", silence, server, internet)
    tally.check("E-06 other resolvers", other_resolvers, server, internet)
