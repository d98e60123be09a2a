/**
 * Deletes objects that cannot be restored. The user must confirm the deletion by typing the key or with an
 * option.
 */
import { request } from '#cli/session/api.ts'
import { isNameTyped } from '#cli/session/confirmation.ts'
import { EXIT } from '#cli/session/exit-codes.ts'
import type { Session } from '#cli/session/session.ts'

export const YES_OPTION = {
  alias: 'y',
  type: 'boolean',
  default: false,
  describe: 'do not ask for confirmation',
} as const

interface Deletion {
  readonly path: string
  /** Key that the user must type. */
  readonly name: string
  /** Description of everything that is deleted. */
  readonly what: string
  readonly isConfirmed: boolean
}

export async function deleteNamed(
  session: Session,
  { path, name, what, isConfirmed }: Deletion,
): Promise<void> {
  const { output } = session
  if (!isConfirmed && !(await isNameTyped(session, name, `delete ${what}`))) {
    output.note(
      `to delete ${what}, type its key ${JSON.stringify(name)} at the prompt of a terminal, or add --yes`,
    )
    output.result({ deleted: null }, () => 'Nothing was deleted.')
    session.exitCode = EXIT.no
    return
  }
  await request(session.api, 'DELETE', path)
  output.result({ deleted: name }, () => `deleted ${name}`)
}
