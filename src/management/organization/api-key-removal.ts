/** Keys that go with what they open. */
import type { ApiKeyRecord } from '#model/records.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import type { OrganizationWriteContext } from './organization-context.ts'

/**
 * Revokes every key that `isGone` names. None that is being added is missed: who adds a key writes the row of what it
 * opens, which the caller removes.
 */
export function removeApiKeys(
  { records }: OrganizationWriteContext,
  isGone: (key: ApiKeyRecord) => boolean,
): void {
  const keys = [...records.list('api-key', lists.all('api-key'))]
  for (const key of keys) if (isGone(key)) records.delete(key)
}
