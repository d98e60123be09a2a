/** List of the instances on which a user can perform an action. */
import { Link } from 'wouter'
import { PAGE_SIZE } from '../interface/pages.ts'
import { Badge, Card } from '../parts/page.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { viewAddress } from '../shell/links.ts'
import { useLoadTypes } from './load-types.ts'
import { fileName } from './csv.ts'
import { eachPage, useCursorPages } from './cursor-pages.ts'
import { CutShortNote } from './cut-short-note.tsx'
import { Explained } from './explained.tsx'
import { ExportAction } from './export-action.tsx'
import { EXPORT_PAGE_SIZE, FIRST_RESOURCE, pageOfResources, type ResourcesAsked } from './searches.ts'

const HEADER = ['user', 'action', 'asked_tenant', 'resource_type', 'resource']

export function UserResources({ asked }: { readonly asked: ResourcesAsked }) {
  const labels = useTexts().access
  const environment = useCurrentEnvironment()
  const loadTypes = useLoadTypes()
  const { user, action, type, tenant } = asked
  const pages = useCursorPages(
    environment.key('any', 'resources', user, action, type, tenant),
    FIRST_RESOURCE,
    (from, signal) => pageOfResources(asked, from, { environment, limit: PAGE_SIZE, signal, loadTypes }),
  )
  async function* rows(signal: AbortSignal) {
    const load = (from: typeof FIRST_RESOURCE) =>
      pageOfResources(asked, from, { environment, limit: EXPORT_PAGE_SIZE, signal, loadTypes })
    for await (const page of eachPage(FIRST_RESOURCE, load)) {
      yield page.map(instance => [user, action, tenant, instance.type, instance.id])
    }
  }
  const title = labels.users.may(user, action)
  return (
    <Card
      title={title}
      actions={
        <ExportAction
          label={labels.export.of(title)}
          file={fileName('access', user, action, type, tenant)}
          header={HEADER}
          pages={rows}
        />
      }
    >
      <PagedTable
        label={title}
        pages={pages}
        rowKey={instance => `${instance.type}:${instance.id}`}
        columns={[
          {
            id: 'resource',
            header: labels.resource,
            cell: ({ type: its, id }) => (
              <span className="row tight-row">
                <Badge>{its}</Badge>
                <Link
                  className="key"
                  href={viewAddress(environment, 'resources', { type: its, instance: id, action })}
                >
                  {id}
                </Link>
              </span>
            ),
          },
        ]}
        detail={{
          trigger: labels.why.open,
          label: ({ type: its, id }) => labels.why.openResource(`${its}:${id}`),
          content: ({ type: its, id }) => (
            <Explained asked={{ user, action, type: its, instance: id, tenant }} />
          ),
        }}
        empty={pages.hasMore ? labels.noneYet : labels.users.none(user, action)}
      />
      {pages.isCutShort ? <CutShortNote /> : null}
    </Card>
  )
}
