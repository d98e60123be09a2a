/** Calls all methods of the unmodified, published Go client by reflection, against a running service. */
import { join } from 'node:path'
import { expect, test, type TestContext } from 'vitest'
import { besideSuites, expectReport, keptFolder, reasonAgainst, run } from './published.ts'
import { freePort } from '#testing/processes/free-port.ts'
import { ADMIN_KEY, API_KEY, startedService } from '#testing/processes/running-service.ts'

const VERSION = '1.2.8'
const KNOWN = {
  'ConditionSets.List': 'the client drops the array of the response',
  'ResourceActionGroups.Delete': 'the client deletes the action with that key',
  'ResourceActionGroups.ListByAttributes': 'the client does not send the attributes',
}

/** Builds the program that calls the client. Skips the test if the modules are not available. */
async function build(context: TestContext): Promise<string> {
  const folder = besideSuites('go')
  const reason = await reasonAgainst(() => run('go', ['mod', 'download'], { in: folder }))
  if (reason !== null) context.skip(`the Go client is not available: ${reason}`)
  const module = ['list', '-m', '-f', '{{.Version}}', 'github.com/permitio/permit-golang']
  expect((await run('go', module, { in: folder })).trim()).toBe(`v${VERSION}`)
  const program = join(keptFolder('go'), 'drive')
  await run('go', ['build', '-o', program, '.'], { in: folder })
  return program
}

test('every method of the Go client works, including the methods that use the OPA listener', async context => {
  const program = await build(context)
  const service = await startedService({ opaPort: await freePort() })
  const opa = `http://127.0.0.1:${service.settings.opaPort}`
  const report = await run(program, ['methods', service.address, API_KEY, ADMIN_KEY, opa])
  const name = `Go, \`permit-golang\` ${VERSION}`
  expectReport({ name, suite: 'Go', file: 'go.test.ts', known: KNOWN }, report)
})

test('role assignments can be read with the decoders of versions up to 1.2.6, which reject unknown members', async context => {
  const program = await build(context)
  const service = await startedService()
  const report = await run(program, ['strict', service.address, API_KEY])
  expect(JSON.parse(report)).toMatchObject({
    RoleAssignmentRead: 'works',
    RoleAssignmentDetailedRead: 'works',
  })
})

test('the Go client supports the operations of the Terraform provider for each kind of resource', async context => {
  const program = await build(context)
  const service = await startedService()
  const report = await run(program, ['terraform', service.address, API_KEY])
  const { ground, ...kinds } = JSON.parse(report) as Record<string, string>
  expect(ground).toBe('works')
  const name = `Terraform, by the client of its provider, \`permit-golang\` ${VERSION}`
  expectReport({ name, suite: 'Go', file: 'go.test.ts', known: {} }, JSON.stringify(kinds))
})
