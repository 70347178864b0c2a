"""Commands, files and terminals: a step for each public method, named after it."""
import io

import e2b


def same(got, wanted):
    assert got == wanted, f"got {got!r}, not {wanted!r}"


class Commands:
    async def run(w):
        streamed = []
        result = await w.do(w.sandbox.commands.run(
            'echo out; echo err >&2; echo "$A in $PWD as $(whoami)"',
            envs={"A": "x y"}, cwd="/tmp", user="root", on_stdout=streamed.append))
        same((result.exit_code, result.stdout, result.stderr), (0, "out\nx y in /tmp as root\n", "err\n"))
        same("".join(streamed), result.stdout)
        error = await w.refused(lambda: w.sandbox.commands.run("exit 3"), e2b.CommandExitException)
        same(error.exit_code, 3)
        await w.refused(lambda: w.sandbox.commands.run("sleep 60", timeout=1), e2b.TimeoutException)
        await w.refused(lambda: w.sandbox.commands.run("true", cwd="/missing"), e2b.InvalidArgumentException, "/missing")
        await w.refused(lambda: w.sandbox.commands.run("true", user="nobody-here"), e2b.AuthenticationException)

    async def list(w):
        handle = await w.do(w.sandbox.commands.run("sleep 60", background=True, envs={"B": "1"}, cwd="/tmp"))
        found = [one for one in await w.do(w.sandbox.commands.list()) if one.pid == handle.pid][0]
        same((found.cmd, found.args, found.envs["B"], found.cwd), ("/bin/bash", ["-l", "-c", "sleep 60"], "1", "/tmp"))
        await w.do(handle.kill())

    async def kill(w):
        handle = await w.do(w.sandbox.commands.run("sleep 60", background=True))
        same(await w.do(w.sandbox.commands.kill(handle.pid)), True)
        error = await w.refused(handle.wait, e2b.CommandExitException)
        same((error.exit_code, error.error), (-1, "signal: killed"))
        same(await w.do(w.sandbox.commands.kill(handle.pid)), False)
        same(await w.do(w.sandbox.commands.kill(999_999)), False)

    async def connect(w):
        first = await w.do(w.sandbox.commands.run('read line; echo "got $line"', background=True, stdin=True))
        await w.do(first.disconnect())
        second = await w.do(w.sandbox.commands.connect(first.pid))
        await w.do(w.sandbox.commands.send_stdin(first.pid, "hello\n"))
        same((await w.do(second.wait())).stdout, "got hello\n")
        await w.refused(lambda: w.sandbox.commands.connect(999_999), e2b.NotFoundException)

    async def send_stdin(w):
        handle = await w.do(w.sandbox.commands.run('read line; echo "<$line>"', background=True, stdin=True))
        await w.do(w.sandbox.commands.send_stdin(handle.pid, "héllo\n"))
        same((await w.do(handle.wait())).stdout, "<héllo>\n")

    async def close_stdin(w):
        handle = await w.do(w.sandbox.commands.run("cat | wc -c", background=True, stdin=True))
        await w.do(w.sandbox.commands.send_stdin(handle.pid, b"12345"))
        await w.do(w.sandbox.commands.close_stdin(handle.pid))
        same((await w.do(handle.wait())).stdout.strip(), "5")

    async def stream_input(w):
        handle = await w.do(w.sandbox.commands.run("head -c 9", background=True, stdin=True))
        await w.stream_input(w.sandbox.commands, handle.pid, ["one", b"two", "six"])
        same((await w.do(handle.wait())).stdout, "onetwosix")


class Files:
    async def write(w):
        info = await w.do(w.sandbox.files.write("walk/a.txt", "one", metadata={"author": "walk"}))
        same((info.name, info.path, info.metadata), ("a.txt", "/home/user/walk/a.txt", {"author": "walk"}))
        await w.do(w.sandbox.files.write("walk/b.bin", bytes([0, 255, 10]), use_octet_stream=True))
        await w.do(w.sandbox.files.write("walk/c.txt", io.BytesIO(b"packed"), gzip=True))
        await w.refused(lambda: w.sandbox.files.write("walk", "x"), e2b.InvalidArgumentException)
        await w.refused(lambda: w.sandbox.files.write("/etc/walk", "x", user="user"), e2b.SandboxException)

    async def write_files(w):
        infos = await w.do(w.sandbox.files.write_files([
            {"path": "walk/many/1", "data": "one"}, {"path": "/home/user/walk/many/2", "data": b"two"}]))
        same([info.path for info in infos], ["/home/user/walk/many/1", "/home/user/walk/many/2"])

    async def read(w):
        same(await w.do(w.sandbox.files.read("walk/a.txt")), "one")
        same(bytes(await w.do(w.sandbox.files.read("walk/b.bin", format="bytes"))), bytes([0, 255, 10]))
        same(await w.do(w.sandbox.files.read("walk/c.txt", gzip=True)), "packed")
        stream = await w.do(w.sandbox.files.read("walk/c.txt", format="stream"))
        if hasattr(stream, "__aiter__"):
            same(b"".join([piece async for piece in stream]), b"packed")
        else:
            same(b"".join(stream), b"packed")
        assert "Linux" in await w.do(w.sandbox.files.read("/proc/version"))
        await w.refused(lambda: w.sandbox.files.read("walk/missing"), e2b.NotFoundException)
        await w.refused(lambda: w.sandbox.files.read("walk"), e2b.InvalidArgumentException)
        await w.refused(lambda: w.sandbox.files.read("/etc/shadow", user="user"), e2b.SandboxException)

    async def list(w):
        entries = await w.do(w.sandbox.files.list("walk"))
        same([(one.name, one.type.value) for one in entries],
             [("a.txt", "file"), ("b.bin", "file"), ("c.txt", "file"), ("many", "dir")])
        same(len(await w.do(w.sandbox.files.list("walk", depth=2))), 6)
        await w.refused(lambda: w.sandbox.files.list("walk/missing"), e2b.NotFoundException)
        await w.refused(lambda: w.sandbox.files.list("walk/a.txt"), e2b.InvalidArgumentException)

    async def exists(w):
        same(await w.do(w.sandbox.files.exists("walk/a.txt")), True)
        same(await w.do(w.sandbox.files.exists("walk/missing")), False)

    async def get_info(w):
        info = await w.do(w.sandbox.files.get_info("walk/a.txt"))
        same((info.size, info.mode, info.permissions, info.owner, info.group), (3, 0o644, "-rw-r--r--", "user", "user"))
        same(info.metadata, {"author": "walk"})
        await w.refused(lambda: w.sandbox.files.get_info("walk/missing"), e2b.NotFoundException)

    async def make_dir(w):
        same(await w.do(w.sandbox.files.make_dir("walk/new/deep")), True)
        same(await w.do(w.sandbox.files.make_dir("walk/new/deep")), False)

    async def rename(w):
        info = await w.do(w.sandbox.files.rename("walk/a.txt", "walk/moved/a2.txt"))
        same((info.path, info.metadata), ("/home/user/walk/moved/a2.txt", {"author": "walk"}))
        await w.refused(lambda: w.sandbox.files.rename("walk/a.txt", "walk/x"), e2b.NotFoundException)

    async def remove(w):
        await w.do(w.sandbox.files.remove("walk/moved"))
        same(await w.do(w.sandbox.files.exists("walk/moved")), False)
        await w.do(w.sandbox.files.remove("walk/moved"))

    async def watch_dir(w):
        watch = await w.watch(w.sandbox, "walk", recursive=True, include_entry=True)
        await w.do(w.sandbox.files.write("walk/new/deep/w.txt", "x"))
        await watch.until(lambda event: event.name == "new/deep/w.txt" and event.entry is not None
                          and event.type == e2b.FilesystemEventType.CREATE)
        await watch.stop()
        try:
            await w.watch(w.sandbox, "walk/missing")
            raise AssertionError("a missing directory was watched")
        except e2b.NotFoundException:
            pass


class Pty:
    async def create(w):
        w.terminal = await w.open_terminal(w.sandbox)
        await w.terminal.type(b'echo "$TERM $((6*7))"\n')
        await w.terminal.until(b"xterm-256color 42")

    async def send_stdin(w):
        await w.terminal.type(b"echo sent-$((1+1))\n")
        await w.terminal.until(b"sent-2")

    async def stream_input(w):
        await w.stream_input(w.sandbox.pty, w.terminal.pid, [b"echo str", b"eam-$((1+2))\n"])
        await w.terminal.until(b"stream-3")

    async def resize(w):
        await w.do(w.sandbox.pty.resize(w.terminal.pid, e2b.PtySize(rows=43, cols=132)))
        await w.terminal.type(b"stty size\n")
        await w.terminal.until(b"43 132")

    async def connect(w):
        other = await w.join_terminal(w.sandbox, w.terminal.pid)
        await w.terminal.type(b"echo both-$((2+2))\n")
        await other.until(b"both-4")
        await other.leave()

    async def kill(w):
        same(await w.do(w.sandbox.pty.kill(w.terminal.pid)), True)
        await w.refused(w.terminal.handle.wait, e2b.CommandExitException)
        same(await w.do(w.sandbox.pty.kill(w.terminal.pid)), False)


def steps():
    for owner, group in (("commands", Commands), ("files", Files), ("pty", Pty)):
        for function in vars(group).values():
            if callable(function):
                yield owner, function
