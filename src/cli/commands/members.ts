/** `verdict members`: manages the persons who can sign in, member groups, and their permissions. */
import { Member, MemberList, type MemberPermission } from '#model/wire/organization/member.ts'
import {
  deleteGroup,
  grantToGroup,
  memberGroups,
  revokeFromGroup,
} from '#cli/administration/member-groups.ts'
import { allPages } from '#cli/administration/pages.ts'
import {
  grantsText,
  levelText,
  objectOfGrant,
  PERMISSION_OPTIONS,
  permissionOf,
} from '#cli/administration/permissions.ts'
import { ask, request } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import type { Session } from '#cli/session/session.ts'

const MEMBERS = '/v2/members'
const MEMBER = { type: 'string', demandOption: true, describe: 'member, by id or e-mail address' } as const
const MEMBER_OR_GROUP = {
  ...MEMBER,
  describe: 'member, by id or e-mail address; with --group, a group',
} as const
const GROUP = {
  type: 'boolean',
  default: false,
  describe: 'the first argument is the name of a group at the issuer',
} as const

export const membersCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(usage, description, command =>
    command
      .command(
        'list',
        'Lists members with their permissions',
        what =>
          what
            .option('search', {
              type: 'string',
              describe: 'only members with this text in name, address or id',
            })
            .example(
              '$0 members list --project shop',
              'members with a permission that concerns this project',
            ),
        run(async (session, { search, project, env }) => showList(session, { search, project, env })),
      )
      .command(
        'show <member>',
        'Shows a member, its permissions and their origin',
        what => what.positional('member', MEMBER),
        run(async (session, { member }) => {
          show(session, await ask(session.api, Member, 'GET', pathOf(member)))
        }),
      )
      .command(
        'invite <email>',
        'Invites a person and prints the link, which is shown only once',
        what =>
          what
            .positional('email', { type: 'string', demandOption: true, describe: 'e-mail address' })
            .options(PERMISSION_OPTIONS)
            .example('$0 members invite ann@example.com --level admin', 'on everything')
            .example('$0 members invite bob@example.com --level read --project shop', 'on one project'),
        run(async (session, { email, ...options }) => {
          const member = await granted(session, { email }, await permissionOf(session, options))
          session.output.result(member, () => member.invite?.invite_url ?? '')
        }),
      )
      .command(
        'create <subject>',
        'Gives a permission to the person with a subject (sub) at the issuer, without an invitation',
        what =>
          what
            .positional('subject', { type: 'string', demandOption: true, describe: 'subject at the issuer' })
            .options(PERMISSION_OPTIONS)
            .example('$0 members create 24400320 --level write --project shop', 'the person can sign in'),
        run(async (session, { subject, ...options }) => {
          show(session, await granted(session, { subject }, await permissionOf(session, options)))
        }),
      )
      .command(
        'grant <member>',
        'Gives a member or a group a permission, or replaces the one on the same object',
        what =>
          what
            .positional('member', MEMBER_OR_GROUP)
            .option('group', GROUP)
            .options(PERMISSION_OPTIONS)
            .example(
              '$0 members grant ann@example.com --level write --project shop --env dev',
              'one environment',
            )
            .example(
              '$0 members grant developers --group --level read --project shop',
              'all members of a group',
            ),
        run(async (session, { member, group, ...options }) => {
          const permission = await permissionOf(session, options)
          if (!group) return show(session, await granted(session, { id: member }, permission))
          showGroups(session, [await grantToGroup(session.api, member, permission)])
        }),
      )
      .command(
        'revoke <member>',
        'Removes the permission of a member or a group on an object',
        what =>
          what
            .positional('member', MEMBER_OR_GROUP)
            .option('group', GROUP)
            .example('$0 members revoke ann@example.com --project shop', 'the permission on this project'),
        run(async (session, { member, group, project, env }) => {
          const object = await permissionOf(session, { project, env, level: 'no_access' })
          if (group) await revokeFromGroup(session.api, member, object)
          else await request(session.api, 'DELETE', MEMBERS, { id: member, permissions: [object] })
          session.output.result({ revoked: member }, () => `removed the permission of ${member}`)
        }),
      )
      .command(
        'remove <member>',
        'Deletes a member and ends its sessions immediately, or deletes a member group',
        what => what.positional('member', MEMBER_OR_GROUP).option('group', GROUP),
        run(async (session, { member, group }) => {
          if (group) await deleteGroup(session.api, member)
          else await request(session.api, 'DELETE', pathOf(member))
          session.output.result({ removed: member }, () => `removed ${member}`)
        }),
      )
      .command(
        'groups',
        'Lists the groups at the issuer whose members have permissions',
        what => what.example('$0 members groups', 'with their permissions'),
        run(async session => showGroups(session, await memberGroups(session.api))),
      )
      .demandCommand(1, 'a command is required: list, show, invite, create, grant, revoke, remove or groups'),
  )

function pathOf(member: string): string {
  return `${MEMBERS}/${encodeURIComponent(member)}`
}

function granted(
  { api }: Session,
  member: { readonly id: string } | { readonly email: string } | { readonly subject: string },
  permission: MemberPermission,
): Promise<Member> {
  return ask(api, Member, 'POST', MEMBERS, { ...member, permissions: [permission] })
}

interface Filters {
  readonly search: string | undefined
  readonly project: string | undefined
  readonly env: string | undefined
}

async function showList(session: Session, { search, project, env }: Filters): Promise<void> {
  const inProject = env === undefined ? project : await session.project()
  const query = new URLSearchParams({
    ...(search !== undefined && { search }),
    ...(inProject !== undefined && { project_id: inProject }),
    ...(env !== undefined && { env_id: env }),
  })
  const members = await allPages(session.api, MemberList, `${MEMBERS}?${query}`)
  const { output } = session
  output.result(members, () => {
    const rows = members.map(member => [
      nameOf(member),
      member.email,
      grantsText(member.grants),
      stateOf(member),
      member.id,
    ])
    return output.table(['NAME', 'EMAIL', 'PERMISSIONS', 'LAST SIGN-IN', 'ID'], rows)
  })
}

function show({ output }: Session, member: Member): void {
  output.result(member, () => {
    const { id, email, identities, grants } = member
    const head = [[nameOf(member), email, identities[0]?.sub ?? null, stateOf(member), id]]
    const rows = grants.map(grant => [
      objectOfGrant(grant),
      levelText(grant),
      grant.roles?.join(', ') ?? null,
      grant.via,
    ])
    return [
      output.table(['NAME', 'EMAIL', 'SUBJECT', 'LAST SIGN-IN', 'ID'], head),
      '',
      output.table(['OBJECT', 'LEVEL', 'ROLES', 'FROM'], rows),
    ].join('\n')
  })
}

function showGroups({ output }: Session, groups: Awaited<ReturnType<typeof memberGroups>>): void {
  output.result(groups, () => {
    const rows = groups.map(({ group, permissions, id }) => [group, grantsText(permissions), id])
    return output.table(['GROUP', 'PERMISSIONS', 'ID'], rows)
  })
}

function nameOf({ name, identities }: Member): string | null {
  return name ?? identities[0]?.sub ?? null
}

/** Time of the last sign-in, or the state of the invitation. */
function stateOf({ last_login: lastLogin, invite }: Member): string | null {
  if (invite === null) return lastLogin
  return invite.status === 'pending' ? `invited until ${invite.expires_at}` : 'invitation expired'
}
