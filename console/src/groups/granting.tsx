/**
 * Changes of what is granted, each made only while it is as one has seen it. Where somebody else changed that meanwhile, nothing is written:
 * what is there now is shown, and whoever still wants the change presses once more.
 */
import { useState } from 'react'
import { type End, endToldBy, type Grant } from '../interface/granted.ts'
import { Problem } from '../interface/problem.ts'
import { useTexts } from '../texts/texts.tsx'
import { useUntil } from './said.ts'

interface Seen {
  /** The end that it has as far as one knows; `shown`: as it was to be seen before. Undefined: it is not granted. */
  readonly endOf: (what: string, shown?: End) => End | undefined
  /** Makes a change, and keeps in mind what a refusal tells of it. */
  readonly noting: <Done>(what: string, change: Promise<Done>) => Promise<Done>
  /** What refusals have told, by what it is called in sentences. */
  readonly told: ReadonlyMap<string, End | undefined>
  readonly forget: () => void
}

export function useSeen(): Seen {
  const [told, setTold] = useState<Seen['told']>(new Map())
  return {
    endOf: (what, shown) => (told.has(what) ? told.get(what) : shown),
    noting: async (what, change) => {
      try {
        return await change
      } catch (refused) {
        if (refused instanceof Problem && refused.isStale)
          setTold(known => new Map(known).set(what, endToldBy(refused)))
        throw refused
      }
    },
    told,
    forget: () => setTold(new Map()),
  }
}

/** Grants it until that end, or changes the end that was seen; the way back is to what was seen. */
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

/** What somebody else has made of it meanwhile; nothing where nobody has. `gone`: what is said where it is gone. */
export function ToldNote({
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
  if (!seen.told.has(what)) return null
  const end = seen.told.get(what)
  return <p className="note warn">{end === undefined ? texts[gone](what) : texts.endNow(what, until(end))}</p>
}
