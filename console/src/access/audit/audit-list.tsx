/** List of the audit log entries that match the filters. The newest entries come first. */
import { answerOf, service } from '../../interface/client.ts'
import { usePages } from '../../interface/pages.ts'
import { Badge, Card } from '../../parts/page.tsx'
import { PagedTable } from '../../parts/paged-table.tsx'
import { type CurrentEnvironment, useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useSpoken } from '../../texts/texts.tsx'
import { type Cell, fileName } from '../csv.ts'
import { ExportAction } from '../export-action.tsx'
import { AuditDetail } from './audit-detail.tsx'
import type { AuditFilters } from './audit-filters.ts'
import { causeOf, wordsOf } from './operations.ts'
import { type Entry, expiredGrants, shortIn } from './entry-summary.ts'
import { Actor } from './actor.tsx'

const HEADER = [
  'created_at',
  'operation',
  'cause',
  'api_key_id',
  'request_id',
  'sequence',
  'input',
  'is_input_cut',
  'about',
  'actor',
]
const NAMED_MAX = 4
const EXPORT_PAGE_SIZE = 100

export function AuditList({ asked }: { readonly asked: AuditFilters }) {
  const { texts, moment } = useSpoken()
  const labels = texts.access.audit
  const environment = useCurrentEnvironment()
  const pages = usePages(environment.key('any', 'audit', asked), (page, signal) =>
    load(environment, asked, page, signal),
  )
  async function* rows(signal: AbortSignal): AsyncGenerator<readonly (readonly Cell[])[]> {
    let former = new Set<string>()
    for (let page = 1; ; page += 1) {
      const { data } = await load(environment, asked, { page, per_page: EXPORT_PAGE_SIZE }, signal)
      // Entries that are added during the export move the other entries to later pages. The next page can
      // then repeat entries of the former page. These duplicates are removed here. No entry is skipped.
      yield data.filter(({ id }) => !former.has(id)).map(cellsOf)
      if (data.length < EXPORT_PAGE_SIZE) return
      former = new Set(data.map(({ id }) => id))
    }
  }
  return (
    <Card
      title={labels.entries}
      actions={
        <ExportAction
          label={texts.access.export.of(labels.title)}
          file={fileName(
            'audit-log',
            asked.operation,
            asked.named,
            asked.key,
            asked.since.slice(0, 10),
            asked.until.slice(0, 10),
          )}
          header={HEADER}
          pages={rows}
        />
      }
    >
      <PagedTable
        label={labels.title}
        pages={pages}
        rowKey={({ id }) => id}
        columns={[
          {
            id: 'when',
            header: labels.when,
            cell: ({ created_at: at }) => (
              <time dateTime={at} title={at}>
                {moment(at)}
              </time>
            ),
          },
          { id: 'what', header: labels.what, cell: entry => <What entry={entry} /> },
          { id: 'about', header: labels.about, cell: entry => <About entry={entry} /> },
          { id: 'who', header: labels.who, cell: entry => <Actor entry={entry} /> },
        ]}
        detail={{
          trigger: labels.open,
          label: entry =>
            labels.openEntry(wordsOf(entry.operation, texts) ?? entry.operation, moment(entry.created_at)),
          content: entry => <AuditDetail entry={entry} />,
        }}
        empty={labels.none}
      />
    </Card>
  )
}

function load(
  { path }: CurrentEnvironment,
  { operation, about, named, key, actor, member, request, since, until }: AuditFilters,
  page: { readonly page: number; readonly per_page: number },
  signal: AbortSignal,
) {
  const query = {
    ...page,
    ...(operation === '' ? {} : { operation }),
    ...(about === '' || named === '' ? {} : { about: `${about}:${named}` }),
    ...(key === '' ? {} : { api_key_id: key }),
    ...(actor === '' ? {} : { actor }),
    ...(member === '' ? {} : { member_id: member }),
    ...(request === '' ? {} : { request_id: request }),
    ...(since === '' ? {} : { since }),
    ...(until === '' ? {} : { until }),
  }
  return answerOf(service.GET('/v2/audit-log/{proj_id}/{env_id}', { params: { path, query }, signal }))
}

function cellsOf(entry: Entry): readonly Cell[] {
  const { created_at, operation, api_key_id, request_id, sequence, input, is_input_cut, about, actor } = entry
  return [
    created_at,
    operation,
    causeOf(operation),
    api_key_id ?? (actor?.kind === 'member' ? '' : request_id === '' ? 'service' : 'admin'),
    request_id,
    sequence,
    JSON.stringify(input),
    String(is_input_cut),
    JSON.stringify(about),
    actor ? JSON.stringify(actor) : '',
  ]
}

function What({ entry: { operation } }: { readonly entry: Entry }) {
  const { texts } = useSpoken()
  const cause = causeOf(operation)
  const words = wordsOf(operation, texts)
  return (
    <span className="row tight-row">
      <span title={operation}>{words ?? <code>{operation}</code>}</span>
      {cause === 'call' ? null : (
        <Badge kind={cause === 'expired' ? 'warn' : 'deny'}>{texts.access.audit.causes[cause]}</Badge>
      )}
    </span>
  )
}

function About({ entry }: { readonly entry: Entry }) {
  const { texts, number } = useSpoken()
  const [first, ...others] = expiredGrants(entry)
  if (first !== undefined) {
    const { who, what, where } = first
    return (
      <span className="key">
        {texts.access.audit.grant(who, what, where)}
        {others.length === 0 ? '' : ` ${texts.access.audit.andMore(number(others.length))}`}
      </span>
    )
  }
  const named = shortIn(entry, NAMED_MAX)
  if (named.length === 0 && entry.is_input_cut) {
    return <span className="soft">{texts.access.audit.cutShortly}</span>
  }
  return (
    <span className="named">
      {named.map(([name, value], index) => (
        <span key={index}>
          <span className="soft small">{name}</span> <span className="key">{value}</span>
        </span>
      ))}
    </span>
  )
}
