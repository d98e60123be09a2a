/** `verdict grant`: grants one role to one user or group, with or without an expiration time. */
import { changeGrant } from '#cli/grants/change-grant.ts'
import type { Command } from '#cli/session/command.ts'
import { expiryArguments, expiryOf } from '#cli/grants/grant-expiry.ts'
import { grantArguments, grantOf, grantText, shownGrant } from '#cli/grants/grants.ts'

export const grantCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      expiryArguments(grantArguments(command))
        .option('tenant', { type: 'string', describe: 'tenant in which a missing instance is created' })
        .example('$0 grant carol editor on document:roadmap --for 8h', 'expires after eight hours')
        .example(
          '$0 grant carol auditor in acme --until 2031-01-31T18:00:00Z',
          'a tenant role that expires at that time',
        )
        .example('$0 grant carol auditor in acme', 'without expiration time, replacing an earlier one')
        .example('$0 grant platform editor on folder:specs --group', 'for all members of a group'),
    run(async (session, given) => {
      const grant = grantOf(given)
      const expires_at = expiryOf(given, Date.now())
      const change = { method: 'POST', expiration: { expires_at } } as const
      const changed = await changeGrant(session.api, await session.place(), grant, change)
      session.output.result({ ...shownGrant(grant), expires_at, changed }, () =>
        [
          grantText(grant),
          expires_at === null ? ', does not expire' : ` until ${expires_at}`,
          changed ? '' : ', unchanged',
        ].join(''),
      )
    }),
  )
