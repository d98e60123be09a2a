/** A stop that waits for a store: not for ever. */
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import type { Store } from '#store/store.ts'

/** A stop gives up a store that has been silent for so long: less than threads take for what is in flight. */
const STORE_PATIENCE_MS = 3_000
const STORE_LOOK_MS = 250

/**
 * Looks until what is returned is called. A store that is silent keeps nobody from an answer, nor the process from its end. Of
 * several servers one may be: what is under way with the others is over before it is given up with them.
 */
export function giveUpWhenSilent(store: Store): () => void {
  const from = performance.now()
  const looking = setInterval(() => {
    const looksAt = performance.now() - from < STORE_PATIENCE_MS ? ORGANIZATION_STORE_ID : undefined
    if (store.stalenessMs(looksAt) >= STORE_PATIENCE_MS) store.giveUp()
  }, STORE_LOOK_MS)
  return () => clearInterval(looking)
}
