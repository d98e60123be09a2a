/** Limits how long a shutdown waits for a store that does not respond. */
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import type { Store } from '#store/store.ts'

/**
 * Shutdown stops waiting for a store that has not responded for this long. Shorter than the time that threads
 * have for in-flight requests.
 */
const STORE_PATIENCE_MS = 3_000
const STORE_LOOK_MS = 250

/**
 * Watches the store until the returned function is called. An unresponsive store then delays neither a
 * response nor the end of the process. With several servers, one of them can be unresponsive alone: work on
 * the other servers has completed before the whole store is given up.
 */
export function abandonSilentStore(store: Store): () => void {
  const from = performance.now()
  const looking = setInterval(() => {
    const looksAt = performance.now() - from < STORE_PATIENCE_MS ? ORGANIZATION_STORE_ID : undefined
    if (store.stalenessMs(looksAt) >= STORE_PATIENCE_MS) store.giveUp()
  }, STORE_LOOK_MS)
  return () => clearInterval(looking)
}
