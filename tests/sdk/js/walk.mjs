// Walks over every public method of one published JavaScript package against a living server.
//
//     node walk.mjs e2b            (or another name in package.json)
//
// Reads E2B_API_URL, E2B_SANDBOX_URL and E2B_API_KEY. Prints a line for each step and "N passed, N failed" at the end.
import { publicMethods } from './reflection.mjs'
import { sandboxSteps } from './steps_sandbox.mjs'
import { secretSteps } from './steps_secrets.mjs'
import { partSteps } from './steps_parts.mjs'
import { gitSteps } from './steps_git.mjs'

const STEP_LIMIT_MS = 90_000

async function within(promise) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${STEP_LIMIT_MS} ms`)), STEP_LIMIT_MS)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

const packageName = process.argv[2] ?? 'e2b'
const sdk = await import(packageName)
const walk = { sdk, Sandbox: sdk.Sandbox, sandbox: await sdk.Sandbox.create('base', { timeoutMs: 600_000 }) }
// The last ones end the sandbox.
const steps = { ...partSteps, ...gitSteps, ...secretSteps(sdk), ...sandboxSteps }

let passed = 0
let failed = 0
function report(name, error) {
  if (error) failed++
  else passed++
  console.log(`${error ? 'FAIL' : 'ok  '} ${packageName} ${name}${error ? `: ${error.name}: ${error.message}` : ''}`)
}

for (const name of publicMethods(packageName, walk)) {
  if (!(name in steps)) report(name, new Error('the walk has no step for this method'))
}
for (const [name, step] of Object.entries(steps)) {
  try {
    await within(step(walk))
    report(name)
  } catch (error) {
    report(name, error instanceof Error ? error : new Error(String(error)))
  }
}
await walk.Sandbox.kill(walk.sandbox.sandboxId).catch(() => false)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
