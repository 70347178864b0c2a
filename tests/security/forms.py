"""People's data: what has one of the forms that the operator turned on stands in no place that oyat writes, though commands, paths,
addresses of requests and mistakes are full of it; the client gets its own output unchanged."""
import pathlib
import tempfile

from canary import client_of, exports
from client import Refused
from server import Server

CONFIG = """
[masking]
sets = ["mail", "phone", "iban", "card"]
[masking.patterns]
customer = 'CUST-[0-9]{6}'
"""
DATA = {"mail": "jane.doe@example.org", "phone": "+49 30 90182 0000", "iban": "DE89 3704 0044 0532 0130 00", "card": "4111 1111 1111 1111",
        "customer": "CUST-471147"}


def said_everywhere(client, sandbox):
    """Each of them by each way that text of a client or a program takes."""
    text = "\n".join(DATA.values())
    answer = sandbox.run(["printf", "%s", text])
    assert answer.stdout == text, "a client's own output was changed"
    assert sandbox.run("printf '%s' \"$0\" >&2; printf '" + DATA["customer"][:6] + "'; sleep 0.1; printf '" + DATA["customer"][6:] + "'").stdout == DATA["customer"]
    for value in DATA.values():
        sandbox.write(f"/home/user/{value}", b"x")
        sandbox.run(["curl", "-s", "--max-time", "3", f"http://c.test/{value.replace(' ', '')}"])
        for wrong in (lambda: sandbox.run([f"/no/{value}"]), lambda: sandbox.read(f"/no/{value}"),
                      lambda: client.api("GET", f"/v1/sandboxes/{sandbox.id}/files?path=/no/{value.replace(' ', '+')}")):
            try:
                wrong()
            except Refused:
                pass


def forms_are_hidden():
    """B.11: nothing of it is in the record, the logs, the database or the exports, and the places say what was hidden."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        pathlib.Path(folder).chmod(0o755)
        config = pathlib.Path(folder) / "oyat.toml"
        config.write_text(CONFIG)
        config.chmod(0o644)
        with Server(options=["--config", str(config)]) as own:
            client = client_of(own)
            with client.create(metadata={"owner": DATA["mail"]}) as sandbox:
                said_everywhere(client, sandbox)
                exported = exports(own, sandbox.id)
            places = {"exports": exported}
            for folder_name in ("audit", "log"):
                places[folder_name] = b"".join(path.read_bytes() for path in sorted((own.state / folder_name).rglob("*")) if path.is_file())
    assert places["audit"] and places["log"], "there was nothing to look at"
    for place, found in places.items():
        for name, value in DATA.items():
            for shape in {value, value.replace(" ", "")}:
                assert shape.encode() not in found, f"{name} stands in {place}: {found[max(0, found.find(shape.encode()) - 200):][:300]}"
    for name in DATA:
        assert f"[masked:{name}]".encode() in places["audit"], f"nothing says that a {name} was hidden"


def checks(tally):
    tally.check("B.11 people's data", forms_are_hidden)
