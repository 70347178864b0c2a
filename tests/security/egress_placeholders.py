"""E-20: the placeholder of a secret towards where it does not belong. a.test is bound to it; c.test, in clear and by a connection that is read, is not,
nor is any name server. Each attempt is refused, nothing of it arrives, and the record has it without the placeholder."""
import base64
import json
import urllib.parse

import dns_wire
import doors
from doors import a_try
from internet import OTHER

VALUE = "the-true-value-of-e20"
# All of c.test is allowed, and read for its path.
READ_C = doors.by_rules({"id": "a", "action": "allow", "host": ["a.test"], "port": [443]},
                        {"id": "c", "action": "allow", "host": ["c.test"], "port": [80, 443], "path": ["/**"]},
                        {"id": "names", "action": "allow", "host": ["**.names.test"]})
BINDING = {"secret": "e20", "env": "E20_KEY", "where": {"host": ["a.test"], "port": [443]}, "how": {"in": "header", "name": "authorization"}}


def requests_with(placeholder):
    """{name: words of curl}, each with the placeholder in another place or writing."""
    mixed = base64.b64encode(f"user={placeholder}".encode()).decode()
    return {
        "the bound field": ["-H", f"Authorization: Bearer {placeholder}"], "another field": ["-H", f"X-Key: {placeholder}"],
        "a cookie": ["-b", f"session={placeholder}"], "the name of a field": ["-H", f"{placeholder}: 1"], "Basic": ["-u", f"user:{placeholder}"],
        "the path": [f"/x/{placeholder}"], "the query": [f"/x?key={placeholder}"],
        "a query in percent": ["/x?key=" + "".join(f"%{byte:02x}" for byte in placeholder.encode())], "base64": ["-H", f"X-Data: {mixed}"],
        "base64 of URLs": ["/x?d=" + urllib.parse.quote(base64.urlsafe_b64encode(b"ab" + placeholder.encode()).decode())],
        "hexadecimal": ["-H", f"X-Data: {placeholder.encode().hex()}"], "the body": ["-d", f"key={placeholder}"],
        "a body of JSON": ["--json", json.dumps({"key": placeholder})], "a body in chunks": ["-H", "Transfer-Encoding: chunked", "-d", "x" * 60_000 + placeholder],
        "a form with a file": ["-F", f"file={placeholder}"], "an upload": ["-T", "/tmp/placeholder"],
    }


def names_with(placeholder):
    coded = base64.urlsafe_b64encode(b"k" + placeholder.encode()).decode().rstrip("=")
    return [f"{placeholder}.names.test", f"{placeholder.lower()}.names.test", f"{placeholder[:11]}.{placeholder[11:]}.names.test",
            f"x{placeholder.upper()}.names.test", f"{placeholder.encode().hex()[:60]}.names.test", f"{coded[:30]}.{coded[30:]}.names.test",
            f"{placeholder}.no-rule-knows.test", f"{placeholder}.localhost", f"{placeholder}.metadata.google.internal"]


def with_secret(server, sandbox):
    """Binds it and gives the placeholder that the programs inside see."""
    try:
        server.client.api("POST", "/v1/secrets", {"name": "e20", "value": VALUE})
    except Exception as refused:  # from the check before
        assert getattr(refused, "status", 0) == 409, refused
    server.client.api("POST", f"/v1/sandboxes/{sandbox.id}/secrets", {"secrets": [BINDING]})
    placeholder = sandbox.run("printf %s $E20_KEY").stdout
    assert len(placeholder) == 30 and placeholder.startswith("oyat_ph_"), placeholder
    sandbox.write("/tmp/placeholder", placeholder.encode())
    return placeholder


def reach_bound(internet, sandbox, user):
    """Where it belongs the true value arrives."""
    internet.forget()
    answer = doors.curl(sandbox, "-H", f"Authorization: Bearer {sandbox.run('printf %s $E20_KEY').stdout}", "https://a.test/", user=user)
    assert answer.exit_code == 0, answer.stderr
    heads = [head for visit in internet.services.visits for head in visit.heads]
    assert len(heads) == 1 and f"Bearer {VALUE}" in heads[0], heads


def leaks(server, sandbox):
    return doors.events(server, sandbox, "secret.leak_attempt")


def not_on_record(server, sandbox, placeholder):
    """What the command lines say apart: there the test itself has put it."""
    told = [event for event in doors.events(server, sandbox, "") if event["by"] == "proxy"]
    assert told
    found = [event for event in told if placeholder.lower() in json.dumps(event).lower()]
    assert not found, f"{len(found)} times on the record: {found[0]}"


def by_requests(server, internet):
    with server.client.create(**READ_C) as sandbox:
        placeholder = with_secret(server, sandbox)
        for user in doors.USERS:
            for base in ("https://c.test", "http://c.test"):
                reach_bound(internet, sandbox, user)
                assert "answered" in doors.curl(sandbox, base + "/x", user=user).stdout, f"{base} does not answer at all"
                internet.forget()
                before = len(leaks(server, sandbox))
                for name, words in requests_with(placeholder).items():
                    url = base + (words.pop() if words[-1].startswith("/x") else "/x")
                    answer = doors.curl(sandbox, "-o", "/dev/null", "-w", "%{http_code}", *words, url, user=user)
                    assert answer.stdout == "403", f"{name} to {base} as {user}: {answer.stdout} {answer.stderr}"
                said = [head for visit in internet.services.visits for head in visit.heads] + [body.decode() for visit in internet.services.visits
                                                                                              for body in visit.bodies]
                assert not [text for text in said if placeholder in text], f"{base} as {user}: {said}"
                found = leaks(server, sandbox)[before:]
                assert len(found) == len(requests_with(placeholder)) and all(event["host"] == "c.test" for event in found), found
            reach_bound(internet, sandbox, user)
        not_on_record(server, sandbox, placeholder)


def by_names(server, internet):
    with server.client.create(**READ_C) as sandbox:
        placeholder = with_secret(server, sandbox)
        for user in doors.USERS:
            reach_bound(internet, sandbox, user)
            before = len(leaks(server, sandbox))
            with doors.nothing_leaves(internet, sandbox):
                tries = [a_try(OTHER, 53, dns_wire.ask(name, "A"), udp=True) for name in names_with(placeholder)]
                for attempt, name, outcome in zip(tries, names_with(placeholder), doors.knock(sandbox, tries, user)):
                    assert outcome.got and outcome.got[3] & 15 == 5, f"{name} as {user}: {outcome} {attempt}"
                assert not [name for name, _ in internet.names.asked if "oyat" in name or name.endswith("names.test")], internet.names.asked
            assert len(leaks(server, sandbox)) == before + len(names_with(placeholder)), leaks(server, sandbox)
            assert doors.curl(sandbox, f"http://{placeholder}.names.test/", user=user).exit_code == 6
        doors.on_record(server, sandbox, ("secret-placeholder",), name="(withheld)")
        not_on_record(server, sandbox, placeholder)
        assert doors.events(server, sandbox, "signal.secret_probe"), "nobody was told"


def checks(tally, server, internet):
    tally.check("E-20 placeholders in requests", by_requests, server, internet)
    tally.check("E-20 placeholders in names", by_names, server, internet)
