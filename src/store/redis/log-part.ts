/**
 * Log entries as the stream has them. A commit is one stream entry, a large one several: `<sequence>-<part>`, whose fields
 * are, in this order:
 *
 *     i  commit id                 c  changes (change-codec.ts), in the first part only
 *     l  parts of it still to come d  a deleted key; p, v  a put key and its stored row (`stored-row.ts`), repeated
 *     b  the commit id before, where the log begins with this commit because the former one was lost
 *     n, s  number and sum of rows behind the commit (`row-tally.ts`), in the last part, where account is kept
 *
 * The last part makes the commit. Parts that none follows were left by a script that could not go on: they count for nothing,
 * and the commit that comes next begins behind them, under the same sequence.
 */
import { decodeChanges } from '#store/keyspace/change-codec.ts'
import { assert } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
import { viewOf } from '#store/keyspace/row-codec.ts'
import type { Entry, Row } from '#store/ledger.ts'
import { decodeStoredRow } from './stored-row.ts'

/** A stream entry as the client delivers it. */
export type StreamEntry = readonly [id: Buffer, fields: readonly Buffer[]]

/** The place of a stream entry. */
export interface Place {
  readonly sequence: number
  readonly part: number
}

export function placeOf([id]: StreamEntry): Place {
  const text = id.toString('latin1')
  const hyphen = text.indexOf('-')
  return { sequence: Number(text.slice(0, hyphen)), part: Number(text.slice(hyphen + 1)) }
}

/** The commit id of a part. */
export function commitIdOf([, fields]: StreamEntry): Uint8Array {
  return viewOf(fields[1]!)
}

/** The commit id before a part that begins a log anew; null for any other part. */
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

/** The commit that all its parts, in order, make. */
export function entryOfParts(epoch: string, parts: readonly StreamEntry[]): Entry {
  const [first] = parts as [StreamEntry]
  const { sequence } = placeOf(first)
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
          assert(row !== null, 'a logged row has a stamp that this release knows')
          put.push(row)
          at += 2
        }
      }
    }
  }
  assert(changes !== null, 'the first part of a commit has its changes')
  return { revision: { epoch, sequence }, id: commitIdOf(first), delete: removed, put, changes }
}
