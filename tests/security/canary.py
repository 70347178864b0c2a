"""The scanner of the canary proof: each of twenty secrets is planted in each place, in each shape, and it has to find all of
them. A scan that finds nothing proves something only then.
"""
import json
import sqlite3
import subprocess

from canary_scan import RecordingClient, Scanner, generate, shapes
from client import Refused
from server import BUILD, Server

PLACES = ("layers", "environment", "database", "record", "logs", "core dumps", "answers", "errors", "exports")


def client_of(server):
    ready = server.ready()
    return RecordingClient(ready["url"], ready["apiKey"])


def exports(server, sandbox):
    """What the command line makes of the record."""
    out = b""
    for words in (["audit", "show", sandbox, "--json"], ["audit", "commands", sandbox, "--json"], ["audit", "show", "server", "--json"],
                  ["audit", "query", "--json"]):
        out += subprocess.run([BUILD / "bin" / "oyat", *words, "--state", server.state], stdout=subprocess.PIPE, check=True).stdout
    return out


def in_parts(texts, limit):
    """The texts, joined as far as a part stays short."""
    part = ""
    for text in texts:
        if part and len(part) + len(text) > limit:
            yield part
            part = ""
        part += text + "\n"
    yield part


def as_json_text(text):
    return json.dumps(text)[1:-1] == text


def planted_are_found(_server):
    """B.10: each secret in each shape is found in each place that the scan covers."""
    values = generate()
    everything = {(name, shape): text for name, value in values.items() for shape, text in shapes(value).items()}
    block = "\n".join(everything.values())
    scanner = Scanner(values)
    with Server() as own:
        client = client_of(own)
        # By ways that real data goes, where there is one: nothing tells oyat that these are secrets.
        with client.create(metadata={f"note{i}": text for i, text in enumerate(everything.values())}) as sandbox:
            sandbox.write("/home/user/planted", block.encode())
            environment = sandbox.run("cat /proc/self/environ", envs={"NOTE": block}).stdout
            sandbox.run(["true", block])
            client.seen.clear()
            sandbox.run("cat /home/user/planted")
            scanner.bytes("answers", b"\n".join(client.seen))
            client.seen.clear()
            for part in in_parts(everything.values(), 250):
                try:
                    sandbox.run([part])
                except Refused:
                    pass
            scanner.bytes("errors", b"\n".join(client.seen))
            scanner.bytes("environment", environment.encode())
            scanner.bytes("exports", exports(own, sandbox.id))
            # What oyat itself never writes.
            with (own.state / "log" / "planted.log").open("w") as log:
                log.write(block)
            (own.state / "core.4711").write_bytes(b"\x7fELF\0" + block.encode())
            with sqlite3.connect(own.state / "planted.sqlite") as database:
                database.execute("PRAGMA journal_mode=WAL")
                database.execute("CREATE TABLE t (text)")
                database.executemany("INSERT INTO t VALUES (?)", [(text,) for text in everything.values()])
                database.commit()
                scanner.state(own.state)
    for place in PLACES:
        # JSON writes a quotation mark as two bytes: what is left of other shapes with one is no shape any more.
        written_as_json = place in ("record", "exports", "errors")
        for (name, shape), text in everything.items():
            if place == "errors" and len(text) > 250:
                continue  # they are cut
            if not written_as_json or as_json_text(text):
                assert (name, shape) in scanner.in_place(place), f"{shape} of {values[name]!r} was planted in {place} and not found"


def checks(tally, server, _full):
    tally.check("B.10 planted secrets are found", planted_are_found, server)
