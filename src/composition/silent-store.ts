/** Bounds how long a stop waits for a store that does not answer. */
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import type { Store } from '#store/store.ts'

/** A stop gives up a store that has been silent for this long. It is less than the threads have for what is in flight. */
const STORE_PATIENCE_MS = 3_000
const STORE_LOOK_MS = 250

/**
 * Watches the store until the returned function is called. So a silent store delays neither an answer nor the end of the
 * process. With several servers one may be silent alone: work under way on the others is over before the whole store is
 * given up.
 */
export function giveUpWhenSilent(store: Store): () => void {
  const from = performance.now()
  const looking = setInterval(() => {
    const looksAt = performance.now() - from < STORE_PATIENCE_MS ? ORGANIZATION_STORE_ID : undefined
    if (store.stalenessMs(looksAt) >= STORE_PATIENCE_MS) store.giveUp()
  }, STORE_LOOK_MS)
  return () => clearInterval(looking)
}
