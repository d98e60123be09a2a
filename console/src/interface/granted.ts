/** Optimistic concurrency control for grants. The `ETag` of a grant is its expiration time. */
import { Problem } from './problem.ts'

/** RFC 3339; null if the grant does not expire. */
export type End = string | null

/** A grant, which can exist or not: a membership, the nesting of a group, or a role. */
export interface Grant {
  /**
   * Creates the grant or changes its expiration time. `seen` is the last known expiration time, or undefined
   * if the grant did not exist. Rejects with 412 if the grant is in another state.
   */
  readonly put: (end: End, seen: End | undefined) => Promise<unknown>
  /** Revokes the grant. Rejects if its expiration time is not `seen` or if the grant no longer exists. */
  readonly drop: (seen: End) => Promise<unknown>
}

/**
 * Header for a write that requires the grant to have this expiration time. If `end` is undefined, it requires
 * that the grant does not exist.
 */
export function asSeen(
  end: End | undefined,
): { readonly 'If-None-Match': '*' } | { readonly 'If-Match': string } {
  return end === undefined ? { 'If-None-Match': '*' } : onlyWith(end)
}

/** Header for a revocation that requires the grant to have this expiration time. */
export function onlyWith(end: End): { readonly 'If-Match': string } {
  return { 'If-Match': tagOf(end) }
}

/**
 * `ETag` for an expiration time. The time is converted, because it can be written in several ways and the API
 * uses only one of them.
 */
function tagOf(end: End): string {
  return `"${end === null ? null : new Date(end).toISOString()}"`
}

/**
 * Matches the `ETag` of a grant. A proxy that compresses responses changes the tag: it adds `W/` before the
 * quotes or a suffix such as `-gzip`.
 */
const END_TAG = /^(?:W\/)?"(null|\d{4}-\d\d-\d\dT[\d:.]+Z)/

/**
 * Current expiration time of the grant, as a rejected change reports it. Undefined if the grant does not
 * exist.
 */
export function endReportedBy({ tag }: Problem): End | undefined {
  const end = END_TAG.exec(tag ?? '')?.[1]
  return end === 'null' ? null : end
}

/** Waits for the removal of a grant. If the grant no longer exists, the removal counts as successful. */
export async function dropped(removal: Promise<unknown>): Promise<void> {
  try {
    await removal
  } catch (refused) {
    throw refused instanceof Problem && refused.status === 404 ? Problem.stale() : refused
  }
}
