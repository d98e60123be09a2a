/**
 * Role assignments of a tenant, for a session whose grant is limited to tenants. The user gives and takes
 * only the roles of the grant. Users and resource instances are typed, because such a grant permits no lists
 * of them.
 */
import { useState } from 'react'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import { usePages } from '../interface/pages.ts'
import { ActionDialog } from '../parts/dialogs.tsx'
import { EndText } from '../parts/ends.tsx'
import { Choice } from '../parts/fields.tsx'
import { Badge, Card, Page } from '../parts/page.tsx'
import { PagedTable, Skeleton } from '../parts/paged-table.tsx'
import { useWrite } from '../parts/writes.ts'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { AssignRole } from './assign-role.tsx'
import { useDelegation } from '../session/delegation.ts'

type Assignment = Schemas['RoleAssignment']

export default function AssignmentsPage() {
  const texts = useTexts().assignments
  const delegation = useDelegation()
  const [chosen, setChosen] = useState<string | null>(null)
  if (delegation === null) return <Skeleton />
  const { tenants, roles } = delegation
  const tenant = chosen ?? tenants[0]?.key ?? ''
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      actions={<AssignRole key={tenant} tenant={tenant} roles={roles} />}
    >
      {tenants.length < 2 ? null : (
        <div className="filters">
          <Choice
            label={texts.tenant}
            value={tenant}
            onChange={setChosen}
            options={tenants.map(({ key, name }) => ({ id: key, text: name }))}
          />
        </div>
      )}
      <Card title={texts.of(tenants.find(({ key }) => key === tenant)?.name ?? tenant)}>
        <AssignmentList tenant={tenant} roles={roles} />
      </Card>
    </Page>
  )
}

function AssignmentList({ tenant, roles }: { readonly tenant: string; readonly roles: readonly string[] }) {
  const all = useTexts()
  const texts = all.assignments
  const { path, key } = useCurrentEnvironment()
  const pages = usePages(key('role_assignment', 'in-tenant', tenant), async (page, signal) => {
    const query = { ...page, tenant: [tenant], include_total_count: true }
    const answer = await answerOf(
      service.GET('/v2/facts/{proj_id}/{env_id}/role_assignments', { params: { path, query }, signal }),
    )
    return answer as Schemas['RoleAssignmentEnvelope']
  })
  return (
    <PagedTable
      label={texts.title}
      pages={pages}
      rowKey={({ id }) => id}
      empty={texts.none}
      columns={[
        { id: 'user', header: texts.user, cell: ({ user }) => <span className="key">{user}</span> },
        { id: 'role', header: texts.role, cell: ({ role }) => <span className="key">{role}</span> },
        {
          id: 'on',
          header: texts.on,
          cell: ({ resource_instance: instance }) =>
            instance === null ? <Badge>{texts.wholeTenant}</Badge> : <code>{instance}</code>,
        },
        { id: 'end', header: all.parts.ends, cell: ({ expires_at }) => <EndText end={expires_at} /> },
        {
          id: 'actions',
          header: texts.actions,
          isActions: true,
          cell: assignment =>
            roles.includes(roleOf(assignment)) ? <Unassign assignment={assignment} /> : null,
        },
      ]}
    />
  )
}

/** Name of the role as a grant lists it: `role`, or `type#role` for a role on an instance. */
function roleOf({ role, resource_instance: instance }: Assignment): string {
  return instance === null ? role : `${instance.slice(0, instance.indexOf(':'))}#${role}`
}

function Unassign({ assignment }: { readonly assignment: Assignment }) {
  const texts = useTexts().assignments
  const { path } = useCurrentEnvironment()
  const write = useWrite()
  const { user, role, tenant, resource_instance: instance, expires_at: end } = assignment
  const body = { user, role, ...(instance === null ? { tenant } : { resource_instance: instance }) }
  const what = texts.what(role, instance ?? tenant)
  const address = '/v2/facts/{proj_id}/{env_id}/role_assignments'
  return (
    <ActionDialog
      needs="write_facts"
      isDelegable
      trigger={texts.remove}
      triggerLook={{ kind: 'quiet danger', isSmall: true }}
      triggerLabel={texts.removeOf(what, user)}
      title={texts.removeOf(what, user)}
      sentence={texts.removeSentence(user, what)}
      submit={texts.remove}
      isDanger
      onSubmit={() =>
        write({
          make: () => answerOf(service.DELETE(address, { params: { path }, body })),
          message: texts.removed(user, what),
          undo: () =>
            answerOf(service.POST(address, { params: { path }, body: { ...body, expires_at: end ?? null } })),
        })
      }
    />
  )
}
