/**
 * Direct grants on an instance. These are the roles of users on it, and the entities that are related to it,
 * such as groups that hold a role.
 */
import { Link } from 'wouter'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import { usePages } from '../interface/pages.ts'
import { Card } from '../parts/page.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { viewAddress } from '../shell/links.ts'
import { InstanceLink } from './instance-link.tsx'
import { Until } from './until.tsx'

/** `name` has the form `type:key`. */
export function ResourceGrants({ name }: { readonly name: string }) {
  const labels = useTexts().access.grants
  return (
    <div className="stack">
      <Card title={labels.users(name)}>
        <UserGrants name={name} />
      </Card>
      <Card title={labels.related(name)}>
        <p className="soft small">{labels.relatedLead}</p>
        <Related name={name} />
      </Card>
    </div>
  )
}

function UserGrants({ name }: { readonly name: string }) {
  const labels = useTexts().access
  const environment = useCurrentEnvironment()
  const { path, key } = environment
  const pages = usePages(key('role_assignment', 'on', name), async (page, signal) => {
    const query = { ...page, resource_instance: name, include_total_count: true }
    const answer = await answerOf(
      service.GET('/v2/facts/{proj_id}/{env_id}/role_assignments', { params: { path, query }, signal }),
    )
    return answer as Schemas['RoleAssignmentEnvelope']
  })
  return (
    <PagedTable
      label={labels.grants.users(name)}
      pages={pages}
      rowKey={({ id }) => id}
      columns={[
        {
          id: 'user',
          header: labels.user,
          cell: ({ user }) => (
            <Link className="key" href={viewAddress(environment, 'users', { user })}>
              {user}
            </Link>
          ),
        },
        { id: 'role', header: labels.role, cell: ({ role }) => <span className="key short">{role}</span> },
        { id: 'end', header: labels.roles.ends, cell: ({ expires_at }) => <Until end={expires_at} /> },
      ]}
      empty={labels.grants.noUsers}
    />
  )
}

function Related({ name }: { readonly name: string }) {
  const labels = useTexts().access
  const { path, key } = useCurrentEnvironment()
  const pages = usePages(key('relationship_tuple', 'to', name), async (page, signal) => {
    const query = { ...page, object: name, include_total_count: true }
    const answer = await answerOf(
      service.GET('/v2/facts/{proj_id}/{env_id}/relationship_tuples', { params: { path, query }, signal }),
    )
    return answer as Schemas['RelationshipTupleEnvelope']
  })
  return (
    <PagedTable
      label={labels.grants.related(name)}
      pages={pages}
      rowKey={({ id }) => id}
      columns={[
        {
          id: 'subject',
          header: labels.grants.what,
          cell: ({ subject }) => <InstanceLink reference={subject} />,
        },
        {
          id: 'relation',
          header: labels.grants.relation,
          cell: ({ relation }) => <span className="key">{relation}</span>,
        },
        { id: 'end', header: labels.roles.ends, cell: ({ expires_at }) => <Until end={expires_at} /> },
      ]}
      empty={labels.grants.noneRelated}
    />
  )
}
