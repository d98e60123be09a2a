/** The dependency audit fails for a severe advisory, but not if the registry is unavailable. */
import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { storeDirectory } from '#testing/processes/running-service.ts'

const AUDIT = fileURLToPath(new URL('../../.ci/audit.mjs', import.meta.url))

const report = (severity: string) =>
  JSON.stringify({
    vulnerabilities: { shaky: { name: 'shaky', severity, range: '<1.2.3' } },
    metadata: { vulnerabilities: { high: 1 } },
  })

/** Runs the audit with an `npm` that prints this response of the registry. */
function audited(answer: string, code: number) {
  const directory = storeDirectory()
  const npm = join(directory, 'npm')
  writeFileSync(npm, `#!/bin/sh\ncat <<'END'\n${answer}\nEND\nexit ${code}\n`)
  chmodSync(npm, 0o755)
  const PATH = `${directory}:${process.env['PATH']}`
  return spawnSync(process.execPath, [AUDIT], { encoding: 'utf8', env: { ...process.env, PATH } })
}

test.each(['high', 'critical'])('an advisory of %s severity fails with the name of the package', severity => {
  const { status, stdout } = audited(report(severity), 1)
  expect([status, stdout]).toEqual([1, expect.stringContaining(`${severity}: shaky <1.2.3`)])
})

test('an advisory below high severity does not make the audit fail', () => {
  const { status, stdout } = audited(report('moderate'), 1)
  expect([status, stdout]).toEqual([0, 'dependency audit: 0 of high or critical severity\n'])
})

test.each(['', 'npm error 503', '{"message":"request failed","error":{"code":"ENOTFOUND"}}'])(
  'a registry without a report (%j) is reported and does not fail',
  answer => {
    const { status, stdout } = audited(answer, 1)
    expect([status, stdout]).toEqual([0, 'dependency audit: NOT DONE, the registry gave no report\n'])
  },
)
