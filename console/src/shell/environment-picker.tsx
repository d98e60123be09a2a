/**
 * Start page. With an environment key, the page of its environment opens. With any other key, the user
 * selects an environment.
 */
import { useEffect } from 'react'
import { Link, useLocation } from 'wouter'
import { answerOf, type Schemas, service } from '../interface/client.ts'
import { usePages } from '../interface/pages.ts'
import { Action } from '../parts/action.tsx'
import { Card, Page } from '../parts/page.tsx'
import { PagedTable, Skeleton } from '../parts/paged-table.tsx'
import { ProblemNote } from '../parts/problem-note.tsx'
import { useScope } from '../session/scope.ts'
import { useTexts } from '../texts/texts.tsx'
import { PlainFrame } from './plain-frame.tsx'

export function EnvironmentPicker() {
  const texts = useTexts().shell
  const [, go] = useLocation()
  const { data: scope, error } = useScope()
  const project = scope?.project_id
  const environment = scope?.environment_id
  useEffect(() => {
    if (project && environment) go(`/${project}/${environment}/questions`, { replace: true })
  }, [project, environment, go])
  if (error === null && (scope === undefined || environment)) return <Skeleton />
  return (
    <PlainFrame>
      {error !== null ? (
        <ProblemNote error={error} />
      ) : (
        <Page title={texts.chooseEnvironment} lead={texts.chooseEnvironmentLead}>
          {project ? <EnvironmentsOf project={project} name={null} /> : <AllProjects />}
        </Page>
      )}
    </PlainFrame>
  )
}

function AllProjects() {
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
        <EnvironmentsOf key={key} project={key} name={name} />
      ))}
      {hasMore ? (
        <Action onPress={loadMore} isPending={isLoadingMore}>
          {texts.more}
        </Action>
      ) : null}
    </>
  )
}

function EnvironmentsOf({ project, name }: { readonly project: string; readonly name: string | null }) {
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
              <Link href={`/${encodeURIComponent(project)}/${encodeURIComponent(key)}/groups`}>{its}</Link>
            ),
          },
        ]}
      />
    </Card>
  )
}
