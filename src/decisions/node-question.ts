/**
 * Queries that a thread sends to the main thread about this node and the others. The result is the body of
 * the response.
 */

export type NodeQuestion =
  | { readonly about: 'metrics' }
  /** All nodes, each with its revision of that environment; with null, without revisions. */
  | { readonly about: 'nodes'; readonly environmentId: string | null }
  /** Activity of this node in the last minutes. */
  | { readonly about: 'recent' }

export interface NodeSource {
  /** `by` identifies the request. */
  ask(question: NodeQuestion, by: { readonly requestId: string; readonly operation: string }): Promise<string>
}
