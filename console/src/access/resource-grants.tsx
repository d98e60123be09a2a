/**
 * Direct grants on an instance: roles of users, and related entities, such as groups that hold a role on it.
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
  const said = useTexts().access.grants
  return (
    <div className="stack">
      <Card title={said.users(name)}>
        <UserGrants name={name} />
      </Card>
      <Card title={said.related(name)}>
        <p className="soft small">{said.relatedLead}</p>
        <Related name={name} />
      </Card>
    </div>
  )
}

function UserGrants({ name }: { readonly name: string }) {
  const said = useTexts().access
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
      label={said.grants.users(name)}
      pages={pages}
      rowKey={({ id }) => id}
      columns={[
        {
          id: 'user',
          header: said.user,
          cell: ({ user }) => (
            <Link className="key" href={viewAddress(environment, 'users', { user })}>
              {user}
            </Link>
          ),
        },
        { id: 'role', header: said.role, cell: ({ role }) => <span className="key short">{role}</span> },
        { id: 'end', header: said.roles.ends, cell: ({ expires_at }) => <Until end={expires_at} /> },
      ]}
      empty={said.grants.noUsers}
    />
  )
}

function Related({ name }: { readonly name: string }) {
  const said = useTexts().access
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
      label={said.grants.related(name)}
      pages={pages}
      rowKey={({ id }) => id}
      columns={[
        {
          id: 'subject',
          header: said.grants.what,
          cell: ({ subject }) => <InstanceLink reference={subject} />,
        },
        {
          id: 'relation',
          header: said.grants.relation,
          cell: ({ relation }) => <span className="key">{relation}</span>,
        },
        { id: 'end', header: said.roles.ends, cell: ({ expires_at }) => <Until end={expires_at} /> },
      ]}
      empty={said.grants.noneRelated}
    />
  )
}
