/**
 * Handle with which a thread reads an index of another thread. It can be sent with `postMessage`. Code that
 * passes it on does not depend on its content: `engine/shared-index/memory/regions.ts` creates and opens it.
 */
declare const opaque: unique symbol

export interface IndexHandle {
  readonly [opaque]: true
}
