/** The index snapshot that a node on Redis stores next to its local replica. */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type Client, FACTS, question } from '#testing/processes/running-service.ts'
import { startedNodes } from '../../support/nodes.ts'
import { sharedRedis } from '../../support/processes/redis-server.ts'

const redis = await sharedRedis()
const names = ['alice', 'bob', 'user-7']
/** Enough users that the node writes an index snapshot. */
const MANY_USERS = Array.from({ length: 10_000 }, (_, index) => ({ key: `user-${index}` }))

async function whoReads(client: Client): Promise<string[]> {
  const answers = await client.allowsAll(names.map(name => question(name, 'read', 'document:plan')))
  return names.filter((_, index) => answers[index])
}

/** The mark of the only index snapshot in the directory. Each snapshot has a different mark. */
function markIn(directory: string): string {
  const [file] = globSync(`${directory}/**/index.snapshot`)
  return /"mark":"([^"]+)"/.exec(readFileSync(file!).toString('latin1', 0, 1_024))![1]!
}

test('a restarted node on Redis loads its index snapshot and then the changes of other nodes', async () => {
  const [one, other] = (await startedNodes(redis, 2)) as [Client, Client]
  await one.createDocumentModel()
  expect((await one.post(`${FACTS}/bulk/users`, { operations: MANY_USERS })).status).toBe(200)
  await one.users('alice', 'bob')
  await one.assign('alice', 'viewer', 'document:plan')
  // The snapshot must include the grant.
  await expect.poll(() => whoReads(other).catch(() => [])).toEqual(['alice'])
  await other.close()
  const { dataDirectory } = other.settings
  const kept = markIn(dataDirectory)
  await one.assign('bob', 'viewer', 'document:plan')
  const again = await other.restart()
  expect(markIn(dataDirectory)).toBe(kept)
  expect(await whoReads(again)).toEqual(['alice', 'bob'])
})
