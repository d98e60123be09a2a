/**
 * Start page. With an environment key, the page of its environment opens, and so does that of a member with a
 * grant on one environment alone. Any other user selects an environment.
 */
import { Link, Redirect } from 'wouter'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import { usePages } from '../interface/pages.ts'
import { Action } from '../parts/action.tsx'
import { Card, Page } from '../parts/page.tsx'
import { PagedTable, Skeleton } from '../parts/paged-table.tsx'
import { ProblemNote } from '../parts/problem-note.tsx'
import type { Grant } from '../session/account.ts'
import { includes, isDelegated, projectOf, useHeld } from '../session/held.ts'
import { useAccount } from '../session/session.ts'
import { useScope } from '../session/scope.ts'
import { useTexts } from '../texts/texts.tsx'
import { escaped } from './address.ts'
import { isDelegate } from './pages-of.ts'
import { PlainFrame } from './plain-frame.tsx'

export function EnvironmentPicker() {
  const account = useAccount()
  return account === null ? <PickerOfKey /> : <PickerOfMember grants={account.grants} />
}

function PickerOfKey() {
  const texts = useTexts().shell
  const { data: scope, error } = useScope()
  const project = scope?.project_id
  const environment = scope?.environment_id
  const isLimited = isDelegate(useHeld(null))
  if (project && environment)
    return <Open project={project} environment={environment} isLimited={isLimited} />
  if (error === null && scope === undefined) return <Skeleton />
  return (
    <PlainFrame>
      {error !== null ? (
        <ProblemNote error={error} />
      ) : (
        <Page title={texts.chooseEnvironment} lead={texts.chooseEnvironmentLead}>
          {project ? (
            <EnvironmentsOf project={project} name={null} page="groups" />
          ) : (
            <AllProjects page="groups" />
          )}
        </Page>
      )}
    </PlainFrame>
  )
}

/**
 * A member selects an environment of the organization or of a project. Grants on single environments are
 * listed without a request, because they permit no lists.
 */
function PickerOfMember({ grants }: { readonly grants: readonly Grant[] }) {
  const texts = useTexts().shell
  const wide = grants.filter(({ access_level: level }) => includes(level, 'read'))
  const hasAll = wide.some(({ object_type: kind }) => kind === 'org')
  const projects = new Map(
    wide.flatMap(grant =>
      grant.object_type === 'project' ? [[projectOf(grant), grant.project_name ?? null] as const] : [],
    ),
  )
  const single = environmentsIn(wide.filter(grant => !projects.has(projectOf(grant))))
  const [only] = single
  if (!hasAll && projects.size === 0 && only !== undefined && single.length === 1) return <Open {...only} />
  return (
    <PlainFrame>
      <Page title={texts.chooseEnvironment} lead={texts.chooseEnvironmentMember}>
        {hasAll ? (
          <AllProjects page="questions" />
        ) : (
          <>
            {[...projects].map(([project, name]) => (
              <EnvironmentsOf key={project} project={project} name={name} page="questions" />
            ))}
            {single.length === 0 ? null : (
              <Card>
                <ul className="stack tight">
                  {single.map(({ project, environment, name, isLimited }) => (
                    <li key={environment}>
                      <Link href={startOf({ project, environment, isLimited })}>{name}</Link>
                    </li>
                  ))}
                </ul>
              </Card>
            )}
          </>
        )}
      </Page>
    </PlainFrame>
  )
}

interface Start {
  readonly project: string
  readonly environment: string
  /** Whether all grants there are limited to tenants. */
  readonly isLimited: boolean
}

function startOf({ project, environment, isLimited }: Start): string {
  return `/${escaped(project)}/${escaped(environment)}/${isLimited ? 'assignments' : 'questions'}`
}

function Open(start: Start) {
  return <Redirect to={startOf(start)} replace />
}

/** Environments of the grants, each once. */
function environmentsIn(grants: readonly Grant[]): readonly (Start & { readonly name: string })[] {
  const found = new Map<string, Start & { readonly name: string }>()
  for (const grant of grants) {
    const environment = grant.environment_key ?? grant.environment_id
    if (grant.object_type !== 'env' || !environment) continue
    const project = projectOf(grant)
    const id = `${project}/${environment}`
    const name = `${grant.project_name ?? project} / ${grant.environment_name ?? environment}`
    const isLimited = isDelegated(grant) && (found.get(id)?.isLimited ?? true)
    found.set(id, { project, environment, name, isLimited })
  }
  return [...found.values()]
}

interface Linked {
  /** Page to which the links lead. */
  readonly page: 'groups' | 'questions'
}

function AllProjects({ page: to }: Linked) {
  const texts = useTexts().parts
  const { items, isLoading, isLoadingMore, hasMore, loadMore, error } = usePages(
    ['projects'],
    async (page, signal) => answerOf(service.GET('/v2/projects', { params: { query: page }, signal })),
  )
  if (isLoading) return <Skeleton />
  return (
    <>
      <ProblemNote error={error} />
      {items.map(({ key, name }) => (
        <EnvironmentsOf key={key} project={key} name={name} page={to} />
      ))}
      {hasMore ? (
        <Action onPress={loadMore} isPending={isLoadingMore}>
          {texts.more}
        </Action>
      ) : null}
    </>
  )
}

function EnvironmentsOf({
  project,
  name,
  page: to,
}: Linked & { readonly project: string; readonly name: string | null }) {
  const texts = useTexts().shell
  const pages = usePages(['environments', project], async (page, signal) =>
    answerOf(
      service.GET('/v2/projects/{proj_id}/envs', {
        params: { path: { proj_id: project }, query: page },
        signal,
      }),
    ),
  )
  return (
    <Card title={name ?? project}>
      <PagedTable
        label={name ?? project}
        pages={pages}
        rowKey={({ id }: Schemas['Environment']) => id}
        empty={texts.noEnvironments}
        columns={[
          {
            id: 'name',
            header: texts.environment,
            cell: ({ key, name: its }) => (
              <Link href={`/${encodeURIComponent(project)}/${encodeURIComponent(key)}/${to}`}>{its}</Link>
            ),
          },
        ]}
      />
    </Card>
  )
}
