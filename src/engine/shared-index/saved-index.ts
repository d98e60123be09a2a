/**
 * Defines the index snapshot: the regions of an index as bytes, and the state of its writer.
 *
 * Invariant: an index is saved only while nothing waits to be collected. The heap of the writer then contains
 * only the schema and the numbers of its states. The storage must return the snapshot unchanged, and to the
 * same code: a layout, and the meaning of every number in it, belong to one release.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import {
  firstLineAt,
  type RegionBytes,
  type RegionName,
  type Regions,
  type SharedIndexHandle,
} from '#engine/shared-index/memory/regions.ts'
import type { SavedStates } from '#engine/shared-index/schema/automaton.ts'
import type { SavedSchema } from '#engine/shared-index/schema/saved-schema.ts'

/** State of the writer outside the regions, as plain data. */
export interface SavedState {
  readonly schema: SavedSchema
  readonly states: SavedStates
  /** Number of banks that facts use. */
  readonly banks: number
  /** Whether all closures were precomputed. */
  readonly isPrecomputed: boolean
}

export interface SavedIndex {
  /** Views of the index's own memory. */
  readonly parts: Readonly<Record<RegionName, Uint8Array>>
  readonly state: SavedState
}

/** A snapshot in memory that becomes the memory of the index. */
export interface RestoredIndex {
  readonly handle: SharedIndexHandle
  readonly state: SavedState
}

/** Returns the used bytes of the regions. */
export function savedParts({ handle, header }: Regions): SavedIndex['parts'] {
  const bytes = {
    header: handle.header.byteLength,
    graph: header[L.H_GRAPH_TOP]! * L.WORD_BYTES,
    closures: header[L.H_CLOSURE_TOP]! * L.WORD_BYTES,
    schema: header[L.H_SCHEMA_BYTES]!,
  }
  // The current schema, from either buffer. In the snapshot, it is in the first.
  const schema = header[L.H_SCHEMA_IN] === 0 ? handle.schema : handle.otherSchema
  return partsOf({ ...handle, schema }, bytes)
}

export function partsOf(handle: SharedIndexHandle, bytes: RegionBytes): SavedIndex['parts'] {
  return {
    header: new Uint8Array(handle.header, 0, bytes.header),
    graph: new Uint8Array(handle.graph, firstLineAt(handle.graph), bytes.graph),
    closures: new Uint8Array(handle.closures, firstLineAt(handle.closures), bytes.closures),
    schema: new Uint8Array(handle.schema, 0, bytes.schema),
  }
}
