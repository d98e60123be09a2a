/**
 * Reads the current schema (`regions.ts`): its head immediately, units when they are needed. Readers never
 * wait. A read is valid only if the version is the same afterwards: while the version does not change, the
 * buffer is not written.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import { SchemaView, type UnitSource } from './schema-view.ts'

/**
 * Returns a copy of the head. It can be torn until a later check shows that the sequence or the version has
 * not changed.
 */
export function schemaHead(regions: Regions): Int32Array {
  return regions.currentSchema().slice(Math.max(regions.header[L.H_SCHEMA_HEAD]!, 0))
}

/** Returns the view for the writer or a thread with the lock: no changes can occur. */
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
