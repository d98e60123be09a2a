/** Failed copies and imports whose cleanup also fails. */
import { expect, test } from 'vitest'
import { ContentShapes } from '#http/routing/content-shapes.ts'
import { LedgerLoader } from '#management/content/ledger-import.ts'
import { EnvironmentCopies } from '#management/organization/environment-copies.ts'
import { EnvironmentImports } from '#management/organization/environment-imports.ts'
import { EnvironmentService } from '#management/environment/environment-service.ts'
import { OpenEnvironments } from '#management/organization/environment-opening.ts'
import { organizationService } from '../../support/running-organization.ts'

const CALLER = { keyId: null, requestId: 'r-1', claim: null }
const DEFAULT = { proj_id: 'default', env_id: 'default' }

/** An organization whose store is closed, so that no environment except the default one can be opened. */
async function organizationOnFailingStore() {
  const faults: unknown[] = []
  const { store, runtime, organization, service, principal } = await organizationService('memory:', {
    runtime: { onBackgroundFault: error => void faults.push(error) },
    whenInForce: () => environments.apply(),
  })
  const environments: OpenEnvironments = new OpenEnvironments({
    organization,
    open: async ({ scope }) => {
      if (environments.all().some(({ service: open }) => open !== null)) {
        await store.close()
        throw new Error('the disk is gone')
      }
      const parts = { scope, runtime, whenVisible: () => Promise.resolve() }
      const opened = new EnvironmentService({ store: await store.environment(scope.environmentId), ...parts })
      const close = () => opened.close()
      return { service: opened, closure: null, isBegun: true, fail: () => {}, close, remove: close }
    },
    drop: id => store.drop(id),
    discardCopies: () => {},
    mayNote: () => true,
    replaceSecrets: () => Promise.resolve(),
    onFault: () => {},
  })
  await environments.load()
  return { store, runtime, environments, service, principal, faults }
}

test('a copy reports why it failed, even if the incomplete copy cannot be removed', async () => {
  const { service, environments, runtime, principal, faults } = await organizationOnFailingStore()
  const copies = new EnvironmentCopies(service, environments, runtime.onBackgroundFault)
  const body = { target_env: { new: { key: 'copy', name: 'Copy' } } }
  await expect(copies.copyEnvironment(principal, { params: DEFAULT, body }, CALLER)).rejects.toMatchObject({
    code: 'NOT_READY',
  })
  expect(faults).toEqual([expect.objectContaining({ code: 'STORE_CLOSED' })])
})

test('an import reports the error in its content, even if the incomplete rows cannot be dropped', async () => {
  const { store, service, environments, runtime, principal, faults } = await organizationOnFailingStore()
  const { newCommitId, newId, onBackgroundFault: onFault } = runtime
  const shapes = new ContentShapes()
  const fault = new Error('the disk is gone')
  const imports = new EnvironmentImports({
    organization: service,
    environments,
    loader: new LedgerLoader(store, newCommitId, () => ({
      ...shapes,
      now: Date.now(),
      newId,
      attributesBytesMax: 65_536,
      heldBytesMax: 1e9,
    })),
    drop: () => Promise.reject(fault),
    onFault,
  })
  const [environment] = environments.all()
  const pieces = [Buffer.from('nothing\n')]
  const importing = imports.importContent({
    environment: environment!,
    service: environment!.service!,
    body: { next: () => Promise.resolve(pieces.pop() ?? null), cancel: () => {} },
    replaces: true,
    caller: { ...CALLER, keyId: principal.keyId },
    params: DEFAULT,
  })
  await expect(importing).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  expect(faults).toEqual([fault])
})
