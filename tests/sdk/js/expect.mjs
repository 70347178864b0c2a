// The few assertions that the walk needs.
import assert from 'node:assert/strict'

export { assert }
export const same = assert.deepEqual

// The call must fail with this class of error and, where given, this in its message.
export async function refused(promise, errorClass, part = '') {
  let value
  try {
    value = await promise
  } catch (error) {
    assert.ok(error instanceof errorClass, `expected ${errorClass.name}, got ${error.name}: ${error.message}`)
    assert.ok(error.message.includes(part), `'${part}' is not in '${error.message}'`)
    return error
  }
  assert.fail(`was accepted: ${JSON.stringify(value)}`)
}

// Asks again until the answer is truthy; for what happens a moment later.
export async function eventually(what, ask, limitMs = 30_000) {
  for (const end = Date.now() + limitMs; ; ) {
    const answer = await ask()
    if (answer) return answer
    assert.ok(Date.now() < end, `${what}: not so after ${limitMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
