/** Optimistic concurrency control for grants: the `ETag` of a grant is its expiration time. */
import { Problem } from './problem.ts'

/** RFC 3339; null if the grant does not expire. */
export type End = string | null

/** A grant that can exist or not: a membership, a nesting of groups, or a role. */
export interface Grant {
  /**
   * Creates the grant or changes its expiration time. `seen`: the last known expiration time; undefined if it
   * was not granted. Rejects with 412 if the grant is not in that state.
   */
  readonly put: (end: End, seen: End | undefined) => Promise<unknown>
  /** Revokes the grant. Rejects if its expiration time is not `seen`, or if it no longer exists. */
  readonly drop: (seen: End) => Promise<unknown>
}

/** Header for writing a grant that must have this expiration time; undefined if the grant must not exist. */
export function asSeen(
  end: End | undefined,
): { readonly 'If-None-Match': '*' } | { readonly 'If-Match': string } {
  return end === undefined ? { 'If-None-Match': '*' } : onlyWith(end)
}

/** Header for revoking a grant that must have this expiration time. */
export function onlyWith(end: End): { readonly 'If-Match': string } {
  return { 'If-Match': tagOf(end) }
}

/** `ETag` for an expiration time. The same time can be written in several ways; the API uses one. */
function tagOf(end: End): string {
  return `"${end === null ? null : new Date(end).toISOString()}"`
}

/**
 * A quoted expiration time. Proxies that compress change the tag: they add `W/` before it or a suffix such as
 * `-gzip`.
 */
const END_TAG = /^(?:W\/)?"(null|\d{4}-\d\d-\d\dT[\d:.]+Z)/

/** Current expiration time as reported by a rejected change; undefined if the grant does not exist. */
export function endReportedBy({ tag }: Problem): End | undefined {
  const end = END_TAG.exec(tag ?? '')?.[1]
  return end === 'null' ? null : end
}

/** Treats the removal of a grant that no longer exists as successful. */
export async function dropped(removal: Promise<unknown>): Promise<void> {
  try {
    await removal
  } catch (refused) {
    throw refused instanceof Problem && refused.status === 404 ? Problem.stale() : refused
  }
}
