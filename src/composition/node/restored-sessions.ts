/** Ends the sessions in a store that `verdict restore` has created (administration.md X4). */
import { existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ORGANIZATION_STORE_ID, type OrganizationState } from '#management/organization/organization.ts'
import { RESTORED_MARKER } from '#model/backup.ts'
import type { Store } from '#store/store.ts'

/** A session that ended after the backup would otherwise be valid again. */
export async function endRestoredSessions(store: Store, organization: OrganizationState): Promise<void> {
  const directory = store.directoryOf(ORGANIZATION_STORE_ID)
  if (directory === null) return
  const marker = join(dirname(directory), RESTORED_MARKER)
  if (!existsSync(marker)) return
  await organization.endSessions()
  rmSync(marker)
}
