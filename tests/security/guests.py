"""Runs a hostile guest program in a sandbox, as root and as the ordinary user."""
import json

from server import BUILD

GUESTS = BUILD / "guests"


def install(sandbox, name):
    """Puts the program into the sandbox and gives its path."""
    path = f"/tmp/{name}"
    sandbox.write(path, (GUESTS / name).read_bytes(), user="root")
    assert sandbox.run(f"chmod 755 {path}", user="root").exit_code == 0
    return path


def run_guest(sandbox, name, users=("root", "user")):
    """Asserts that the guest found every door shut, for each user."""
    path = install(sandbox, name)
    for user in users:
        result = sandbox.run([path], user=user, timeout_ms=120_000)
        through = [line for line in result.stdout.splitlines() if "GOT THROUGH" in line or line.startswith("writable:")]
        assert result.exit_code == 0, f"as {user}: exit {result.exit_code} {result.error} {result.stderr} {through[:8]}"
        tries = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
        assert tries, f"as {user}: the guest reported no try"
    # Refused is not enough: the sandbox must be of use afterwards.
    assert sandbox.run("echo well").stdout == "well\n"
