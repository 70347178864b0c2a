"""E-14: one sandbox that opens as much as it can, and what the others and the server behind it notice."""
import time

import doors
from internet import SILENT
from services import tls

SINK = "203.0.113.83"
LIMIT = 512  # connections of one sandbox at once

MANY = f"""
import resource, select, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
held = []
for _ in range(700):
    one = socket.socket()
    try:
        one.settimeout(5)
        one.connect(('{SILENT}', 80))
        one.sendall(b'GET ')
        held.append(one)
    except OSError:
        one.close()
print('open', flush=True)
poller = select.poll()
for one in held:
    poller.register(one, select.POLLIN)
cut = set()
while len(held) - len(cut) > {LIMIT} and (ready := poller.poll(5000)):
    for descriptor, _ in ready:
        poller.unregister(descriptor)
        cut.add(descriptor)
print(len(held) - len(cut), flush=True)
input()
"""


def many_connections(server, internet):
    with server.client.create() as greedy, server.client.create() as quiet:
        greedy.write("/tmp/many.py", MANY.encode())
        internet.forget()
        stream = greedy.start(["python3", "/tmp/many.py"], stdin=True, timeout_ms=0)
        said = b""
        for message in stream:
            said += doors.output_of(message)
            if said.count(b"\n") == 2:
                break
        assert int(said.split()[1]) <= LIMIT, said
        arrived = [visit for visit in internet.services.visits if visit.address == SILENT]
        assert 0 < len(arrived) <= LIMIT, f"{len(arrived)} connections reached the server"
        began = time.monotonic()
        doors.reach(internet, quiet)
        assert time.monotonic() - began < 2, "another sandbox had to wait"
        stream.close()
        assert greedy.run("pkill -f many.py").exit_code == 0
        doors.reach(internet, greedy)
        hits = doors.events(server, greedy, "limit.hit")
        assert any(event.get("limit") == "connections" for event in hits), hits


BUDGET, ITS_PACE = 4 << 20, 64 << 10  # bytes, and what a used-up budget still lets pass in a second
UPLOAD = """
import socket, ssl, sys, time
one = ssl.create_default_context().wrap_socket(socket.create_connection(('sink.test', 443), timeout=10), server_hostname='sink.test')
one.settimeout(6)
one.sendall(b'POST /open/x HTTP/1.1\\r\\nHost: sink.test\\r\\nContent-Length: 100000000\\r\\n\\r\\n')
sent, end = 0, time.monotonic() + 6
try:
    while time.monotonic() < end:
        sent += one.send(bytes(65536))
except OSError as error:
    print(error)
print(sent)
"""


def swallows(connection, visit):
    """Reads whatever comes, and counts it."""
    visit.count = 0
    while data := connection.recv(65536):
        visit.count += len(data)


def beyond_the_budget(server, internet, read):
    """An upload that goes on beyond its rule's bytes crawls, the next connection is refused, the record has both, and other hosts answer."""
    internet.names.hosts["sink.test"] = [SINK]
    internet.services.serve(443, tls({"sink.test": internet.authority.server_context("sink.test")}, swallows), address=SINK)
    rules = [{"id": "few", "action": "allow", "host": ["sink.test"], "port": [443], "up_bytes": BUDGET, **({"path": ["/open/**"]} if read else {})},
             {"id": "a", "action": "allow", "host": ["a.test"], "port": [443]}]
    with server.client.create(**doors.by_rules(*rules)) as sandbox:
        for user in doors.USERS:
            sandbox.set_policy(doors.by_rules({**rules[0], "id": f"few-{user}"}, rules[1])["policy"])
            doors.reach(internet, sandbox)
            internet.forget()
            result = sandbox.run(["python3", "-c", UPLOAD], user=user, timeout_ms=60_000)
            arrived = sum(visit.count for visit in internet.services.visits if visit.address == SINK)
            assert BUDGET <= arrived < BUDGET + 30 * ITS_PACE, f"{arrived} bytes arrived as {user}, {result.stdout} were sent"
            assert doors.curl(sandbox, "https://sink.test/open/x", user=user).exit_code != 0 or read
            assert sum(visit.address == SINK for visit in internet.services.visits) == 1, "the budget is used up, and somebody connected"
            doors.reach(internet, sandbox)
            hits = [event["limit"] for event in doors.events(server, sandbox, "limit.hit")]
            assert any(f"few-{user}" in limit for limit in hits), hits
            doors.on_record(server, sandbox, ("budget",), host="sink.test", budget_of=f"few-{user}")


def checks(tally, server, internet):
    tally.check("E-14 many connections", many_connections, server, internet)
    tally.check("E-14 an upload beyond the budget", beyond_the_budget, server, internet, False)
    tally.check("E-14 an upload beyond the budget, read", beyond_the_budget, server, internet, True)
