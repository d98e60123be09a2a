/**
 * What a thread needs to read an index of another one. It crosses `postMessage` as it is, and whoever passes it on knows nothing of what is
 * in it: `engine/shared-index/memory/regions.ts` makes it, and opens it again.
 */
declare const opaque: unique symbol

export interface IndexHandle {
  readonly [opaque]: true
}
