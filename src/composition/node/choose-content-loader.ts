/**
 * Chooses how an import writes to this store. If the store has files, a thread writes directly to them.
 * Otherwise the ledger commits the rows.
 */
import { ContentShapes } from '#http/routing/content-shapes.ts'
import type { RuntimeServices } from '#management/drafts/runtime-services.ts'
import { type ContentLoader, LedgerLoader } from '#management/content/ledger-import.ts'
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import type { Store } from '#store/store.ts'
import { ImportThread } from '#threads/import-thread.ts'
import { WORKER_URLS } from '#composition/process/worker-urls.ts'

export function chooseContentLoader(
  store: Store,
  runtime: RuntimeServices,
  heldBytesMax: number,
): ContentLoader {
  const { now, newId, newCommitId, attributesBytesMax, onBackgroundFault: onFault } = runtime
  const isInFiles = store.directoryOf(ORGANIZATION_STORE_ID) !== null
  if (!isInFiles) {
    const shapes = new ContentShapes()
    return new LedgerLoader(store, newCommitId, () => ({
      ...shapes,
      now: now(),
      newId,
      attributesBytesMax,
      heldBytesMax,
    }))
  }
  const directoryOf = (id: string) => store.directoryOf(id)!
  return new ImportThread({
    entry: WORKER_URLS.imports,
    directoryOf,
    now,
    attributesBytesMax,
    heldBytesMax,
    onFault,
  })
}
