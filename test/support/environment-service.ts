/** The service of an environment in memory, without an index. */
import { randomBytes, randomUUID } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import { EnvironmentService } from '#management/environment/environment-service.ts'
import { Draft } from '#management/drafts/draft.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { runtimeServicesWith } from './runtime-services.ts'

export const scope = {
  organizationId: randomUUID(),
  projectId: randomUUID(),
  environmentId: 'environment',
  createdAt: 0,
}

/** Opens an environment in memory for the current test. Also returns a function that writes its records. */
export async function storedEnvironment() {
  const store = await openStore('memory:', listRule)
  onTestFinished(() => store.close())
  const environment = await store.environment(scope.environmentId)
  const { view, ledger } = environment
  const commit = (write: (records: Draft) => void) => {
    const records = new Draft(view)
    write(records)
    return ledger.commit(records.toCommit(randomBytes(16)))
  }
  return { store, environment, view, ledger, commit }
}

/** Like `storedEnvironment`, with its service. An error of background work fails the test. */
export async function openedService(
  options: Partial<ConstructorParameters<typeof EnvironmentService>[0]> = {},
) {
  const stored = await storedEnvironment()
  const faults: unknown[] = []
  const service = new EnvironmentService({
    store: stored.environment,
    scope,
    runtime: runtimeServicesWith({ onBackgroundFault: error => faults.push(error) }),
    whenVisible: () => Promise.resolve(),
    ...options,
  })
  onTestFinished(async () => {
    await service.close()
    expect(faults).toEqual([])
  })
  return { ...stored, service }
}
