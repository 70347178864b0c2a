"""How a way out is shown to be shut: before and after the attempts an allowed name answers in the same sandbox and the test's Internet
sees it; in between nothing leaves; the record names each attempt with the rule that refused it."""
import base64
import contextlib
import json
import pathlib

GUESTS = pathlib.Path(__file__).resolve().parent.parent / "guests"
USERS = ("root", "user")
ANY_RULE = ("",)
NO_ROUTE = ("ENETUNREACH", "EHOSTUNREACH", "EACCES", "EINVAL", "EADDRNOTAVAIL")


def by_rules(*rules, default="deny"):
    """What a create says for a sandbox with these rules."""
    return {"policy": {"default": default, "rule": list(rules)}}


ONLY_A = by_rules({"id": "only-a", "action": "allow", "host": ["a.test"], "port": [443]})


class Outcome:
    def __init__(self, line):
        said = json.loads(line)
        self.got, self.errno, self.ms = base64.b64decode(said["got"]), said["errno"], said["ms"]

    def __repr__(self):
        return f"{self.errno or 'closed'} after {self.ms} ms, {self.got[:80]}"


def a_try(address, port, send=b"", **more):
    return {"address": address, "port": port, "send": base64.b64encode(send).decode(), **more}


def knock(sandbox, tries, user="user"):
    """Makes these tries in the sandbox, several at a time; what came of each, in order."""
    sandbox.write("/tmp/knock.py", (GUESTS / "knock.py").read_bytes(), user="root")
    sandbox.write("/tmp/tries.json", json.dumps(tries).encode(), user="root")
    result = sandbox.run(["python3", "/tmp/knock.py", "/tmp/tries.json"], user=user, timeout_ms=120_000)
    outcomes = [Outcome(line) for line in result.stdout.splitlines()]
    assert len(outcomes) == len(tries), f"{len(outcomes)} of {len(tries)} tries were made: {result.stderr[-500:]}"
    return outcomes


def curl(sandbox, *words, user="user"):
    return sandbox.run(["curl", "--silent", "--show-error", "--max-time", "8", *words], user=user)


def reach(internet, sandbox, host="a.test", path="/well"):
    """An allowed name answers, and it was the right server that did."""
    seen = len(internet.services.visits)
    answer = curl(sandbox, f"https://{host}{path}")
    assert answer.exit_code == 0 and json.loads(answer.stdout)["answered"] == host, f"{host} does not answer: {answer.stdout} {answer.stderr}"
    assert any(visit.server_name == host and visit.heads for visit in internet.services.visits[seen:]), "the fixture did not see it"


def output_of(message):
    """What one message of a command's stream holds of its standard output."""
    return base64.b64decode(message.get("event", {}).get("data", {}).get("stdout", ""))


def events(server, sandbox, prefix):
    status, _, data = server.client.raw("GET", f"/v1/events?sandbox={sandbox.id}&type={prefix}&limit=1000", None,
                                        {"X-API-Key": server.client.key})
    assert status == 200, (status, data)
    return [json.loads(line) for line in data.splitlines() if line.strip()]


@contextlib.contextmanager
def nothing_leaves(internet, sandbox, path="/well"):
    """What is done inside reaches nobody, and the sandbox is of use before and after it."""
    reach(internet, sandbox, path=path)
    internet.forget()
    yield
    left = internet.packets.all()
    assert not left, f"left the machine: {sorted(set(left))[:8]}"
    reach(internet, sandbox, path=path)


@contextlib.contextmanager
def nothing_to(internet, address):
    """As above, for one address."""
    internet.forget()
    yield
    left = [packet for packet in internet.packets.all() if packet[1] == address]
    assert not left, left


def denied(server, sandbox):
    return events(server, sandbox, "connect.denied") + events(server, sandbox, "dns.denied")


@contextlib.contextmanager
def all_on_record(server, attempts, **settings):
    """A sandbox in which so many attempts are made, of which each has to be a refusal on the record: what repeats is written with its count at the
    latest when the sandbox ends."""
    with server.client.create(**settings) as sandbox:
        yield sandbox
    refusals = events(server, sandbox, "connect.denied")
    assert all(event.get("rule") for event in refusals), refusals
    told = sum(event["count"] for event in refusals)
    assert told >= attempts, f"{told} of {attempts} attempts are on the record: {sorted((event['rule'], event['count']) for event in refusals)}"


def on_record(server, sandbox, rules, **fields):
    """An event of refusal that has these fields, by one of these rules (or prefixes of them)."""
    found = [event for event in denied(server, sandbox) if all(event.get(key) == value for key, value in fields.items())]
    assert found, f"no refusal of {fields} is on the record"
    for event in found:
        rule = event.get("rule") or event.get("reason") or ""
        assert rule.startswith(tuple(rules)), f"{fields} was refused by {rule!r}, not by {rules}"


def stay_shut(server, internet, sandbox, tries, rules, seconds=3):
    """Each try is refused at once for both users, nothing leaves, and the record has all that the kernel inside did not refuse itself."""
    judged = []
    with nothing_leaves(internet, sandbox):
        for user in USERS:
            for attempt, outcome in zip(tries, knock(sandbox, tries, user)):
                assert not outcome.got and outcome.errno != "timeout" and outcome.ms < seconds * 1000, f"{attempt} as {user}: {outcome}"
                if outcome.errno not in NO_ROUTE:
                    judged.append(attempt)
    assert judged, "nothing but the kernel inside refused these"
    for attempt in judged:
        on_record(server, sandbox, rules, addr=attempt["address"], port=attempt["port"])
