/** The published Go client, as it is in its registry, against a running service: every method it has, found by reflection. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { besideSuites, expectReport, keptFolder, reasonAgainst, run } from './published.ts'
import { freePort } from '#testing/processes/free-port.ts'
import { ADMIN_KEY, API_KEY, startedService } from '#testing/processes/running-service.ts'

const NOT_OFFERED = 'asks for proxy configs, which are not offered'

const KNOWN = {
  'ConditionSets.List': 'fails in the client itself, which drops the array it asks for',
  'ProxyConfigs.Create': NOT_OFFERED,
  'ProxyConfigs.Delete': NOT_OFFERED,
  'ProxyConfigs.Get': NOT_OFFERED,
  'ProxyConfigs.GetById': NOT_OFFERED,
  'ProxyConfigs.GetByKey': NOT_OFFERED,
  'ProxyConfigs.List': NOT_OFFERED,
  'ProxyConfigs.Update': NOT_OFFERED,
  'ResourceActionGroups.Delete': 'asks for the deletion of an action of that key',
  'ResourceActionGroups.ListByAttributes': 'does not send the attributes',
}

test('works with every method, the OPA listener included', async context => {
  const folder = besideSuites('go')
  const reason = await reasonAgainst(() => run('go', ['mod', 'download'], { in: folder }))
  if (reason !== null) return context.skip(`no Go client here: ${reason}`)
  const program = join(keptFolder('go'), 'drive')
  await run('go', ['build', '-o', program, '.'], { in: folder })
  const service = await startedService({ opaPort: await freePort() })
  const opa = `http://127.0.0.1:${service.settings.opaPort}`
  const report = await run(program, [service.address, API_KEY, ADMIN_KEY, opa])
  const version = await run('go', ['list', '-m', '-f', '{{.Version}}', 'github.com/permitio/permit-golang'], {
    in: folder,
  })
  expect(version.trim()).toBe('v1.2.8')
  expectReport({ name: 'Go, `permit-golang` 1.2.8', suite: 'Go', file: 'go.test.ts', known: KNOWN }, report)
})
