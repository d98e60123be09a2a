/** The unmodified Python client from its registry, against a running service. */
import { test } from 'vitest'
import { expectReport } from './published.ts'
import { drive, pythonWith } from './python-environment.ts'
import { ADMIN_KEY, startedService } from '#testing/processes/running-service.ts'

/** For each version, the methods that fail although they are called correctly. */
const KNOWN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '3.0.0': {},
  '2.8.3': {
    'permit.authorized_users': 'the client cannot read the response',
    'resource_relations.list': 'the client requires an array, but Verdict cannot recognize this client',
  },
}

test.for(Object.entries(KNOWN))(
  'all methods of permit %s work, except for the known ones',
  async ([version, known], context) => {
    const python = await pythonWith(context, `python-${version}`, [`permit==${version}`])
    const service = await startedService()
    const report = await drive(python, 'python/drive.py', service.address, ADMIN_KEY)
    const subject = { name: `Python, \`permit\` ${version}`, suite: 'Python', file: 'python.test.ts', known }
    expectReport(subject, report)
  },
)
