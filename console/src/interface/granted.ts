/** What is granted until an end, and the tag that the interface has for it: its end. */
import { Problem } from './problem.ts'

/** RFC 3339; null: it lasts. */
export type End = string | null

/** Something that is granted or not: a membership, a place in a group, a role. */
export interface Grant {
  /** Grants it until that end. `seen`: the end that it has as far as one knows; undefined: it is not granted. Rejects where that is not so (412). */
  readonly put: (end: End, seen: End | undefined) => Promise<unknown>
  /** Takes it away. Rejects where it has another end than the one that was seen, or is gone. */
  readonly drop: (seen: End) => Promise<unknown>
}

/** For the writing of a grant that is known to have that end; undefined: that is known to be none. */
export function asSeen(
  end: End | undefined,
): { readonly 'If-None-Match': '*' } | { readonly 'If-Match': string } {
  return end === undefined ? { 'If-None-Match': '*' } : onlyWith(end)
}

/** For the removal of a grant that is known to have that end. */
export function onlyWith(end: End): { readonly 'If-Match': string } {
  return { 'If-Match': tagOf(end) }
}

/** The same moment may be written in several ways; the interface has one. */
function tagOf(end: End): string {
  return `"${end === null ? null : new Date(end).toISOString()}"`
}

/** An end in quotes. A proxy that compresses adds to the tag: `W/` before it, or a suffix such as `-gzip`. */
const END_TAG = /^(?:W\/)?"(null|\d{4}-\d\d-\d\dT[\d:.]+Z)/

/** The end of what is there, as a refused change was told; undefined: nothing is. */
export function endToldBy({ tag }: Problem): End | undefined {
  const told = END_TAG.exec(tag ?? '')?.[1]
  return told === 'null' ? null : told
}

/** Who would remove what is gone already came too late. */
export async function dropped(removal: Promise<unknown>): Promise<void> {
  try {
    await removal
  } catch (refused) {
    throw refused instanceof Problem && refused.status === 404 ? Problem.stale() : refused
  }
}
