/** Ids in commands about API keys and sessions. */
import { idFrom } from '#model/instance-reference.ts'
import { UsageError } from '#cli/session/exit-codes.ts'

/**
 * Checks an id. If a user passes the secret of a key by mistake, it must not be printed or sent in a path,
 * because proxies can log paths. A secret can consist of hexadecimal digits, so the id must be written with
 * hyphens. `command`: command that shows ids.
 */
export function checkedId(id: string, command: string): string {
  if (idFrom(id) === id.toLowerCase()) return id
  throw new UsageError(
    `id: expected a UUID with hyphens, got ${id.length} characters; ${command} shows the ids`,
  )
}
