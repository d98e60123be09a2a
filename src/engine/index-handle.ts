/**
 * Handle with which a thread reads an index that another thread writes. It can be sent with `postMessage`.
 * Its content is private: `engine/shared-index/memory/index-buffers.ts` creates and opens it, and other code
 * only passes it on.
 */
declare const opaque: unique symbol

export interface IndexHandle {
  readonly [opaque]: true
}
