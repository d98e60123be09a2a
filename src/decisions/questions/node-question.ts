/**
 * Questions about this node and other nodes, which a thread sends to the main thread. The result is the body
 * of the response.
 */

export type NodeQuestion =
  | { readonly about: 'metrics' }
  /**
   * Asks for all nodes. If `environmentId` is given, the result contains the revision of this environment on
   * each node.
   */
  | { readonly about: 'nodes'; readonly environmentId: string | null }
  /** Asks for the activity of this node in the last minutes. */
  | { readonly about: 'recent' }

export interface NodeSource {
  /** Sends the question. `by` identifies the request that asks. */
  ask(question: NodeQuestion, by: { readonly requestId: string; readonly operation: string }): Promise<string>
}
