/**
 * Reads the current schema (`regions.ts`): its head at once, units when they are needed. A reader waits for
 * nothing. What it read counts only if the version is the same afterwards: as long as it is, the buffer is not
 * written.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import { SchemaView, type UnitSource } from './schema-view.ts'

/** A copy of the head. It may be torn until the sequence or the version is seen unchanged after it. */
export function schemaHead(regions: Regions): Int32Array {
  return regions.currentSchema().slice(Math.max(regions.header[L.H_SCHEMA_HEAD]!, 0))
}

/** The view for the writer or a thread with the lock: nothing changes meanwhile. */
export function currentView(regions: Regions): SchemaView {
  return new SchemaView(schemaHead(regions), unitsOf(regions, regions.header[L.H_SCHEMA_VERSION]!))
}

/** Reads units of that version. */
export function unitsOf(regions: Regions, version: number): UnitSource {
  return (from, to) => {
    const unit = regions.currentSchema().slice(from, to)
    return regions.isSchemaVersion(version) ? unit : null
  }
}
