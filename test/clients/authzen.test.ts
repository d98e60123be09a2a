/** Published AuthZEN clients, as they are in their registries, against a running service. */
import { test } from 'vitest'
import { besideSuites, expectReport, run } from './published.ts'
import { pythonWith } from './python-environment.ts'
import { API_KEY, startedService } from '#testing/processes/running-service.ts'

test.for([
  ['apparitor', '0.1.1'],
  // What else it has asks for things of its own server: its key, its health.
  ['decern', '0.6.0'],
] as const)('%s %s', async ([name, version], context) => {
  const python = await pythonWith(context, `${name}-${version}`, [`${name}==${version}`])
  const service = await startedService()
  await service.createDocumentModel()
  await service.user('alice')
  await service.assign('alice', 'viewer', 'document:d1')
  const drive = besideSuites(`authzen/${name}_drive.py`)
  const env = { PYTHONPATH: besideSuites('.'), PYTHONDONTWRITEBYTECODE: '1' }
  const report = await run(python, [drive, service.address, API_KEY], { env })
  const subject = {
    name: `AuthZEN in Python, \`${name}\` ${version}`,
    suite: 'AuthZEN',
    file: 'authzen.test.ts',
    known: {},
  }
  expectReport(subject, report)
})
