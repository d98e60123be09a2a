/** Removes API keys together with what they open. */
import type { ApiKeyRecord } from '#model/records.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import type { OrganizationWriteContext } from './organization-context.ts'

/**
 * Revokes every key for which `isGone` is true. A key that is being added is not missed: whoever adds one writes the row of
 * what it opens, which the caller removes.
 */
export function removeApiKeys(
  { records }: OrganizationWriteContext,
  isGone: (key: ApiKeyRecord) => boolean,
): void {
  const keys = [...records.list('api-key', lists.all('api-key'))]
  for (const key of keys) if (isGone(key)) records.delete(key)
}
