// Compares a report of the vendor's suite with what is known not to pass: node upstream-report.mjs REPORT EXPECTED
import { readFileSync } from 'node:fs'

const [report, expected] = process.argv.slice(2, 4).map((path) => JSON.parse(readFileSync(path, 'utf8')))
let passed = 0
let failed = 0
// A file that the list does not name is one that passes whole. With a third word only what ran is judged.
const ran = report.testResults.map((one) => one.name.slice(one.name.lastIndexOf('/tests/') + 1))
const partial = process.argv.length > 4
for (const file of new Set([...ran, ...(partial ? [] : Object.keys(expected))])) {
  const { cannot = 0, why = '' } = expected[file] ?? {}
  const result = report.testResults.find((one) => one.name.endsWith(`/${file}`))
  const tests = result?.assertionResults ?? []
  const good = tests.filter((test) => test.status === 'passed').length
  const bad = tests.filter((test) => test.status === 'failed')
  passed += good
  if (tests.length === 0) {
    failed++
    console.log(`FAIL ${file}: no test ran: ${result?.message ?? 'the file is missing'}`)
  } else if (bad.length > cannot) {
    failed += bad.length - cannot
    console.log(`FAIL ${file}: ${bad.length} failed, ${cannot} of them known${why && ` (${why})`}`)
    for (const test of bad) console.log(`     ${test.fullName}: ${test.failureMessages[0]?.split('\n')[0]}`)
  } else if (bad.length > 0) {
    console.log(`ok   ${file}: ${good} passed, ${bad.length} cannot: ${why}`)
  }
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
