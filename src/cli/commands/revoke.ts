/** `verdict revoke`: revokes one role of one user or group. */
import { changeGrant } from '#cli/grants/change-grant.ts'
import type { Command } from '#cli/session/command.ts'
import { grantArguments, grantOf, grantText, shownGrant } from '#cli/grants/grants.ts'

export const revokeCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      grantArguments(command)
        .example(
          '$0 revoke carol editor on document:roadmap',
          'immediately, regardless of its expiration time',
        )
        .example('$0 revoke platform editor on folder:specs --group', 'from all members of a group'),
    run(async (session, given) => {
      const grant = grantOf(given)
      const changed = await changeGrant(session.api, await session.place(), grant, { method: 'DELETE' })
      session.output.result({ ...shownGrant(grant), changed }, () =>
        changed ? `${grantText(grant)}, revoked` : `${grantText(grant)} was not granted`,
      )
    }),
  )
