/**
 * List of the roles that are assigned to a user directly, either in tenants or on instances, with their
 * expiration times.
 */
import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas, service, userInPath } from '../interface/client.ts'
import { usePages } from '../interface/pages.ts'
import { Problem } from '../interface/problem.ts'
import { Badge, Card } from '../parts/page.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { ProblemNote } from '../parts/problem-note.tsx'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { nameOfUser } from '../interface/completions.ts'
import { InstanceLink } from './instance-link.tsx'
import { Until } from './until.tsx'

export function UserRoles({ user }: { readonly user: string }) {
  const labels = useTexts().access
  const environment = useCurrentEnvironment()
  const { path, key } = environment
  const { data: known, error } = useQuery({
    queryKey: key('user', 'one', user),
    queryFn: async ({ signal }) => {
      const params = { path: { ...path, user_id: await userInPath(path, user) } }
      return answerOf(service.GET('/v2/facts/{proj_id}/{env_id}/users/{user_id}', { params, signal }))
    },
  })
  const isUnknown = error instanceof Problem && error.status === 404
  return (
    <Card title={labels.roles.title(user)}>
      {known === undefined || nameOfUser(known) === undefined ? null : (
        <p className="soft small key">{nameOfUser(known)}</p>
      )}
      {isUnknown ? <div className="empty">{labels.roles.unknown(user)}</div> : <ProblemNote error={error} />}
      {known === undefined ? null : <RolesTable user={user} />}
    </Card>
  )
}

function RolesTable({ user }: { readonly user: string }) {
  const labels = useTexts().access
  const { path, key } = useCurrentEnvironment()
  const pages = usePages(key('role_assignment', 'of-user', user), async (page, signal) => {
    const query = { ...page, user: [user], include_total_count: true }
    const answer = await answerOf(
      service.GET('/v2/facts/{proj_id}/{env_id}/role_assignments', { params: { path, query }, signal }),
    )
    return answer as Schemas['RoleAssignmentEnvelope']
  })
  return (
    <PagedTable
      label={labels.roles.title(user)}
      pages={pages}
      rowKey={({ id }) => id}
      columns={[
        { id: 'role', header: labels.role, cell: ({ role }) => <span className="key short">{role}</span> },
        {
          id: 'where',
          header: labels.roles.where,
          cell: ({ resource_instance: instance, tenant }) =>
            instance === null ? (
              <span className="row tight-row">
                <Badge>{labels.tenant}</Badge> <span className="key">{tenant}</span>
              </span>
            ) : (
              <InstanceLink reference={instance} />
            ),
        },
        { id: 'end', header: labels.roles.ends, cell: ({ expires_at }) => <Until end={expires_at} /> },
      ]}
      empty={labels.roles.none(user)}
    />
  )
}
