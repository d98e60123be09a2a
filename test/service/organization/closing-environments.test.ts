/** Shutdown of several open environments. */
import { expect, test } from 'vitest'
import { type OpenEnvironment, OpenEnvironments } from '#management/organization/environment-opening.ts'
import { organizationService } from '../../support/running-organization.ts'

test('environments close concurrently, and the error of one is reported after all have closed', async () => {
  const { organization, service, principal } = await organizationService()
  const input = { params: { proj_id: 'default' }, body: { key: 'other', name: 'Other' } }
  await service.execute('createEnvironment', principal, input)
  const both = Promise.withResolvers<void>()
  const ended: string[] = []
  let begun = 0
  const environments = new OpenEnvironments({
    organization,
    open: async ({ environmentKey }): Promise<OpenEnvironment> => {
      const close = async (): Promise<void> => {
        begun += 1
        if (begun === 2) both.resolve()
        await both.promise
        if (environmentKey === 'default') throw new Error('its files are gone')
        await new Promise(resolve => setImmediate(resolve))
        ended.push(environmentKey)
      }
      return { service: null, closure: null, isBegun: true, fail: () => {}, close, remove: close }
    },
    drop: async () => {},
    discardCopies: () => {},
    mayNote: () => false,
    replaceSecrets: async () => {},
    onFault: () => {},
  })
  await environments.load()
  await expect(environments.close()).rejects.toThrow('its files are gone')
  expect(ended).toEqual(['other'])
})
