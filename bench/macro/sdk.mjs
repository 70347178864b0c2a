// Times of the published JavaScript SDK against one server. Usage: node sdk.mjs WHAT N [options]; prints one JSON object with
// the raw samples in milliseconds. E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY name the server.
import http from 'node:http'
import { spawnSync } from 'node:child_process'
import { Sandbox } from 'e2b'

const [what, count = '100', extra] = process.argv.slice(2)
const n = Number(count)
const clock = () => performance.now()
const sleep = (ms) => new Promise((done) => setTimeout(done, ms))
const settle = () => sleep(60) // the pool refills in the meantime: this is the warm regime

async function timed(samples, work) {
  const began = clock()
  const result = await work()
  samples.push(clock() - began)
  return result
}

const measures = {
  // create -> first command finished, one after the other, pool full.
  async tti() {
    const create = [], first = []
    for (let i = 0; i < n + 10; i++) {
      const began = clock()
      const sandbox = await Sandbox.create('base')
      const created = clock()
      await sandbox.commands.run('true')
      if (i >= 10) {
        create.push(created - began)
        first.push(clock() - began)
      }
      await sandbox.kill()
      await settle()
    }
    return { create, first }
  },
  // exec round trip beside a host spawn of the same command, interleaved.
  async exec() {
    const exec = [], host = []
    const sandbox = await Sandbox.create('base')
    for (let i = 0; i < 10; i++) await sandbox.commands.run('true')
    for (let i = 0; i < n; i++) {
      await timed(exec, () => sandbox.commands.run('true'))
      const began = clock()
      // Without the profile of whoever runs the benchmark, as in the sandbox.
      spawnSync('/bin/bash', ['-l', '-c', 'true'], { env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent' } })
      host.push(clock() - began)
    }
    await sandbox.kill()
    return { exec, host }
  },
  // `n` creates at once, each followed by a first command.
  async burst() {
    const created = [], ready = [], failed = []
    const made = []
    await Promise.all(
      Array.from({ length: n }, async () => {
        const began = clock()
        try {
          const sandbox = await Sandbox.create('base')
          created.push(clock() - began)
          made.push(sandbox)
          await sandbox.commands.run('true')
          ready.push(clock() - began)
        } catch (error) {
          failed.push(String(error.message).slice(0, 200))
        }
      })
    )
    await Promise.all(made.map((sandbox) => sandbox.kill()))
    return { created, ready, failed }
  },
  // Files of `extra` MiB up and down, and the same bytes to and from a bare Node server.
  async files() {
    const bytes = Number(extra || 256) * 2 ** 20
    const content = Buffer.alloc(bytes, 'x')
    const up = [], down = [], bareUp = [], bareDown = []
    const sandbox = await Sandbox.create('base')
    const server = http.createServer((request, response) => {
      if (request.method === 'POST') {
        request.on('data', () => {})
        request.on('end', () => response.end('ok'))
      } else {
        response.setHeader('Content-Length', bytes)
        response.end(content)
      }
    })
    await new Promise((done) => server.listen(0, '127.0.0.1', done))
    const bare = `http://127.0.0.1:${server.address().port}/`
    for (let i = 0; i < n; i++) {
      await timed(up, () => sandbox.files.write('big', content.buffer.slice(content.byteOffset, content.byteOffset + bytes), { useOctetStream: true }))
      await timed(down, () => sandbox.files.read('big', { format: 'bytes' }))
      await timed(bareUp, async () => (await fetch(bare, { method: 'POST', body: content })).text())
      await timed(bareDown, async () => (await fetch(bare)).arrayBuffer())
    }
    server.close()
    await sandbox.kill()
    return { up, down, bareUp, bareDown, bytes }
  },
}

if (!measures[what]) {
  console.error(`usage: node sdk.mjs ${Object.keys(measures).join('|')} N [MiB]`)
  process.exit(2)
}
console.log(JSON.stringify(await measures[what]()))
