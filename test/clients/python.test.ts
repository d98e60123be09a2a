/**
 * The published Python client, as it is in its registry, against a running service: every method it has. What becomes of each is
 * what docs/compatibility.md says, or this fails.
 */
import { describe, test } from 'vitest'
import { besideSuites, expectReport, run } from './published.ts'
import { pythonWith } from './python-environment.ts'
import { ADMIN_KEY, API_KEY, startedService } from '#testing/processes/running-service.ts'

/** What does not work although it is called as it should be, by version. */
const KNOWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '3.0.0': {},
  '2.8.3': {
    'permit.authorized_users': 'the client cannot read the response',
    'resource_relations.list': 'the client requires an array and does not identify itself',
  },
}

describe.each(Object.entries(KNOWN))('permit %s', (version, known) => {
  test('works with every method, but for those that are known not to', async context => {
    const python = await pythonWith(context, `python-${version}`, [`permit==${version}`])
    const service = await startedService()
    const report = await run(python, [besideSuites('python/drive.py'), service.address, API_KEY, ADMIN_KEY])
    const subject = { name: `Python, \`permit\` ${version}`, suite: 'Python', file: 'python.test.ts', known }
    expectReport(subject, report)
  })
})
