/** What a thread asks the main thread about this node and the others. The answer is the text that its caller gets. */

export type NodeQuestion =
  | { readonly about: 'metrics' }
  /** All nodes, each with its revision of that environment; null: without one. */
  | { readonly about: 'nodes'; readonly environmentId: string | null }
  /** What this node did in the last minutes. */
  | { readonly about: 'recent' }

export interface NodeSource {
  /** `by` names the request. */
  ask(question: NodeQuestion, by: { readonly requestId: string; readonly operation: string }): Promise<string>
}
