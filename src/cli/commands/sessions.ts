/** `verdict sessions`: lists and ends the sessions of members. It needs an API key of the organization. */
import { Member } from '#model/wire/organization/member.ts'
import { SessionEnvelope } from '#model/wire/organization/session.ts'
import { checkedId } from '#cli/administration/checked-id.ts'
import { allInEnvelopes } from '#cli/administration/pages.ts'
import { ask, request } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import type { Session } from '#cli/session/session.ts'

const SESSIONS = '/v2/sessions'
const MEMBER = { type: 'string', describe: 'only sessions of this member, by id or e-mail address' } as const

export const sessionsCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(usage, description, command =>
    command
      .command(
        'list',
        'Lists the sessions of members',
        what =>
          what
            .option('member', MEMBER)
            .example('$0 sessions list --member ann@example.com', 'the sessions of one member'),
        run(async (session, { member }) => {
          const sessions = await sessionsOf(session, member)
          session.output.result(sessions, () => {
            const rows = sessions.map(each => [
              each.member_id,
              each.signed_in_at,
              each.last_used_at,
              each.expires_at,
              each.user_agent,
              each.id,
            ])
            const header = ['MEMBER', 'SIGNED IN', 'LAST USED', 'EXPIRES', 'BROWSER', 'ID']
            return session.output.table(header, rows)
          })
        }),
      )
      .command(
        'end <id>',
        'Ends a session immediately',
        what =>
          what
            .positional('id', { type: 'string', demandOption: true, describe: 'id of the session' })
            .example('$0 sessions end 5c0f…', 'the browser must sign in again'),
        run(async (session, { id }) => {
          await request(session.api, 'DELETE', `${SESSIONS}/${checkedId(id, 'verdict sessions list')}`)
          session.output.result({ ended: id }, () => `ended ${id}`)
        }),
      )
      .demandCommand(1, 'a command is required: list or end'),
  )

async function sessionsOf({ api }: Session, member: string | undefined) {
  if (member === undefined) return allInEnvelopes(api, SessionEnvelope, SESSIONS)
  const { id } = await ask(api, Member, 'GET', `/v2/members/${encodeURIComponent(member)}`)
  return allInEnvelopes(api, SessionEnvelope, `${SESSIONS}?member_id=${id}`)
}
