/**
 * Defines the index snapshot: the regions of an index as bytes, and the state of its writer.
 *
 * Invariant: an index is saved only while nothing waits to be collected. The heap of the writer then contains
 * only the schema and the numbers of the schema's states. The storage must return the snapshot unchanged and
 * only to the release that wrote it, because each release defines the layout and the meaning of every number
 * in it.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import {
  firstLineAt,
  type RegionBytes,
  type RegionName,
  type Regions,
  type SharedIndexHandle,
} from '#engine/shared-index/memory/index-buffers.ts'
import type { SavedStates } from '#engine/shared-index/schema/automaton.ts'
import type { SavedSchema } from '#engine/shared-index/schema/saved-schema.ts'

/** State of the writer that is not in the regions, as plain data. */
export interface SavedState {
  readonly schema: SavedSchema
  readonly states: SavedStates
  /** Largest number of banks that any type uses. */
  readonly banks: number
  /** Whether all closures have been precomputed. */
  readonly isPrecomputed: boolean
}

export interface SavedIndex {
  /** Views of the memory of the index, without a copy. */
  readonly parts: Readonly<Record<RegionName, Uint8Array>>
  readonly state: SavedState
}

/** A snapshot that has been read into memory. This memory becomes the memory of the index. */
export interface RestoredIndex {
  readonly handle: SharedIndexHandle
  readonly state: SavedState
}

/** Returns views of the used bytes of each region. */
export function savedParts({ handle, header }: Regions): SavedIndex['parts'] {
  const bytes = {
    header: handle.header.byteLength,
    graph: header[L.H_GRAPH_TOP]! * L.WORD_BYTES,
    closures: header[L.H_CLOSURE_TOP]! * L.WORD_BYTES,
    schema: header[L.H_SCHEMA_BYTES]!,
  }
  // The current schema, which can be in either of the two buffers. A snapshot contains it as the first
  // buffer.
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
