// Commands, files and terminals: a step for each public method.
import { assert, eventually, refused, same } from './expect.mjs'

const text = (bytes) => new TextDecoder().decode(bytes)

async function terminal(sandbox) {
  const seen = { text: '' }
  const handle = await sandbox.pty.create({ cols: 80, rows: 24, onData: (data) => void (seen.text += text(data)) })
  const type = (line) => sandbox.pty.sendInput(handle.pid, new TextEncoder().encode(line))
  return { seen, handle, type }
}

const commands = {
  'commands.run': async ({ sandbox, sdk }) => {
    const streamed = []
    const result = await sandbox.commands.run('echo out; echo err >&2; echo "$A in $PWD as $(whoami)"', {
      envs: { A: 'x y' },
      cwd: '/tmp',
      user: 'root',
      onStdout: (data) => void streamed.push(data),
    })
    same([result.exitCode, result.stdout, result.stderr], [0, 'out\nx y in /tmp as root\n', 'err\n'])
    same(streamed.join(''), result.stdout)
    const error = await refused(sandbox.commands.run('exit 3'), sdk.CommandExitError)
    same(error.exitCode, 3)
    await refused(sandbox.commands.run('sleep 60', { timeoutMs: 1_000 }), sdk.TimeoutError)
    await refused(sandbox.commands.run('true', { cwd: '/missing' }), sdk.InvalidArgumentError, '/missing')
    await refused(sandbox.commands.run('true', { user: 'nobody-here' }), sdk.AuthenticationError)
  },
  'commands.list': async ({ sandbox }) => {
    const handle = await sandbox.commands.run('sleep 60', { background: true, envs: { B: '1' }, cwd: '/tmp' })
    const found = (await sandbox.commands.list()).find((one) => one.pid === handle.pid)
    same([found.cmd, found.args, found.envs.B, found.cwd], ['/bin/bash', ['-l', '-c', 'sleep 60'], '1', '/tmp'])
    await handle.kill()
  },
  'commands.kill': async ({ sandbox, sdk }) => {
    const handle = await sandbox.commands.run('sleep 60', { background: true })
    same(await sandbox.commands.kill(handle.pid), true)
    await refused(handle.wait(), sdk.CommandExitError, 'killed')
    same(await sandbox.commands.kill(handle.pid), false)
    same(await sandbox.commands.kill(999_999), false)
  },
  'commands.connect': async ({ sandbox, sdk }) => {
    const first = await sandbox.commands.run('read line; echo "got $line"', { background: true, stdin: true })
    await first.disconnect()
    const second = await sandbox.commands.connect(first.pid)
    await second.sendStdin('hello\n')
    same((await second.wait()).stdout, 'got hello\n')
    await refused(sandbox.commands.connect(999_999), sdk.NotFoundError)
  },
  'commands.sendStdin': async ({ sandbox }) => {
    const handle = await sandbox.commands.run('read line; echo "<$line>"', { background: true, stdin: true })
    await sandbox.commands.sendStdin(handle.pid, 'héllo\n')
    same((await handle.wait()).stdout, '<héllo>\n')
  },
  'commands.closeStdin': async ({ sandbox }) => {
    const handle = await sandbox.commands.run('cat | wc -c', { background: true, stdin: true })
    await sandbox.commands.sendStdin(handle.pid, '12345')
    await sandbox.commands.closeStdin(handle.pid)
    same((await handle.wait()).stdout.trim(), '5')
  },
}

const files = {
  'files.write': async ({ sandbox, sdk }) => {
    const info = await sandbox.files.write('walk/a.txt', 'one', { metadata: { author: 'walk' } })
    same([info.name, info.path, info.type, info.metadata], ['a.txt', '/home/user/walk/a.txt', 'file', { author: 'walk' }])
    await sandbox.files.write('walk/b.bin', new Uint8Array([0, 255, 10]).buffer, { useOctetStream: true })
    await sandbox.files.write('walk/c.txt', new Blob(['packed']).stream(), { gzip: true })
    await refused(sandbox.files.write('walk', 'x'), sdk.InvalidArgumentError)
    // Acts as the named user inside: a plain user does not write root's files.
    await refused(sandbox.files.write('/etc/walk', 'x', { user: 'user' }), sdk.SandboxError)
  },
  'files.writeFiles': async ({ sandbox }) => {
    const infos = await sandbox.files.writeFiles([
      { path: 'walk/many/1', data: 'one' },
      { path: '/home/user/walk/many/2', data: 'two' },
    ])
    same(infos.map((info) => info.path), ['/home/user/walk/many/1', '/home/user/walk/many/2'])
  },
  'files.read': async ({ sandbox, sdk }) => {
    same(await sandbox.files.read('walk/a.txt'), 'one')
    same([...(await sandbox.files.read('walk/b.bin', { format: 'bytes' }))], [0, 255, 10])
    same(await sandbox.files.read('walk/c.txt', { gzip: true }), 'packed')
    same(await (await sandbox.files.read('walk/a.txt', { format: 'blob' })).text(), 'one')
    let streamed = ''
    for await (const piece of await sandbox.files.read('walk/c.txt', { format: 'stream' })) streamed += text(piece)
    same(streamed, 'packed')
    assert.match(await sandbox.files.read('/proc/version'), /Linux/)
    await refused(sandbox.files.read('walk/missing'), sdk.NotFoundError)
    await refused(sandbox.files.read('walk'), sdk.InvalidArgumentError)
    await refused(sandbox.files.read('/etc/shadow', { user: 'user' }), sdk.SandboxError)
  },
  'files.list': async ({ sandbox, sdk }) => {
    same((await sandbox.files.list('walk')).map((one) => [one.name, one.type]), [
      ['a.txt', 'file'],
      ['b.bin', 'file'],
      ['c.txt', 'file'],
      ['many', 'dir'],
    ])
    same((await sandbox.files.list('walk', { depth: 2 })).length, 6)
    await refused(sandbox.files.list('walk/missing'), sdk.NotFoundError)
    await refused(sandbox.files.list('walk/a.txt'), sdk.InvalidArgumentError)
  },
  'files.exists': async ({ sandbox }) => {
    same(await sandbox.files.exists('walk/a.txt'), true)
    same(await sandbox.files.exists('walk/missing'), false)
  },
  'files.getInfo': async ({ sandbox, sdk }) => {
    const info = await sandbox.files.getInfo('walk/a.txt')
    same([info.size, info.mode, info.permissions, info.owner, info.group], [3, 0o644, '-rw-r--r--', 'user', 'user'])
    assert.ok(Math.abs(info.modifiedTime - new Date()) < 600_000)
    same(info.metadata, { author: 'walk' })
    await refused(sandbox.files.getInfo('walk/missing'), sdk.NotFoundError)
  },
  'files.makeDir': async ({ sandbox }) => {
    same(await sandbox.files.makeDir('walk/new/deep'), true)
    same(await sandbox.files.makeDir('walk/new/deep'), false)
  },
  'files.rename': async ({ sandbox, sdk }) => {
    const info = await sandbox.files.rename('walk/a.txt', 'walk/moved/a2.txt')
    same([info.path, info.metadata], ['/home/user/walk/moved/a2.txt', { author: 'walk' }])
    await refused(sandbox.files.rename('walk/a.txt', 'walk/x'), sdk.NotFoundError)
  },
  'files.remove': async ({ sandbox }) => {
    await sandbox.files.remove('walk/moved')
    same(await sandbox.files.exists('walk/moved'), false)
    await sandbox.files.remove('walk/moved')
  },
  'files.watchDir': async ({ sandbox, sdk }) => {
    const events = []
    const handle = await sandbox.files.watchDir('walk', (event) => void events.push(event), { recursive: true })
    await sandbox.files.write('walk/new/deep/w.txt', 'x')
    await eventually('a created file is seen', () =>
      events.some((event) => event.name === 'new/deep/w.txt' && event.type === sdk.FilesystemEventType.CREATE)
    )
    await handle.stop()
    await refused(sandbox.files.watchDir('walk/missing', () => {}), sdk.NotFoundError)
  },
}

const pty = {
  'pty.create': async (walk) => {
    walk.terminal = await terminal(walk.sandbox)
    await walk.terminal.type('echo "$TERM $((6*7))"\n')
    await eventually('the terminal answers', () => walk.terminal.seen.text.includes('xterm-256color 42'))
  },
  'pty.sendInput': async ({ terminal: { type, seen } }) => {
    await type('echo sent-$((1+1))\n')
    await eventually('typed text runs', () => seen.text.includes('sent-2'))
  },
  'pty.resize': async ({ sandbox, terminal: { handle, type, seen } }) => {
    await sandbox.pty.resize(handle.pid, { cols: 132, rows: 43 })
    await type('stty size\n')
    await eventually('the new size is seen', () => seen.text.includes('43 132'))
  },
  'pty.connect': async ({ sandbox, terminal: { handle } }) => {
    let seen = ''
    const other = await sandbox.pty.connect(handle.pid, { onData: (data) => void (seen += text(data)) })
    await sandbox.pty.sendInput(handle.pid, new TextEncoder().encode('echo both-$((2+2))\n'))
    await eventually('the second onlooker sees it', () => seen.includes('both-4'))
    await other.disconnect()
  },
  'pty.kill': async ({ sandbox, sdk, terminal: { handle } }) => {
    same(await sandbox.pty.kill(handle.pid), true)
    await refused(handle.wait(), sdk.CommandExitError)
    same(await sandbox.pty.kill(handle.pid), false)
  },
}

export const partSteps = { ...commands, ...files, ...pty }
