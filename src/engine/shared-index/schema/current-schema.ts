/**
 * Reads the current schema (`index-buffers.ts`): the head immediately, and units when they are needed.
 * Readers never wait. A read is valid only if the schema version is the same afterwards, because the buffer
 * is not written while the version stays the same.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { SchemaView } from './schema-view.ts'
import type { UnitSource } from '#engine/shared-index/memory/packed-arrays.ts'

/**
 * Returns a copy of the head. The copy might be torn until a later check shows that the sequence or the
 * schema version has not changed.
 */
export function schemaHead(regions: Regions): Int32Array {
  return regions.currentSchema().slice(Math.max(regions.header[L.H_SCHEMA_HEAD]!, 0))
}

/**
 * Returns a view of the current schema. Only for the writer or a thread with the lock, because the schema
 * cannot change then.
 */
export function currentView(regions: Regions): SchemaView {
  return new SchemaView(schemaHead(regions), unitsOf(regions, regions.header[L.H_SCHEMA_VERSION]!))
}

/** Returns a function that reads units of this schema version. */
export function unitsOf(regions: Regions, version: number): UnitSource {
  return (from, to) => {
    const unit = regions.currentSchema().slice(from, to)
    return regions.isSchemaVersion(version) ? unit : null
  }
}
