/**
 * Decodes log entries from the Redis stream. A commit is one stream entry, or several if it is large:
 * `<sequence>-<part>`. The fields of an entry are, in this order:
 *
 *     i  commit id                 c  changes (change-codec.ts), in the first part only
 *     l  number of parts that follow
 *     d  a deleted key; p, v  a put key and its stored row (`stored-row.ts`), repeated
 *     b  previous commit id, if the log begins with this commit because the former log was lost
 *     n, s  number and sum of rows after the commit (`row-tally.ts`), in the last part, if they are kept
 *
 * The commit is made when its last part is in the stream. If a script could not continue, the stream contains
 * parts without a last part. Readers ignore these parts, and the next commit uses the same sequence.
 */
import { decodeChanges } from '#store/keyspace/change-codec.ts'
import { assert } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
import { viewOf } from '#store/keyspace/row-codec.ts'
import type { LogEntry, Row } from '#store/ledger.ts'
import { decodeStoredRow } from './stored-row.ts'

/** A stream entry in the form in which the client delivers it. */
export type StreamEntry = readonly [id: Buffer, fields: readonly Buffer[]]

/** Position of a stream entry. */
export interface LogPartPosition {
  readonly sequence: number
  readonly part: number
}

export function positionOf([id]: StreamEntry): LogPartPosition {
  const text = id.toString('latin1')
  const hyphen = text.indexOf('-')
  return { sequence: Number(text.slice(0, hyphen)), part: Number(text.slice(hyphen + 1)) }
}

/** Returns the commit id of a part. */
export function commitIdOf([, fields]: StreamEntry): Uint8Array {
  return viewOf(fields[1]!)
}

/**
 * If a part begins a new log, returns the id of the commit that precedes it. Returns null for any other part.
 */
export function formerIdOf([, fields]: StreamEntry): Uint8Array | null {
  return fields.at(-2)?.toString('latin1') === 'b' ? viewOf(fields.at(-1)!) : null
}

/** Whether a part is the first of its commit. */
export function isFirstPart([, fields]: StreamEntry): boolean {
  return fields[4]?.toString('latin1') === 'c'
}

/** Whether a part is the last of its commit. */
export function isLastPart([, fields]: StreamEntry): boolean {
  return fields[3]!.toString('latin1') === '0'
}

/** Combines all parts of a commit, in order. */
export function entryOfParts(epoch: string, parts: readonly StreamEntry[]): LogEntry {
  const [first] = parts as [StreamEntry]
  const { sequence } = positionOf(first)
  const removed: Uint8Array[] = []
  const put: Row[] = []
  let changes: Change[] | null = null
  for (const [, fields] of parts) {
    for (let at = 4; at < fields.length; at += 2) {
      const value = fields[at + 1]!
      switch (fields[at]!.toString('latin1')) {
        case 'c':
          changes = decodeChanges(value.toString('utf8'))
          break
        case 'd':
          removed.push(viewOf(value))
          break
        case 'p': {
          const row = decodeStoredRow(value, fields[at + 3]!)
          assert(row !== null, 'a logged row has a known stamp')
          put.push(row)
          at += 2
        }
      }
    }
  }
  assert(changes !== null, 'the first part of a commit contains its changes')
  return { revision: { epoch, sequence }, id: commitIdOf(first), delete: removed, put, changes }
}
