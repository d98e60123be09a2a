/** The run command of the README in a fresh clone. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { checkoutCopy } from '../../support/processes/checkout-copy.ts'
import { processWith } from '../../support/processes/started-process.ts'

const copy = checkoutCopy({ isFresh: true })

test('the run command of the README installs, builds and starts the service, and SIGTERM stops it', async () => {
  const [, run] = /^```\w*\n(npm ci && npm start)$/m.exec(readFileSync(join(copy, 'README.md'), 'utf8'))!
  const service = processWith({}, { cwd: copy, command: ['bash', '-c', `${run} & wait $!`] })
  await service.address()
  const [, pid] = await service.logMatch(/"pid":(\d+)/)
  try {
    const [, curl] = await service.stdoutMatch(/^ {2}(curl .*)$/m)
    const { stdout } = await promisify(execFile)('bash', ['-c', curl!])
    // The README creates the membership that would allow this check later.
    expect(stdout).toBe('{"allow":false,"result":false}')
  } finally {
    process.kill(Number(pid), 'SIGTERM')
    await service.exited
  }
  expect(service.stderr).toContain('"msg":"stopped"')
})
