/** Waits beside a living process until its tables on disk have all that is in its journal. */
import { existsSync, readFileSync } from 'node:fs'
import { readSegment } from '#store/journal/journal-format.ts'
import { levelOf, segmentPaths } from '#store/journal/replay.ts'
import type { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { pause } from './pause.ts'

/** Resolves when a checkpoint has brought them level. Meanwhile nobody may write through the process. */
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
