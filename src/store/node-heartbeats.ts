/**
 * Heartbeats of the nodes on a shared store: each node publishes a text under its id, and reads those of the
 * other nodes.
 */

export interface NodeHeartbeats {
  /** Publishes a heartbeat. An entry expires after a few seconds unless its node refreshes it. */
  publish(id: string, text: string): Promise<void>
  /** Reads at most `most` heartbeats, by node id. `isAll` states whether there are no others. */
  read(most: number): Promise<{ readonly texts: ReadonlyMap<string, string>; readonly isAll: boolean }>
  /** Removes the heartbeat of a node that stops. */
  leave(id: string): Promise<void>
}
