"""E-13, E-18, E-19: what servers do to oyatd where it reads a connection: the sandbox gets a failure in bounded time, oyatd stays small, and
others notice nothing."""
import time

import doors
from bad_servers import PATIENT, SILENT, SPEAKERS, BadServers
from internet import OTHER, PRIVATE

# Everything is read, so that oyatd itself meets these servers.
READ = doors.by_rules({"id": "bad", "action": "allow", "host": ["**.bad.test"], "port": [443], "method": ["GET"], "path": ["/**"]},
                      {"id": "good", "action": "allow", "host": ["a.test"], "port": [443]})
DISTRUSTED = ("expired", "wrong-name", "stranger", "self-signed")
REFUSED_ANSWERS = ("endless-head", "endless-interim", "nonsense", "http2", "resets")
GROWTH = 48 << 20  # of oyatd, over all of them


def memory_of(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as pages:
        return int(pages.read().split()[1]) * 4096


def fetch(sandbox, name, *words):
    """(status that curl saw, what it printed, seconds)"""
    began = time.monotonic()
    answer = doors.curl(sandbox, "--max-time", "25", "--write-out", "\n%{http_code}", *words, f"https://{name}.bad.test/x")
    body, _, status = answer.stdout.rpartition("\n")
    return status, body, time.monotonic() - began


def distrusted(server, internet):
    """E-18, E-19: a certificate that is no good ends it, also when the sandbox's own list of authorities knows its maker."""
    with server.client.create(**READ) as sandbox:
        sandbox.write("/tmp/stranger.crt", internet.bad.stranger.certificate.read_bytes(), user="root")
        added = sandbox.run("cp /tmp/stranger.crt /usr/local/share/ca-certificates/ && update-ca-certificates", user="root", timeout_ms=60_000)
        assert added.exit_code == 0, added.stderr
        internet.forget()
        for name in DISTRUSTED:
            status, body, _ = fetch(sandbox, name)
            assert status == "502" and "certificate is refused" in body, f"{name}: {status} {body}"
        failed = {event["host"]: event["why"] for event in doors.events(server, sandbox, "upstream.failed")}
        assert set(failed) == {f"{name}.bad.test" for name in DISTRUSTED} and all("certificate" in why for why in failed.values()), failed
        assert not [head for visit in internet.services.visits for head in visit.heads], "a request was sent all the same"
        doors.reach(internet, sandbox)


def bad_answers(server, internet):
    pid = server.ready()["oyatdPid"]
    before = memory_of(pid)
    with server.client.create(**READ) as sandbox:
        for name in SPEAKERS:
            status, body, seconds = fetch(sandbox, name)
            assert seconds < 25, f"{name} took {seconds:.0f} s"
            if name in REFUSED_ANSWERS:
                assert status == "502", f"{name}: {status} {body[:100]}"
        for _ in range(3):
            answer = doors.curl(sandbox, "https://two-answers.bad.test/1", "https://two-answers.bad.test/2")
            assert "smuggled" not in answer.stdout, answer.stdout
        with doors.nothing_to(internet, PRIVATE):
            fetch(sandbox, "to-private", "--location")
        doors.on_record(server, sandbox, ("private",), addr=PRIVATE, port=80)
        failed = {event["host"]: event["why"] for event in doors.events(server, sandbox, "upstream.failed")}
        assert {f"{name}.bad.test" for name in REFUSED_ANSWERS} <= set(failed) and all(failed.values()), failed
        doors.reach(internet, sandbox)
    assert server.ready()["oyatdPid"] == pid, "oyatd did not survive it"
    assert memory_of(pid) - before < GROWTH, f"oyatd grew by {(memory_of(pid) - before) >> 20} MiB"


def slow_greetings(server, internet):
    with server.client.create(**READ) as sandbox:
        for name in SILENT:
            began = time.monotonic()
            status, _, seconds = fetch(sandbox, name)
            assert status in ("502", "504", "000") and seconds < 25, f"{name}: {status} after {seconds:.0f} s"
            doors.reach(internet, sandbox)
            assert time.monotonic() - began < 30


def redirect(server, internet):
    """E-13: a client that follows an allowed server's word to a host that is not allowed makes a new connection, which is judged anew."""
    with server.client.create(**READ) as sandbox:
        for user in doors.USERS:
            doors.reach(internet, sandbox)
            for name, address in (("to-private", PRIVATE), ("to-denied", OTHER)):
                with doors.nothing_to(internet, address):
                    answer = doors.curl(sandbox, "--location", f"https://{name}.bad.test/x", user=user)
                    assert answer.exit_code != 0 and "answered" not in answer.stdout, f"{name} as {user}: {answer.stdout}"
                assert any(head == "asked" for visit in internet.services.visits for head in visit.heads), f"{name} was not asked at all"
            doors.reach(internet, sandbox)
        doors.on_record(server, sandbox, ("private",), addr=PRIVATE, port=80)
        doors.on_record(server, sandbox, ("default",), name="c.test")


def patience(server, internet):
    """A server that never answers, or a byte now and then: the program waits as long as it likes, others notice nothing, and when it
    leaves the connection to the server is gone, too."""
    with server.client.create(**READ) as sandbox:
        for name in PATIENT:
            internet.forget()
            answer = doors.curl(sandbox, "--max-time", "3", f"https://{name}.bad.test/x")
            assert answer.exit_code == 28, f"{name}: {answer.exit_code} {answer.stdout}"
            doors.reach(internet, sandbox)
            visits = [visit for visit in internet.services.visits if visit.server_name == f"{name}.bad.test"]
            end = time.monotonic() + 5
            while not all("left" in visit.heads for visit in visits) and time.monotonic() < end:
                time.sleep(0.05)
            assert visits and all("left" in visit.heads for visit in visits), f"{name}: {visits}"


def checks(tally, server, internet):
    internet.bad = BadServers(internet)
    tally.check("E-13 a redirect to a private address", redirect, server, internet)
    tally.check("E-18 E-19 certificates that are no good", distrusted, server, internet)
    tally.check("E-18 answers that are no good", bad_answers, server, internet)
    tally.check("E-18 servers that do not greet", slow_greetings, server, internet)
    tally.check("E-18 servers that do not answer", patience, server, internet)
