"""What differs between the two flavours of the package: waiting, terminals, watches."""
import asyncio
import inspect
import time

import e2b


class Flavour:
    async def refused(self, call, error_class, part=""):
        """The call (a function, since a synchronous one would run too early) must fail in this way."""
        try:
            value = await self.do(call())
        except error_class as error:
            assert part in str(error), f"{part!r} is not in {str(error)!r}"
            return error
        raise AssertionError(f"was accepted: {value!r}")

    async def eventually(self, what, ask, limit=30):
        end = time.monotonic() + limit
        while True:
            answer = await self.do(ask())
            if answer:
                return answer
            assert time.monotonic() < end, f"{what}: not so after {limit} s"
            await asyncio.sleep(0.05)


class SyncFlavour(Flavour):
    Sandbox = e2b.Sandbox
    Secret = e2b.Secret

    async def do(self, value):
        return value

    async def open_terminal(self, sandbox):
        return SyncTerminal(sandbox, sandbox.pty.create(e2b.PtySize(rows=24, cols=80)))

    async def join_terminal(self, sandbox, pid):
        return SyncTerminal(sandbox, sandbox.pty.connect(pid))

    async def watch(self, sandbox, path, **options):
        handle = sandbox.files.watch_dir(path, **options)
        return SyncWatch(handle)

    async def stream_input(self, part, pid, pieces):
        part.stream_input(pid, pieces)


class SyncTerminal:
    """Output is taken from the handle, which waits for more."""

    def __init__(self, sandbox, handle):
        self.sandbox, self.handle, self.pid = sandbox, handle, handle.pid

    async def type(self, line):
        self.sandbox.pty.send_stdin(self.pid, line)

    async def until(self, part):
        seen = b""
        for _, _, data in self.handle:
            seen += data or b""
            if part in seen:
                return
        raise AssertionError(f"{part!r} is not in {seen!r}")

    async def leave(self):
        self.handle.disconnect()


class Watch:
    async def until(self, wanted, limit=30):
        end = time.monotonic() + limit
        while not any(wanted(event) for event in self.events):
            assert time.monotonic() < end, f"not among {self.events!r}"
            await self.more()


class SyncWatch(Watch):
    """Events are asked for."""

    def __init__(self, handle):
        self.handle, self.events = handle, []

    async def more(self):
        self.events += self.handle.get_new_events()
        await asyncio.sleep(0.05)

    async def stop(self):
        self.handle.stop()


class AsyncFlavour(Flavour):
    Sandbox = e2b.AsyncSandbox
    Secret = e2b.AsyncSecret

    async def do(self, value):
        return await value if inspect.isawaitable(value) else value

    async def open_terminal(self, sandbox):
        terminal = AsyncTerminal(sandbox)
        terminal.handle = await sandbox.pty.create(e2b.PtySize(rows=24, cols=80), on_data=terminal.take)
        terminal.pid = terminal.handle.pid
        return terminal

    async def join_terminal(self, sandbox, pid):
        terminal = AsyncTerminal(sandbox)
        terminal.handle = await sandbox.pty.connect(pid, on_data=terminal.take)
        terminal.pid = pid
        return terminal

    async def watch(self, sandbox, path, **options):
        watch = AsyncWatch()
        watch.handle = await sandbox.files.watch_dir(path, on_event=watch.events.append, **options)
        return watch

    async def stream_input(self, part, pid, pieces):
        handle = part.stream_input(pid)
        for piece in pieces:
            await handle.send(piece)
        await handle.close()


class AsyncTerminal:
    """Output comes by a callback."""

    def __init__(self, sandbox):
        self.sandbox, self.seen = sandbox, b""

    def take(self, data):
        self.seen += data

    async def type(self, line):
        await self.sandbox.pty.send_stdin(self.pid, line)

    async def until(self, part):
        for _ in range(600):
            if part in self.seen:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"{part!r} is not in {self.seen!r}")

    async def leave(self):
        await self.handle.disconnect()


class AsyncWatch(Watch):
    """Events come by a callback."""

    def __init__(self):
        self.events = []

    async def more(self):
        await asyncio.sleep(0.05)

    async def stop(self):
        await self.handle.stop()
