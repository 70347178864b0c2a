"""The same agent written for E2B's Python SDK. See agent.mjs."""
import json
import os
import pathlib
import time
import urllib.request

from e2b import Sandbox
from e2b.sandbox.commands.command_handle import PtySize

HERE = pathlib.Path(__file__).parent
TIMES = []


def step(name, work):
    began = time.perf_counter()
    result = work()
    TIMES.append((name, 1000 * (time.perf_counter() - began)))
    return result


def use_terminal(sandbox):
    screen = []
    terminal = sandbox.pty.create(PtySize(rows=30, cols=100))
    sandbox.pty.send_stdin(terminal.pid, b"stty size; head -1 work/report.txt; exit\n")
    terminal.wait(on_pty=lambda data: screen.append(data))
    text = b"".join(screen).decode()
    assert "30 100" in text and "zones" in text, text


def upload(sandbox):
    sandbox.files.write("work/zones.tab", (HERE / "data/zone1970.tab").read_bytes())
    sandbox.files.write("work/analyse.py", (HERE / "analyse.py").read_text())


def show_boundary(sandbox):
    request = urllib.request.Request(f"{os.environ['E2B_API_URL']}/v1/sandboxes/{sandbox.sandbox_id}",
                                     headers={"X-API-Key": os.environ["E2B_API_KEY"]})
    with urllib.request.urlopen(request) as answer:
        info = json.load(answer)
    limits = info["limits"]
    print("--- what held it")
    print(f"boundary: {info['boundary']} (engine {info['engine']}), template {info['template_digest'][:19]}")
    print(f"limits: {limits['memory_bytes'] >> 20} MiB memory, {limits['cpu_millis'] / 1000:g} CPU, "
          f"{limits['processes']} processes, {limits['disk_bytes'] >> 30} GiB disk")


def main():
    sandbox = step("create a sandbox", lambda: Sandbox.create("base", metadata={"demo": "python"}))
    try:
        step("run a first command", lambda: sandbox.commands.run("true"))
        step("upload the data and a script", lambda: upload(sandbox))
        step("install a package", lambda: sandbox.commands.run("pip install --quiet tabulate", timeout=180))
        print("--- output of the analysis, as it comes")
        step("run the analysis, streaming", lambda: sandbox.commands.run(
            "python3 work/analyse.py work/zones.tab work/report.txt", on_stdout=lambda text: print(text, end="")))
        step("use a terminal", lambda: use_terminal(sandbox))
        report = step("bring the report back", lambda: sandbox.files.read("work/report.txt"))
        assert report.split("\n")[0].endswith(" zones"), report
        show_boundary(sandbox)
    finally:
        step("destroy it", sandbox.kill)
    print("--- how long each step took")
    for name, milliseconds in TIMES:
        print(f"{name:<32} {milliseconds:9.1f} ms")


if __name__ == "__main__":
    main()
