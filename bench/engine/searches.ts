/**
 * Measures searches: a first page of 100 out of 100,000 results, a following page, and all pages of 1M
 * results:
 *
 *     taskset -c 1 node --max-old-space-size=12000 bench/engine/searches.ts
 *
 * The results are found in two ways: they are derived through folders, or a tenant role grants them with the
 * whole type.
 */
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { KeyPage } from '#engine/engine.ts'
import type { Change } from '#model/change.ts'
import { assignment, driveSchema, instancePut, tuple, userPut } from '#testing/data/dataset.ts'
import { atMost, median, percentile, publish, type Figure } from '../lib/measure.ts'
import { type Page, searchResources, searchUsers } from '#testing/engines/listed.ts'

const ROUNDS = 9

/**
 * Yields `count` documents in 1,000 folders below a folder that `owner` can view. Also yields the same number
 * of users, who can all view one document.
 */
function* library(count: number): Iterable<Change> {
  yield* driveSchema()
  yield {
    kind: 'role-put',
    type: null,
    role: 'auditor',
    permissions: [{ type: 'document', action: 'read' }],
    extends: [],
    derivations: [],
  }
  yield userPut('owner')
  yield userPut('auditor')
  yield { kind: 'assignment-put', user: 'auditor', role: 'auditor', scope: { tenant: 'default' } }
  yield instancePut('folder', 'root')
  yield assignment('owner', 'viewer', 'folder', 'root')
  for (let f = 0; f < 1_000; f++) {
    yield instancePut('folder', `folder-${f}`)
    yield tuple(['folder', 'root'], 'parent', ['folder', `folder-${f}`])
  }
  for (let d = 0; d < count; d++) {
    yield instancePut('document', `document-${d}`)
    yield tuple(['folder', `folder-${d % 1_000}`], 'parent', ['document', `document-${d}`])
  }
  yield instancePut('document', 'shared')
  for (let u = 0; u < count; u++) {
    yield userPut(`user-${u}`)
    yield assignment(`user-${u}`, 'viewer', 'document', 'shared')
  }
}

function load(count: number): { writer: SharedIndexWriter; reader: SharedIndexReader } {
  const writer = new SharedIndexWriter({ threadId: 1, secrets: { start: 5, multiplier: 0x2545f491 } })
  writer.apply(library(count))
  return { writer, reader: new SharedIndexReader(writer.handle, { threadId: 2 }) }
}

const figures: Figure[] = []
const raw: Record<string, unknown> = {}
const { writer, reader } = load(100_000)
const walks: Record<string, (page: Page) => KeyPage> = {
  'resources, derived': page =>
    searchResources(reader, { user: 'owner', action: 'read', type: 'document', tenant: null }, page),
  'resources, by tenant role': page =>
    searchResources(reader, { user: 'auditor', action: 'read', type: 'document', tenant: null }, page),
  users: page => searchUsers(reader, { action: 'read', type: 'document', key: 'shared', tenant: null }, page),
}
for (const [name, search] of Object.entries(walks)) {
  const first: number[] = []
  const following: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    // Creates another state, so that cached results of the last search cannot be used.
    writer.apply([userPut(`passer-by-${round}`)])
    let start = performance.now()
    let page = search({ after: null, limit: 100 })
    first.push(performance.now() - start)
    if (page.keys.length !== 100 || page.total! < 100_000) throw new Error(`${name}: ${page.total} results`)
    for (let n = 0; n < 100; n++) {
      start = performance.now()
      page = search({ after: page.keys.at(-1)!, limit: 100 })
      following.push(performance.now() - start)
    }
  }
  raw[name] = { first, followingMax: Math.max(...following), followingMedian: median(following) }
  figures.push(
    atMost(`${name}: first page of 100 of 100,000`, median(first), 25, 'ms'),
    atMost(`${name}: a following page, p99`, percentile(following, 0.99), 5, 'ms'),
    atMost(`${name}: a following page, slowest of ${following.length}`, Math.max(...following), 5, 'ms'),
  )
}

const big = load(1_000_000).reader
const start = performance.now()
let last: string | null = null
let count = 0
for (let hasMore = true; hasMore;) {
  const page: KeyPage = searchResources(
    big,
    { user: 'owner', action: 'read', type: 'document', tenant: null },
    { after: last, limit: 1_000 },
  )
  for (const key of page.keys) {
    if (last !== null && key <= last) throw new Error(`${key} comes after ${last}`)
    last = key
    count++
  }
  hasMore = page.hasMore
}
if (count !== 1_000_000) throw new Error(`a walk found ${count} of 1,000,000`)
figures.push(atMost('a full walk of 1M in pages of 1,000', (performance.now() - start) / 1000, 10, 's'))
publish('searches', figures, raw)
