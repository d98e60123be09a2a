/** The published Go client, as it is in its registry, against a running service: every method it has, found by reflection. */
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

/** The program that drives the client, built; skips the test where that cannot be. */
async function build(context: TestContext): Promise<string> {
  const folder = besideSuites('go')
  const reason = await reasonAgainst(() => run('go', ['mod', 'download'], { in: folder }))
  if (reason !== null) context.skip(`no Go client here: ${reason}`)
  const module = ['list', '-m', '-f', '{{.Version}}', 'github.com/permitio/permit-golang']
  expect((await run('go', module, { in: folder })).trim()).toBe(`v${VERSION}`)
  const program = join(keptFolder('go'), 'drive')
  await run('go', ['build', '-o', program, '.'], { in: folder })
  return program
}

test('works with every method, the OPA listener included', async context => {
  const program = await build(context)
  const service = await startedService({ opaPort: await freePort() })
  const opa = `http://127.0.0.1:${service.settings.opaPort}`
  const report = await run(program, ['methods', service.address, API_KEY, ADMIN_KEY, opa])
  const name = `Go, \`permit-golang\` ${VERSION}`
  expectReport({ name, suite: 'Go', file: 'go.test.ts', known: KNOWN }, report)
})

test('reads role assignments with the decoders of versions up to 1.2.6, which refuse unknown members', async context => {
  const program = await build(context)
  const service = await startedService()
  const report = await run(program, ['strict', service.address, API_KEY])
  expect(JSON.parse(report)).toMatchObject({
    RoleAssignmentRead: 'works',
    RoleAssignmentDetailedRead: 'works',
  })
})

test('carries what the Terraform provider does of each kind: apply, plan, change, import, drift, destroy', async context => {
  const program = await build(context)
  const service = await startedService()
  const { ground, ...kinds } = JSON.parse(
    await run(program, ['terraform', service.address, API_KEY]),
  ) as Record<string, string>
  expect(ground).toBe('works')
  const name = `Terraform, by the client of its provider, \`permit-golang\` ${VERSION}`
  expectReport({ name, suite: 'Go', file: 'go.test.ts', known: {} }, JSON.stringify(kinds))
})
