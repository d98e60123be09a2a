/**
 * Reads the schema that stands (`regions.ts`): its head at once, units when they are asked for. Nothing waits for that, and
 * nothing that was read counts unless the version is the same afterwards: as long as it is, nobody writes there.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import { SchemaView, type UnitSource } from './schema-view.ts'

/** A copy of the head, which may be torn until the sequence, or the version, is seen unchanged after it. */
export function schemaHead(regions: Regions): Int32Array {
  return regions.currentSchema().slice(Math.max(regions.header[L.H_SCHEMA_HEAD]!, 0))
}

/** For who writes, or holds the lock: nothing changes meanwhile. */
export function currentView(regions: Regions): SchemaView {
  return new SchemaView(schemaHead(regions), unitsOf(regions, regions.header[L.H_SCHEMA_VERSION]!))
}

/** The units of that version. */
export function unitsOf(regions: Regions, version: number): UnitSource {
  return (from, to) => {
    const unit = regions.currentSchema().slice(from, to)
    return regions.isSchemaVersion(version) ? unit : null
  }
}
