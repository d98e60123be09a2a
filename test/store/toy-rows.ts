/** Rows for tests of the store. The letters of a value are its group and its color. Both have lists. */
import { randomBytes } from 'node:crypto'
import type { Change } from '#model/change.ts'
import type { Revision } from '#model/revision.ts'
import type { Commit, LogEntry, Ledger, Requirement, Row } from '#store/ledger.ts'
import type { ListEntry, ListName, ListRule, ScanOptions, View } from '#store/view.ts'
import type { LedgerUnderTest } from './ledger-under-test.ts'

export const GROUPS = ['a', 'b'] as const
export const COLORS = ['r', 'g'] as const

export const everyone: ListName = bytes('all')
export const group = (letter: string): ListName => bytes(`group:${letter}`)
export const color = (letter: string): ListName => bytes(`color:${letter}`)

export const toyRule: ListRule = ({ value }): ListEntry[] => {
  const letters = text(value)
  if (letters === '') return []
  return [
    { list: everyone, counted: true },
    { list: group(letters[0]!), counted: true },
    { list: color(letters[1]!), counted: false },
  ]
}

export interface CommitParts {
  readonly id?: Uint8Array
  readonly require?: readonly Requirement[]
  readonly delete?: readonly string[]
  /** Values by key, in the order of the properties. */
  readonly put?: Readonly<Record<string, string>>
  readonly changes?: readonly Change[]
}

export function commitOf(parts: CommitParts): Commit {
  return {
    id: parts.id ?? commitId(),
    require: parts.require ?? [],
    delete: (parts.delete ?? []).map(bytes),
    put: Object.entries(parts.put ?? {}).map(([key, value]) => ({ key: bytes(key), value: bytes(value) })),
    changes: parts.changes ?? [],
  }
}

export function commitId(): Uint8Array {
  return new Uint8Array(randomBytes(16))
}

export function bytes(letters: string): Uint8Array {
  return new TextEncoder().encode(letters)
}

export function text(encoded: Uint8Array): string {
  return new TextDecoder().decode(encoded)
}

/** A row with its bytes as text, for readable comparisons. */
export interface ReadableRow {
  readonly key: string
  readonly value: string
  readonly version: number
  readonly created: number
}

export function readable(row: Row): ReadableRow {
  return { key: text(row.key), value: text(row.value), version: row.version, created: row.created }
}

export function scanned(view: View, list: ListName, options?: ScanOptions): ReadableRow[] {
  return [...view.scan(list, options)].map(readable)
}

export function scannedKeys(view: View, list: ListName, options?: ScanOptions): string[] {
  return scanned(view, list, options).map(row => row.key)
}

export function readableEntry(entry: LogEntry): object {
  return {
    sequence: entry.revision.sequence,
    id: Buffer.from(entry.id).toString('hex'),
    delete: entry.delete.map(text),
    put: entry.put.map(readable),
    changes: entry.changes,
  }
}

export function shown(view: View): object {
  const lists = [everyone, ...GROUPS.map(group), ...COLORS.map(color)]
  return {
    sequence: view.sequence(),
    lists: lists.map(list => ({ list: text(list), count: view.count(list), rows: scanned(view, list) })),
  }
}

/** All rows of a ledger in creation order. */
export async function allRows(ledger: Ledger): Promise<ReadableRow[]> {
  const rows: ReadableRow[] = []
  for await (const batch of ledger.rows()) rows.push(...batch.map(readable))
  return rows.toSorted((one, other) => one.created - other.created)
}

/** The next `count` entries after `after`. */
export async function entriesAfter(ledger: Ledger, after: Revision, count: number): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  if (count === 0) return entries
  for await (const entry of ledger.feed(after)) {
    entries.push(entry)
    if (entries.length === count) break
  }
  return entries
}

/** Entries of the log after sequence `after`. */
export async function logged(ledger: Ledger, after = 0): Promise<LogEntry[]> {
  const head = await ledger.head()
  return entriesAfter(ledger, { epoch: head.epoch, sequence: after }, head.sequence - after)
}

/** The content of a ledger: rows, lists, counts and log. */
export async function everything({ ledger, view }: LedgerUnderTest): Promise<object> {
  const entries = await logged(ledger)
  return { rows: await allRows(ledger), view: shown(await view()), log: entries.map(readableEntry) }
}
