/** Waits until a checkpoint has written the whole journal of a running process to the tables on disk. */
import { existsSync, readFileSync } from 'node:fs'
import { readSegment } from '#store/journal/journal-format.ts'
import { levelOf, segmentPaths } from '#store/journal/replay.ts'
import type { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { pause } from './pause.ts'

/** Resolves when the tables contain the whole journal. No writes may be made until then. */
export async function levelled(tables: LmdbTables): Promise<void> {
  while (!isLevel(tables)) await pause()
}

function isLevel(tables: LmdbTables): boolean {
  const level = levelOf(tables)
  return segmentPaths(tables.directory).every(path => {
    const segment = existsSync(path) ? readSegment(readFileSync(path)) : null
    return segment === null || segment.generation <= (level?.generation ?? 0)
  })
}
