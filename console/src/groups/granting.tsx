/**
 * Grant changes with optimistic concurrency control: a change is written only if the grant still is as the
 * user saw it. After a conflict, nothing is written; the dialog shows the current state, and the user can
 * submit again.
 */
import { useState } from 'react'
import { type End, endReportedBy, type Grant } from '../interface/granted.ts'
import { Problem } from '../interface/problem.ts'
import { useTexts } from '../texts/texts.tsx'
import { useUntil } from './field-errors.ts'

interface Seen {
  /**
   * Last known expiration time; `shown` is the value that was displayed before. Undefined if the role is not
   * granted.
   */
  readonly endOf: (what: string, shown?: End) => End | undefined
  /** Awaits a change, and remembers the current state that a conflict response reports. */
  readonly noting: <Done>(what: string, change: Promise<Done>) => Promise<Done>
  /** Current states reported by conflict responses, by the name of the grant in sentences. */
  readonly reported: ReadonlyMap<string, End | undefined>
  readonly forget: () => void
}

export function useSeen(): Seen {
  const [reported, setReported] = useState<Seen['reported']>(new Map())
  return {
    endOf: (what, shown) => (reported.has(what) ? reported.get(what) : shown),
    noting: async (what, change) => {
      try {
        return await change
      } catch (refused) {
        if (refused instanceof Problem && refused.isStale)
          setReported(known => new Map(known).set(what, endReportedBy(refused)))
        throw refused
      }
    },
    reported,
    forget: () => setReported(new Map()),
  }
}

/**
 * Grants something until `end`, or changes the expiration time that was displayed. Undo restores the
 * displayed value.
 */
export function granting(
  grant: Grant,
  end: End,
  seen: End | undefined,
): { readonly make: () => Promise<unknown>; readonly undo: () => Promise<unknown> } {
  return {
    make: () => grant.put(end, seen),
    undo: () => (seen === undefined ? grant.drop(end) : grant.put(seen, end)),
  }
}

/**
 * Note about a concurrent change by another user; renders nothing if there was none. `gone`: text for a grant
 * that was revoked.
 */
export function ConflictNote({
  seen,
  what,
  gone = 'gone',
}: {
  readonly seen: Seen
  readonly what: string
  readonly gone?: 'gone' | 'endGone'
}) {
  const texts = useTexts().groups
  const until = useUntil()
  if (!seen.reported.has(what)) return null
  const end = seen.reported.get(what)
  return <p className="note warn">{end === undefined ? texts[gone](what) : texts.endNow(what, until(end))}</p>
}
