/**
 * Heartbeats of the nodes on a shared store: each node publishes a text under its id, and reads those of the
 * other nodes.
 */

/** Interval between two heartbeats of a node. */
export const BEAT_MS = 2_000
/** Time in seconds after which a heartbeat expires: five times the interval between two heartbeats. */
export const BEAT_EXPIRY_SECONDS = 10

export interface NodeHeartbeats {
  /** Publishes a heartbeat. It expires after `BEAT_EXPIRY_SECONDS` unless its node refreshes it. */
  publish(id: string, text: string): Promise<void>
  /** Reads at most `most` heartbeats, by node id. `isAll` states whether there are no others. */
  read(most: number): Promise<{ readonly texts: ReadonlyMap<string, string>; readonly isAll: boolean }>
  /** Removes the heartbeat of a node that stops. */
  leave(id: string): Promise<void>
}
