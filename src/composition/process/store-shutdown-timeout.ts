/** Limits how long a shutdown waits for a store that does not respond. */
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import type { Store } from '#store/store.ts'

/**
 * Shutdown stops waiting for a store that has not responded for this long. It is shorter than the time that
 * threads have for in-flight requests.
 */
const STORE_PATIENCE_MS = 3_000
const STORE_LOOK_MS = 250

/**
 * Watches the store until the returned function is called. An unresponsive store then delays neither a
 * response nor the end of the process. If the store has several servers, a single one can be unresponsive. In
 * the time until the whole store is given up, work on the other servers completes.
 */
export function abandonSilentStore(store: Store): () => void {
  const from = performance.now()
  const looking = setInterval(() => {
    const looksAt = performance.now() - from < STORE_PATIENCE_MS ? ORGANIZATION_STORE_ID : undefined
    if (store.stalenessMs(looksAt) >= STORE_PATIENCE_MS) store.giveUp()
  }, STORE_LOOK_MS)
  return () => clearInterval(looking)
}
