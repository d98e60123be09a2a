/** Page about a user within the group pages: the direct memberships and the other roles of the user. */
import { Link } from 'wouter'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import { usePages } from '../interface/pages.ts'
import { ActionLink } from '../parts/action.tsx'
import { EndText } from '../parts/ends.tsx'
import { focusHeading } from '../parts/focus.ts'
import { Card, Page } from '../parts/page.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { EndDialog } from './end-dialog.tsx'
import { referenceOf, useGroupCalls } from './group-calls.ts'
import { RemoveDialog } from './remove-dialog.tsx'

export function UserView({ user }: { readonly user: string }) {
  const texts = useTexts().groups
  const environment = useCurrentEnvironment()
  return (
    <Page
      title={user}
      lead={texts.userLead}
      actions={<ActionLink to={environment.to('groups')}>‹ {texts.back}</ActionLink>}
    >
      <GroupsOf user={user} />
      <RolesOf user={user} />
    </Page>
  )
}

/** The list shows the expiration time of each membership next to its group. */
function GroupsOf({ user }: { readonly user: string }) {
  const all = useTexts()
  const texts = all.groups
  const environment = useCurrentEnvironment()
  const calls = useGroupCalls()
  const pages = usePages(
    environment.key(['role_assignment', 'resource_instance'], 'groups', 'of', user),
    (page, signal) => calls.list({ ...page, user }, signal),
  )
  return (
    <Card title={texts.groupsOf}>
      <PagedTable
        label={texts.groupsOf}
        pages={pages}
        rowKey={({ id }) => id}
        empty={texts.inNoGroup}
        columns={[
          {
            id: 'group',
            header: texts.group,
            cell: group => (
              <Link href={environment.to('groups', referenceOf(group))}>{referenceOf(group)}</Link>
            ),
          },
          { id: 'end', header: all.parts.ends, cell: ({ expires_at }) => <EndText end={expires_at} /> },
          {
            id: 'actions',
            header: texts.actions,
            isActions: true,
            cell: ({ expires_at: end = null, ...group }) => {
              const name = referenceOf(group)
              const granted = {
                what: texts.membershipIn(user, name),
                end,
                grant: calls.membership(group, user),
              }
              return (
                <>
                  <EndDialog {...granted} />
                  <RemoveDialog
                    {...granted}
                    label={texts.removeFrom(user, name)}
                    sentence={texts.removeMemberSentence(user, name)}
                    message={texts.memberRemoved(user, name)}
                    onGone={focusHeading}
                  />
                </>
              )
            },
          },
        ]}
      />
    </Card>
  )
}

function RolesOf({ user }: { readonly user: string }) {
  const all = useTexts()
  const texts = all.groups
  const { path, key } = useCurrentEnvironment()
  const pages = usePages(key('role_assignment', 'of', user), (page, signal) =>
    answerOf(
      service.GET('/v2/facts/{proj_id}/{env_id}/role_assignments', {
        params: { path, query: { ...page, user: [user], include_total_count: true } },
        signal,
      }),
    ).then(answer => ({
      data: ('data' in answer ? answer.data : answer) as readonly Schemas['RoleAssignment'][],
      total_count: 'data' in answer ? answer.total_count : undefined,
    })),
  )
  return (
    <Card title={texts.heldRoles}>
      <p className="soft small">{texts.heldRolesLead}</p>
      <PagedTable
        label={texts.heldRoles}
        pages={pages}
        rowKey={({ id }) => id}
        empty={texts.holdsNothing}
        columns={[
          { id: 'role', header: texts.role, cell: ({ role }) => role },
          {
            id: 'on',
            header: texts.on,
            cell: ({ resource_instance: instance, tenant }) =>
              instance === null ? texts.inTenant(tenant) : <code>{instance}</code>,
          },
          { id: 'end', header: all.parts.ends, cell: ({ expires_at }) => <EndText end={expires_at} /> },
        ]}
      />
    </Card>
  )
}
