/** Unmodified AuthZEN clients from their registries, against a running service. */
import { test } from 'vitest'
import { expectReport } from './published.ts'
import { drive, pythonWith } from './python-environment.ts'
import { startedService } from '#testing/processes/running-service.ts'

test.for([
  ['apparitor', '0.1.1'],
  // The other methods of decern use endpoints that only the server of decern has.
  ['decern', '0.6.0'],
] as const)('the AuthZEN client %s %s works', async ([name, version], context) => {
  const python = await pythonWith(context, `${name}-${version}`, [`${name}==${version}`])
  const service = await startedService()
  await service.createViewer('alice', 'document:d1')
  const report = await drive(python, `authzen/${name}_drive.py`, service.address)
  const row = `AuthZEN in Python, \`${name}\` ${version}`
  expectReport({ name: row, suite: 'AuthZEN', file: 'authzen.test.ts', known: {} }, report)
})
