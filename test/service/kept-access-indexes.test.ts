/** Access indexes, which are kept up to a limit for readers that reconnect. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { createAccessEngine } from '#composition/node/access-engine.ts'
import { SOMEBODY } from '#model/caller.ts'
import { AccessEventSource } from '#management/changes/access-event-source.ts'
import { CatchUps } from '#management/changes/catch-ups.ts'
import { ChangeFilter } from '#management/changes/change-filter.ts'
import { ChangeStreams } from '#management/changes/change-streams.ts'
import { EnvironmentChanges } from '#management/changes/environment-changes.ts'
import { unsharedTime } from '#scheduling/thread-scheduler.ts'
import { AccessIndex } from '#replica/access-index.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'

const filter = new ChangeFilter({ effective: ['document:read'] })
const principal = { kind: 'organization', organizationId: '', keyId: null, level: 'admin' } as const

async function open(effectiveEnvironmentsMax: number) {
  const store = await openStore('memory:', listRule)
  onTestFinished(() => store.close())
  const ceilings = { streamsMax: 10, streamsPerKeyMax: 10, effectiveEnvironmentsMax, waitMs: 0 }
  const streams = new ChangeStreams(ceilings, () => 0)
  /** Names of environments that have an index. */
  const kept = new Set<string>()
  return {
    kept,
    /** Creates an environment. Returns a function that opens a stream of its effective access changes. */
    environment: async (name: string) => {
      const id = randomUUID()
      const environment = await store.environment(id)
      const index = new AccessIndex(environment, createAccessEngine)
      class WatchedSource extends AccessEventSource {
        override begin(nextTurn: () => Promise<unknown>) {
          kept.add(name)
          return super.begin(nextTurn)
        }
        override end(): void {
          kept.delete(name)
          super.end()
        }
      }
      const changes = new EnvironmentChanges({
        store: environment,
        environmentId: id,
        source: new WatchedSource(index),
        timeShare: unsharedTime(),
        catchUps: new CatchUps(),
      })
      onTestFinished(() => changes.close())
      return () =>
        streams.open({ changes, environmentId: id, filter, since: null, principal, waiting: SOMEBODY })
    },
  }
}

test('an access index is kept for readers that reconnect until another environment needs its capacity', async () => {
  const { kept, environment } = await open(1)
  const [read, readOther] = [await environment('one'), await environment('other')]
  const first = await read()
  await expect(readOther()).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  first.cancel()
  expect([...kept]).toEqual(['one'])
  const again = await read()
  again.cancel()
  const other = await readOther()
  expect([...kept]).toEqual(['other'])
  await expect(read()).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  other.cancel()
})

test('the oldest of several access indexes without readers is dropped', async () => {
  const { kept, environment } = await open(2)
  const environments = [await environment('a'), await environment('b'), await environment('c')]
  for (const read of environments) {
    const stream = await read()
    stream.cancel()
    expect(kept.size).toBeLessThanOrEqual(2)
  }
  expect([...kept]).toEqual(['b', 'c'])
})
