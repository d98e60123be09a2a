/**
 * The published Python client, as it is in its registry, against a running service: every method it has. What becomes of each is
 * what docs/compatibility.md says, or this fails.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { besideSuites, expectReport, keptFolder, reasonAgainst, run } from './published.ts'
import { ADMIN_KEY, API_KEY, startedService } from '#testing/processes/running-service.ts'

/** What does not work although it is called as it should be, by version. */
const KNOWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '3.0.0': {},
  '2.8.3': {
    'permit.authorized_users': 'fails in the client itself, when it reads the answer',
    'resource_relations.list':
      'insists on a bare array and does not say who it is; later versions insist on the envelope',
  },
}

describe.each(Object.entries(KNOWN))('permit %s', (version, known) => {
  test('works with every method, but for those that are known not to', async context => {
    const folder = keptFolder(`python-${version}`)
    const python = join(folder, 'bin', 'python')
    const reason = await reasonAgainst(async () => {
      if (!existsSync(python)) await run('python3', ['-m', 'venv', folder])
      const quietly = ['--quiet', '--disable-pip-version-check']
      await run(python, ['-m', 'pip', 'install', ...quietly, `permit==${version}`])
    })
    if (reason !== null) return context.skip(`no Python client here: ${reason}`)
    const service = await startedService()
    const report = await run(python, [besideSuites('python/drive.py'), service.address, API_KEY, ADMIN_KEY])
    const subject = { name: `Python, \`permit\` ${version}`, suite: 'Python', file: 'python.test.ts', known }
    expectReport(subject, report)
  })
})
