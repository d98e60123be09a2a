/** Number of entries that one read of a replay returns. */
import { expect, test } from 'vitest'
import { CommitLog } from '#store/embedded/commit-log.ts'
import { DurableMark, logReader } from '#store/embedded/log-feed.ts'
import { MemoryTables } from '#store/memory/memory-tables.ts'

const ENTRIES = 40

async function replay(valueBytes: number) {
  const tables = new MemoryTables()
  const log = new CommitLog(tables, 1_000)
  const epoch = 'epoch'
  for (let sequence = 1; sequence <= ENTRIES; sequence++) {
    const key = Uint8Array.of(1, sequence)
    const row = { key, value: new Uint8Array(valueBytes), version: sequence, created: sequence }
    const id = new Uint8Array(16).fill(sequence)
    await tables.write(() =>
      log.append({ revision: { epoch, sequence }, id, delete: [], put: [row], changes: [] }),
    )
  }
  const durable = new DurableMark(ENTRIES)
  return logReader({ log, durable, epoch, head: () => ENTRIES, isReplay: true }, epoch)
}

test('a replay reads several small entries per batch', async () => {
  const read = await replay(100)
  expect(await read(0)).toHaveLength(16)
})

test('a replay reads large entries one at a time', async () => {
  const read = await replay(200_000)
  for (const after of [0, 1, ENTRIES - 1]) {
    const [entry, ...others] = await read(after)
    expect(others).toEqual([])
    expect(entry!.revision.sequence).toBe(after + 1)
    expect(entry!.put[0]!.value).toHaveLength(200_000)
  }
})
