"""The canary proof for secrets that a sandbox uses without having them: used, rotated, crashed with, misused, revoked and exported, they
reach the service that they are bound to, and there is no trace of them anywhere else.
"""
import json
import os
import re
import signal
import urllib.parse

from canary import client_of, exports
from canary_scan import Scanner, generate
from client import Refused
from server import Server
from services import discreet, tls

VAULT = "203.0.113.60"  # the service that all are bound to


def how(index, value):
    """Each in a place that can hold it."""
    name = f"x-key-{index:02}"
    if "\n" in value or index % 5 == 4:
        return {"in": "body", "name": name}
    if index % 5 == 3:
        return {"in": "query", "name": name}
    return {"in": "header", "name": name} if index % 5 else {"in": "header", "name": name, "format": "Bearer {}"}


def request(index, place, host):
    """The words of curl that have the placeholder go to its place, or to where it does not belong."""
    variable, name = f"$KEY_{index:02}", f"x-key-{index:02}"
    words = {"header": f'-H "{name}: {variable}"', "query": f'-G --data-urlencode "{name}={variable}"',
             "body": f"""--json '{{"{name}":"'"{variable}"'"}}'"""}
    return f'curl -sS --max-time 10 -o /dev/null -w "%{{http_code}}\\n" {words[place]} {host}/v1/{index}'


def ask_all(sandbox, values, host):
    """The statuses of one request with each, in order."""
    places = {index: how(index, value)["in"] for index, value in enumerate(values.values())}
    result = sandbox.run("\n".join(request(index, place, host) for index, place in places.items()), timeout_ms=100_000)
    return result.stdout.split()


def arrived(internet, values):
    """The secrets that the service was shown, each in its place."""
    seen = set()
    for visit in internet.services.visits:
        if visit.address != VAULT:
            continue
        for head, body in zip(visit.heads, visit.bodies):
            fields = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(head.split(" ")[1]).query)
            shown = {**fields, **{name: found[0] for name, found in query.items()}, **(json.loads(body) if body else {})}
            for index, (name, value) in enumerate(values.items()):
                if shown.get(f"x-key-{index:02}") in (value, "Bearer " + value):
                    seen.add(name)
    return seen


def clumsy_calls(client, values):
    """Calls that fail, with a secret in what they were asked."""
    for name, value in values.items():
        for path, body in (("/v1/secrets", {"name": name, "value": value}), ("/v1/secrets", {"name": "no name", "value": value}),
                           (f"/v1/secrets/{name}/rotate", {"value": value, "valeu": value}), ("/v1/secrets/none/rotate", {"value": value}),
                           ("/v1/secrets", {"name": "other", "value": [value]}), ("/secrets", {"name": "e2b", "value": value, "metadata": 1})):
            try:
                client.api("POST", path, body)
                raise AssertionError(f"{path} took a mistake")
            except Refused as refused:
                assert 400 <= refused.status < 500, refused
        client.raw("POST", "/v1/secrets", '{"name":"cut","value":' + json.dumps(value), {"X-API-Key": client.key, "Content-Type": "application/json"})


def crash(server, sandbox, who):
    """Kills a daemon; afterwards the sandbox is spoken to again."""
    old = server.ready()
    os.kill(old[who], signal.SIGKILL)
    server.wait_restarted(old)
    sandbox.client = client_of(server)


def brokered_secrets_leave_no_trace(internet):
    """B.10, C-13: no trace in layers, processes, database, record, logs, core dumps, answers, errors and exports."""
    internet.names.hosts["vault.test"] = [VAULT]
    internet.services.serve(443, tls({"vault.test": internet.authority.server_context("vault.test")}, discreet), address=VAULT)
    first, second = generate(), generate()
    scanner = Scanner({**{f"{name} first": value for name, value in first.items()}, **{f"{name} rotated": value for name, value in second.items()}})
    with Server(ephemeral=False, options=internet.options()) as own:
        client = client_of(own)
        heard = client.seen
        for name, value in first.items():
            client.api("POST", "/v1/secrets", {"name": name, "value": value})
        bindings = [{"secret": name, "env": f"KEY_{index:02}", "where": {"host": ["vault.test"], "port": [443]}, "how": how(index, value)}
                    for index, (name, value) in enumerate(first.items())]
        sandbox = client.create(timeout=600)
        client.api("POST", f"/v1/sandboxes/{sandbox.id}/secrets", {"secrets": bindings})
        internet.forget()
        assert ask_all(sandbox, first, "https://vault.test") == ["200"] * len(first)
        assert arrived(internet, first) == set(first), set(first) - arrived(internet, first)
        elsewhere = ask_all(sandbox, first, "http://c.test")
        assert set(elsewhere) == {"403"}, f"a placeholder left for another host: {elsewhere}"
        sandbox.run("env | tee /home/user/variables; cat /proc/*/environ | tr '\\0' '\\n'; base64 -w0 /home/user/variables", user="root")
        for name, value in second.items():
            client.api("POST", f"/v1/secrets/{name}/rotate", {"value": value, "grace_ms": 60_000})
        clumsy_calls(client, first)
        for who in ("oyatdPid", "keeperPid"):
            crash(own, sandbox, who)
            internet.forget()
            assert ask_all(sandbox, second, "https://vault.test") == ["200"] * len(second)
            assert arrived(internet, second) == set(second), set(second) - arrived(internet, second)
            heard += sandbox.client.seen
        client = sandbox.client
        client.seen.clear()
        scanner.state(own.state)
        limits = open(f"/proc/{own.ready()['oyatdPid']}/limits").read()
        assert re.search(r"Max core file size +0 +0", limits), limits
        for name in second:
            client.api("POST", f"/v1/secrets/{name}/revoke")
        assert set(ask_all(sandbox, second, "https://vault.test")) == {"403"}
        for path in (f"/v1/events?sandbox={sandbox.id}&limit=1000", "/v1/events?limit=1000", "/metrics", "/v1/secrets",
                     f"/v1/sandboxes/{sandbox.id}/secrets", f"/v1/sandboxes/{sandbox.id}", f"/v2/sandboxes/{sandbox.id}/logs"):
            client.raw("GET", path, None, {"X-API-Key": client.key})
        scanner.bytes("answers", b"\n".join(heard + client.seen))
        scanner.bytes("exports", exports(own, sandbox.id))
        sandbox.kill()
        own.stop()
        scanner.state(own.state)
    assert not scanner.hits, f"{len(scanner.hits)} traces, such as {sorted(scanner.hits)[:5]}"


def checks(tally, internet):
    tally.check("B.10 C-13 brokered secrets leave no trace", brokered_secrets_leave_no_trace, internet)
