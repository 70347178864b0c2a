// The life of a sandbox: a step for each public method of the class and of its objects. Runs last: it ends the sandbox.
import { assert, eventually, refused, same } from './expect.mjs'

const fetchText = async (url, options) => {
  const answer = await fetch(url, options)
  return [answer.status, await answer.text()]
}
const inFuture = (ms) => Date.now() + ms

const ofTheClass = {
  'Sandbox.create': async (walk) => {
    walk.other = await walk.Sandbox.create('base', {
      timeoutMs: 120_000,
      metadata: { walk: 'a=b&c d+e' },
      envs: { FROM_CREATE: 'yes' },
      allowInternetAccess: false,
    })
    same((await walk.other.commands.run('echo $FROM_CREATE $E2B_SANDBOX_ID')).stdout, `yes ${walk.other.sandboxId}\n`)
    await refused(walk.Sandbox.create('no-such-template'), walk.sdk.SandboxError, 'no-such-template')
    await refused(walk.Sandbox.create('base', { apiKey: `e2b_${'0'.repeat(40)}` }), walk.sdk.AuthenticationError)
    const listed = await walk.Sandbox.create('base', { network: { allowOut: ['example.org'], denyOut: ['0.0.0.0/0'] } })
    await listed.kill()
    await refused(walk.Sandbox.create('base', { network: { denyOut: ['example.org'] } }), walk.sdk.SandboxError, 'denyOut')
  },
  'Sandbox.list': async ({ Sandbox, other, sandbox }) => {
    const ids = async (options) => (await Sandbox.list(options).nextItems()).map((one) => one.sandboxId)
    same(await ids({ query: { metadata: { walk: 'a=b&c d+e' }, state: ['running'] } }), [other.sandboxId])
    same(await ids({ query: { metadata: { walk: 'other' } } }), [])
    const pages = Sandbox.list({ limit: 1 })
    const seen = []
    while (pages.hasNext) seen.push(...(await pages.nextItems()).map((one) => one.sandboxId))
    assert.ok(seen.includes(other.sandboxId) && seen.includes(sandbox.sandboxId))
  },
  'Sandbox.getInfo': async ({ Sandbox, sdk, other }) => {
    const info = await Sandbox.getInfo(other.sandboxId)
    same([info.state, info.metadata, info.templateId], ['running', { walk: 'a=b&c d+e' }, 'base'])
    await refused(Sandbox.getInfo('i00000000000000000000'), sdk.NotFoundError)
  },
  'Sandbox.getFullInfo': async ({ Sandbox, other }) => {
    same((await Sandbox.getFullInfo(other.sandboxId)).sandboxId, other.sandboxId)
  },
  'Sandbox.getMetrics': async ({ Sandbox, sandbox }) => {
    const metrics = await eventually('a first sample', async () => {
      const list = await Sandbox.getMetrics(sandbox.sandboxId)
      return list.length > 0 && list
    })
    assert.ok(metrics[0].memTotal > 0 && metrics[0].cpuCount >= 1 && metrics[0].diskTotal > 0)
  },
  'Sandbox.setTimeout': async ({ Sandbox, other }) => {
    await Sandbox.setTimeout(other.sandboxId, 60_000)
    assert.ok((await Sandbox.getInfo(other.sandboxId)).endAt < inFuture(70_000))
  },
  'Sandbox.pause': async ({ Sandbox, other }) => {
    await other.commands.run('sleep 600', { background: true })
    same(await Sandbox.pause(other.sandboxId), true)
    same(await Sandbox.pause(other.sandboxId), false)
    same((await Sandbox.getInfo(other.sandboxId)).state, 'paused')
    same(await other.isRunning(), false)
  },
  'Sandbox.connect': async ({ Sandbox, sdk, other }) => {
    const again = await Sandbox.connect(other.sandboxId, { timeoutMs: 120_000 })
    same(again.sandboxId, other.sandboxId)
    assert.ok((await again.commands.list()).some((one) => one.args.at(-1) === 'sleep 600'))
    same((await other.commands.run('echo the old handle works')).exitCode, 0)
    await refused(Sandbox.connect('i00000000000000000000'), sdk.NotFoundError)
  },
  'Sandbox.betaPause': async ({ Sandbox, other }) => {
    same(await Sandbox.betaPause(other.sandboxId), true)
    await Sandbox.connect(other.sandboxId)
  },
  'Sandbox.fork': async ({ Sandbox, sdk, other }) => {
    await other.files.write('kept.txt', 'before')
    const forks = await Sandbox.fork(other.sandboxId, { count: 2, timeoutMs: 60_000 })
    same(new Set([other, ...forks].map((one) => one.sandboxId)).size, 3)
    for (const fork of forks) {
      same(await fork.files.read('kept.txt'), 'before')
      same((await fork.commands.run('echo $FROM_CREATE $E2B_SANDBOX_ID')).stdout, `yes ${fork.sandboxId}\n`)
      assert.notEqual(fork.envdAccessToken, other.envdAccessToken)
      await fork.files.write('kept.txt', 'after')
      same((await Sandbox.getInfo(fork.sandboxId)).metadata, { walk: 'a=b&c d+e' })
      await fork.kill()
    }
    same(await other.files.read('kept.txt'), 'before')
    await refused(Sandbox.fork('i00000000000000000000'), sdk.NotFoundError)
  },
  'Sandbox.createSnapshot': async (walk) => {
    const { Sandbox, sdk, other } = walk
    walk.snapshot = (await Sandbox.createSnapshot(other.sandboxId, { name: 'walk:v1' })).snapshotId
    const again = await Sandbox.createSnapshot(other.sandboxId, { name: 'walk:v1' })
    same([again.snapshotId, again.names[0].split('/')[1]], [walk.snapshot, 'walk'])
    await other.files.write('kept.txt', 'later')
    const made = await Sandbox.create('walk:v1', { timeoutMs: 60_000 })
    same(await made.files.read('kept.txt'), 'before')
    await made.kill()
    await refused(Sandbox.createSnapshot('i00000000000000000000'), sdk.NotFoundError)
  },
  'Sandbox.listSnapshots': async ({ Sandbox, snapshot, other, sandbox }) => {
    const ids = async (options) => (await Sandbox.listSnapshots(options).nextItems()).map((one) => one.snapshotId)
    same(await ids({ name: 'walk' }), [snapshot])
    same((await ids({ sandboxId: other.sandboxId })).length, 2) // the first lost its name to the second
    same(await ids({ sandboxId: sandbox.sandboxId }), [])
    const pages = Sandbox.listSnapshots({ sandboxId: other.sandboxId, limit: 1 })
    const seen = []
    while (pages.hasNext) seen.push(...(await pages.nextItems()))
    same(seen.length, 2)
  },
  'Sandbox.deleteSnapshot': async ({ Sandbox, snapshot, other }) => {
    same(await Sandbox.deleteSnapshot(snapshot), true)
    same(await Sandbox.deleteSnapshot(snapshot), false)
    const [rest] = await Sandbox.listSnapshots({ sandboxId: other.sandboxId }).nextItems()
    same(await Sandbox.deleteSnapshot(rest.snapshotId), true)
  },
  'Sandbox.updateNetwork': async ({ Sandbox, sdk, sandbox }) => {
    await Sandbox.updateNetwork(sandbox.sandboxId, { allowOut: ['203.0.113.7'], denyOut: ['0.0.0.0/0'] })
    const { allowOut, denyOut } = (await Sandbox.getFullInfo(sandbox.sandboxId)).network
    same([allowOut, denyOut], [['203.0.113.7'], ['0.0.0.0/0']])
    await refused(Sandbox.updateNetwork(sandbox.sandboxId, { allowOut: ['a.example'] }), sdk.SandboxError, '0.0.0.0/0')
    await refused(Sandbox.updateNetwork('i00000000000000000000', {}), sdk.NotFoundError)
  },
  'Sandbox.kill': async ({ Sandbox, other }) => {
    same(await Sandbox.kill(other.sandboxId), true)
    same(await Sandbox.kill(other.sandboxId), false)
    same(await other.isRunning(), false)
  },
}

const ofAnObject = {
  'sandbox.isRunning': async ({ sandbox }) => same(await sandbox.isRunning(), true),
  'sandbox.getInfo': async ({ sandbox }) => same((await sandbox.getInfo()).sandboxId, sandbox.sandboxId),
  'sandbox.getMetrics': async ({ sandbox }) => assert.ok((await sandbox.getMetrics()).length > 0),
  'sandbox.setTimeout': async ({ sandbox }) => {
    await sandbox.setTimeout(300_000)
    assert.ok((await sandbox.getInfo()).endAt < inFuture(310_000))
  },
  'sandbox.connect': async ({ sandbox }) => same((await sandbox.connect({ timeoutMs: 400_000 })).sandboxId, sandbox.sandboxId),
  'sandbox.getHost': async ({ sandbox }) => {
    assert.ok(sandbox.getHost(8080).startsWith(`8080-${sandbox.sandboxId}.`))
    await sandbox.commands.run('cd /tmp && python3 -m http.server 8080 --bind 127.0.0.1', { background: true, timeoutMs: 0 })
    // The host name needs a domain; the same port by the routing headers needs only the URL.
    const [status, body] = await fetchText(`${process.env.E2B_SANDBOX_URL}/`, {
      headers: { 'E2b-Sandbox-Id': sandbox.sandboxId, 'E2b-Sandbox-Port': '8080' },
    })
    same(status, 200)
    assert.ok(body.includes('Directory listing'))
  },
  'sandbox.downloadUrl': async ({ sandbox }) => {
    await sandbox.files.write('signed.txt', 'signed')
    same(await fetchText(await sandbox.downloadUrl('signed.txt', { useSignatureExpiration: 60 })), [200, 'signed'])
    const expired = await sandbox.downloadUrl('signed.txt', { useSignatureExpiration: -60 })
    same((await fetchText(expired))[0], 401)
    same((await fetchText((await sandbox.downloadUrl('signed.txt')).replace('signed.txt', 'other.txt')))[0], 401)
  },
  'sandbox.uploadUrl': async ({ sandbox }) => {
    const form = new FormData()
    form.append('file', 'by link')
    const url = await sandbox.uploadUrl('uploaded.txt', { useSignatureExpiration: 60 })
    same((await fetchText(url, { method: 'POST', body: form }))[0], 200)
    same(await sandbox.files.read('uploaded.txt'), 'by link')
  },
  'sandbox.getMcpUrl': async ({ sandbox }) => assert.ok(sandbox.getMcpUrl().includes(sandbox.sandboxId)),
  'sandbox.getMcpToken': async ({ sandbox, sdk }) => {
    // Read from a file that only a template with the gateway has.
    const token = await sandbox.getMcpToken().catch((error) => error)
    assert.ok(token === undefined || token instanceof sdk.NotFoundError || token instanceof sdk.SandboxError)
  },
  'sandbox.fork': async ({ sandbox }) => {
    const [fork] = await sandbox.fork({ timeoutMs: 60_000 })
    same(await fork.isRunning(), true)
    same(await fork.kill(), true)
  },
  'sandbox.createSnapshot': async (walk) => {
    walk.own = (await walk.sandbox.createSnapshot()).snapshotId
  },
  'sandbox.listSnapshots': async ({ Sandbox, sandbox, own }) => {
    same((await sandbox.listSnapshots().nextItems()).map((one) => one.snapshotId), [own])
    same(await Sandbox.deleteSnapshot(own), true)
  },
  // All that is left out is cleared.
  'sandbox.updateNetwork': async ({ Sandbox, sandbox }) => {
    await sandbox.updateNetwork({})
    same((await Sandbox.getFullInfo(sandbox.sandboxId)).network, undefined)
  },
  'sandbox.pause': async ({ sandbox }) => {
    same(await sandbox.pause(), true)
    await sandbox.connect()
    // Files alone: processes are gone, and nothing wakes it but a connect.
    await sandbox.files.write('kept.txt', 'kept')
    await sandbox.commands.run('sleep 601', { background: true })
    same(await sandbox.pause({ keepMemory: false }), true)
    same(await sandbox.isRunning(), false)
    await sandbox.connect()
    same(await sandbox.files.read('kept.txt'), 'kept')
    same((await sandbox.commands.list()).some((one) => one.args.at(-1) === 'sleep 601'), false)
  },
  'sandbox.betaPause': async ({ sandbox }) => {
    same(await sandbox.betaPause(), true)
    await sandbox.connect()
  },
  'sandbox.kill': async ({ sandbox, sdk }) => {
    const handle = await sandbox.commands.run('sleep 60', { background: true })
    same(await sandbox.kill(), true)
    await refused(handle.wait(), sdk.TimeoutError, 'sandbox was killed or reached its end of life')
    same(await sandbox.isRunning(), false)
  },
}

export const sandboxSteps = { ...ofTheClass, ...ofAnObject }
