/**
 * Loads a dataset into the shared index as the service does: first the model, then the facts, and then all
 * closures, before they are needed.
 */
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Dataset } from '#testing/data/dataset.ts'

const SECRETS = { start: 0x51ed270b, multiplier: 0x2545f491 }
const RECORDS_A_STEP = 2_000

export interface Loaded {
  readonly writer: SharedIndexWriter
  readonly reader: SharedIndexReader
  readonly facts: number
}

/**
 * Loads a dataset without building closures. The index is then as after a change that invalidates all
 * closures.
 */
export function loadBare(dataset: Pick<Dataset, 'things' | 'facts'>): Loaded {
  const writer = new SharedIndexWriter({ threadId: 1, secrets: SECRETS })
  writer.apply(dataset.things())
  let facts = 0
  writer.apply(
    (function* counted() {
      for (const fact of dataset.facts()) {
        facts++
        yield fact
      }
    })(),
  )
  return { writer, reader: new SharedIndexReader(writer.handle, { threadId: 2 }), facts }
}

export function loadShared(dataset: Dataset): Loaded {
  const loaded = loadBare(dataset)
  while (loaded.writer.precompute(RECORDS_A_STEP));
  return loaded
}
