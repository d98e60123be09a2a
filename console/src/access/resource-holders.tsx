/** List of the users who can perform an action on an instance. */
import { Link } from 'wouter'
import { PAGE_SIZE } from '../interface/pages.ts'
import { Card } from '../parts/page.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { viewAddress } from '../shell/links.ts'
import { fileName } from './csv.ts'
import { eachPage, useCursorPages } from './cursor-pages.ts'
import { CutShortNote } from './cut-short-note.tsx'
import { Explained } from './explained.tsx'
import { ExportAction } from './export-action.tsx'
import { EXPORT_PAGE_SIZE, type HoldersAsked, pageOfHolders } from './searches.ts'

const HEADER = ['resource_type', 'resource', 'action', 'user']

export function ResourceHolders({ asked }: { readonly asked: HoldersAsked }) {
  const labels = useTexts().access
  const environment = useCurrentEnvironment()
  const { type, instance, action } = asked
  const name = `${type}:${instance}`
  const pages = useCursorPages(
    environment.key('any', 'holders', type, instance, action),
    '',
    (token, signal) => pageOfHolders(asked, token, { environment, limit: PAGE_SIZE, signal }),
  )
  async function* rows(signal: AbortSignal) {
    const load = (token: string) =>
      pageOfHolders(asked, token, { environment, limit: EXPORT_PAGE_SIZE, signal })
    for await (const page of eachPage('', load)) yield page.map(user => [type, instance, action, user])
  }
  const title = labels.resources.who(action, name)
  return (
    <Card
      title={title}
      actions={
        <ExportAction
          label={labels.export.of(title)}
          file={fileName('access', type, instance, action)}
          header={HEADER}
          pages={rows}
        />
      }
    >
      <PagedTable
        label={title}
        pages={pages}
        rowKey={user => user}
        columns={[
          {
            id: 'user',
            header: labels.user,
            cell: user => (
              <Link className="key" href={viewAddress(environment, 'users', { user, action, type })}>
                {user}
              </Link>
            ),
          },
        ]}
        detail={{
          trigger: labels.why.open,
          label: user => labels.why.openUser(user),
          content: user => <Explained asked={{ user, action, type, instance, tenant: '' }} />,
        }}
        empty={pages.hasMore ? labels.noneYet : labels.resources.none(action, name)}
      />
      {pages.isCutShort ? <CutShortNote /> : null}
    </Card>
  )
}
