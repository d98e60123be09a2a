/**
 * What a thread needs to read an index of another thread. It crosses `postMessage` as it is. Code that passes
 * it on knows nothing of its content: `engine/shared-index/memory/regions.ts` makes and opens it.
 */
declare const opaque: unique symbol

export interface IndexHandle {
  readonly [opaque]: true
}
