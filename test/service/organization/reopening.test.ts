/** An environment that opens or reopens confirms a change only after all threads decide with it. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import { AuthzError } from '#model/errors.ts'
import { createAccessEngine } from '#composition/node/access-engine.ts'
import { LiveEnvironment } from '#management/environment/live-environment.ts'
import { CatchUps } from '#management/changes/catch-ups.ts'
import { ReadQueues } from '#scheduling/admission.ts'
import { unsharedTime } from '#scheduling/thread-scheduler.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { scope } from '../../support/environment-service.ts'
import { sharedIndexes } from '../../support/shared-indexes.ts'
import { runtimeServicesWith } from '../../support/runtime-services.ts'

const tenant = 'default'

/** `whenAttached` delays a thread that confirms a new index, and `whenReachable` delays the store. */
async function opened(
  whenAttached: () => Promise<void> = async () => {},
  whenReachable: ((tell: (error: AuthzError) => void) => Promise<void>) | null = null,
) {
  const store = await openStore('memory:', listRule)
  const open = Promise.withResolvers<void>()
  const reasons: string[] = []
  const { indexes, readers } = sharedIndexes({
    attach: async (id, handle) => {
      readers.attach(id, handle)
      await whenAttached()
    },
    onFault: (_id, error) => environment.fail(error),
  })
  const environment = await LiveEnvironment.open({
    scope,
    runtime: runtimeServicesWith(),
    timeShare: unsharedTime(),
    longReads: new ReadQueues().queue(),
    catchUps: new CatchUps(),
    auditRetentionMs: 0,
    expiredHoldMs: 0,
    newAccessEngine: createAccessEngine,
    openStore: async onUnreachable => {
      await whenReachable?.(onUnreachable)
      return store.environment(scope.environmentId)
    },
    dropStore: () => store.drop(scope.environmentId),
    indexes,
    onClosed: ({ reason }) => reasons.push(reason),
    onOpened: () => open.resolve(),
  })
  onTestFinished(async () => {
    await environment.close()
    await store.close()
  })
  const decide = (): boolean =>
    readers
      .engine(scope.environmentId)!
      .evaluate({ user: 'alice', action: 'read', type: 'document', key: null, tenant })
  return { environment, service: environment.service!, decide, reasons, isOpenAgain: open.promise }
}

type Service = NonNullable<LiveEnvironment['service']>

const assignment = { user: 'alice', role: 'reader', tenant }

async function allow(service: Service): Promise<void> {
  await service.execute('createResource', { body: { key: 'document', name: 'D', actions: { read: {} } } })
  const role = { key: 'reader', name: 'R', permissions: ['document:read'] }
  await service.execute('createTenantRole', { body: role })
  await service.execute('createUser', { body: { key: 'alice' } })
  await service.execute('createRoleAssignment', { body: assignment })
}

test('a revocation while the environment reopens is confirmed only after no thread decides with the old index', async () => {
  const attached = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  let isSlow = false
  const { environment, service, decide, isOpenAgain } = await opened(async () => {
    if (!isSlow) return
    attached.resolve()
    await goOn.promise
  })
  await allow(service)
  expect(decide()).toBe(true)
  isSlow = true
  environment.fail(new Error('a thread found it broken'))
  // One thread decides with the new index. Another thread has not confirmed the index yet.
  await attached.promise
  const before = service.sequence
  const decidedBehind = service.execute('deleteRoleAssignment', { query: {}, body: assignment }).then(decide)
  while (service.sequence === before) await new Promise(resolve => setImmediate(resolve))
  // Without the wait, the service would have responded before this point.
  await new Promise(resolve => setImmediate(resolve))
  goOn.resolve()
  expect(await decidedBehind).toBe(false)
  await isOpenAgain
})

test('an environment whose first commit fails is closed until it has reopened', async () => {
  const { applyInSteps } = SharedIndexWriter.prototype
  const apply = vi.spyOn(SharedIndexWriter.prototype, 'applyInSteps')
  onTestFinished(() => apply.mockRestore())
  apply.mockImplementation(function (this: SharedIndexWriter, changes) {
    // The load of the empty index has no changes and must succeed. The first commit then fails.
    if ([...changes].length === 0) return applyInSteps.call(this, [])
    apply.mockRestore()
    throw new Error('on purpose')
  })
  const { environment, service, decide, reasons, isOpenAgain } = await opened()
  expect(reasons).toHaveLength(1)
  expect(environment.closure?.reason).toBe(reasons[0])
  await isOpenAgain
  expect(environment.closure).toBeNull()
  await allow(service)
  expect(decide()).toBe(true)
})

test('an environment is closed while its store is unavailable, and opens when the store becomes available', async () => {
  const reachable = Promise.withResolvers<void>()
  const { environment, reasons, isOpenAgain, decide } = await opened(undefined, async tell => {
    tell(new AuthzError('STORE_UNAVAILABLE', 'the server is away'))
    await reachable.promise
  })
  expect([environment.service, reasons.length]).toEqual([null, 1])
  expect(environment.closure?.reason).toBe(reasons[0])
  expect(decide).toThrow(expect.objectContaining({ code: 'ENVIRONMENT_CLOSED' }))
  reachable.resolve()
  await isOpenAgain
  await allow(environment.service!)
  expect(decide()).toBe(true)
})
