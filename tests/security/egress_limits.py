"""E-14: one sandbox that opens as much as it can, and what the others and the server behind it notice."""
import time

import doors
from internet import SILENT

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


def checks(tally, server, internet):
    tally.check("E-14 many connections", many_connections, server, internet)
