/** Many sign-ins that no person finishes: they grow neither the memory of a node nor the store. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { SIGN_INS_PER_SECOND_MAX } from '#model/limits.ts'
import { signInAtIssuer } from '../../service/sign-in/issuer-service.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const BEGUN = 100_000
/** If the node kept 100 bytes of each sign-in, they would take 10 MB. */
const KEPT_BYTES_MAX = 5_000_000

test('100,000 unfinished sign-ins grow neither the memory nor the store', async () => {
  const { begin, elapsed, organizationStore, sessions, members } = await signInAtIssuer()
  const beginMany = async (count: number): Promise<void> => {
    for (let one = 0; one < count; one += 1) {
      elapsed.ms += 1_000 / SIGN_INS_PER_SECOND_MAX
      await begin()
    }
  }
  await beginMany(1_000)
  const sequence = organizationStore.view.sequence()
  collect()
  const before = process.memoryUsage().heapUsed
  await beginMany(BEGUN)
  collect()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(KEPT_BYTES_MAX)
  expect([organizationStore.view.sequence(), sessions(), members()]).toEqual([sequence, [], []])
})
