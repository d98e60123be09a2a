/** Deletes API keys when their environment or project is deleted. */
import type { ApiKeyRecord } from '#entities/organization-records.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import type { OrganizationWriteContext } from '#management/scopes/organization-context.ts'

/**
 * Revokes every key for which `isGone` is true. Keys that are added concurrently are not missed: a command
 * that adds a key writes the row of its environment or project, which the caller of this function removes.
 */
export function removeApiKeys(
  { records }: OrganizationWriteContext,
  isGone: (key: ApiKeyRecord) => boolean,
): void {
  const keys = [...records.list('api-key', lists.all('api-key'))]
  for (const key of keys) if (isGone(key)) records.delete(key)
}
