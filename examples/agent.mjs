// An agent program written for E2B's JavaScript SDK. Nothing in it is oyat's but the last lines, which show the boundary.
// E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY say where the sandboxes come from.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Sandbox } from 'e2b'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const times = []
async function step(name, work) {
  const began = performance.now()
  const result = await work()
  times.push([name, performance.now() - began])
  return result
}

const sandbox = await step('create a sandbox', () => Sandbox.create('base', { metadata: { demo: 'javascript' } }))
try {
  await step('run a first command', () => sandbox.commands.run('true'))
  await step('upload the data and a script', async () => {
    await sandbox.files.write('work/zones.tab', (await readFile(here('data/zone1970.tab'))).buffer)
    await sandbox.files.write('work/analyse.py', await readFile(here('analyse.py'), 'utf8'))
  })
  await step('install a package', () => sandbox.commands.run('pip install --quiet tabulate', { timeoutMs: 180_000 }))

  console.log('--- output of the analysis, as it comes')
  await step('run the analysis, streaming', () =>
    sandbox.commands.run('python3 work/analyse.py work/zones.tab work/report.txt', {
      onStdout: (text) => process.stdout.write(text),
    })
  )

  let screen = ''
  await step('use a terminal', async () => {
    const decoder = new TextDecoder()
    const terminal = await sandbox.pty.create({
      cols: 100,
      rows: 30,
      onData: (bytes) => { screen += decoder.decode(bytes, { stream: true }) },
    })
    await sandbox.pty.sendInput(terminal.pid, new TextEncoder().encode('stty size; head -1 work/report.txt; exit\n'))
    await terminal.wait()
  })
  if (!/30 100/.test(screen) || !/zones/.test(screen)) throw new Error(`the terminal showed: ${JSON.stringify(screen)}`)

  const report = await step('bring the report back', () => sandbox.files.read('work/report.txt'))
  if (!/^\d+ zones\n/.test(report)) throw new Error(`the report reads: ${report}`)

  const answer = await fetch(`${process.env.E2B_API_URL}/v1/sandboxes/${sandbox.sandboxId}`, {
    headers: { 'X-API-Key': process.env.E2B_API_KEY },
  })
  if (!answer.ok) throw new Error(`GET /v1/sandboxes: ${answer.status}`)
  const info = await answer.json()
  console.log('--- what held it')
  console.log(`boundary: ${info.boundary} (engine ${info.engine}), template ${info.template_digest.slice(0, 19)}`)
  const { memory_bytes, cpu_millis, processes, disk_bytes } = info.limits
  console.log(
    `limits: ${memory_bytes / 2 ** 20} MiB memory, ${cpu_millis / 1000} CPU, ${processes} processes, ${disk_bytes / 2 ** 30} GiB disk`
  )
} finally {
  await step('destroy it', () => sandbox.kill())
}
console.log('--- how long each step took')
for (const [name, ms] of times) console.log(`${name.padEnd(32)} ${ms.toFixed(1).padStart(9)} ms`)
