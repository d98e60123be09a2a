/**
 * List of the live nodes. The API returns up to 1,000 nodes in one response. The list shows them in pages.
 */
import { useState } from 'react'
import { PAGE_SIZE } from '../interface/pages.ts'
import { Badge, Card } from '../parts/page.tsx'
import { PagedTable } from '../parts/paged-table.tsx'
import { useSpoken } from '../texts/texts.tsx'
import { type Node, useNodes } from './health.ts'
import { useSpokenFigures } from './spoken-figures.ts'
import { StandingBadge } from './standing-badge.tsx'

const BRIEF_LENGTH = 8

export function NodesCard() {
  const { texts, moment, number } = useSpoken()
  const { clock, span } = useSpokenFigures()
  const labels = texts.operations.nodes
  const { data, error, isPending } = useNodes()
  const [shown, setShown] = useState(PAGE_SIZE)
  const nodes = data?.nodes ?? []
  return (
    <Card title={labels.title}>
      <p className="soft small">{labels.lead}</p>
      {data !== undefined && !data.is_complete ? (
        <div className="note warn" role="status">
          {labels.incomplete(data.missing ?? '')}
        </div>
      ) : null}
      {new Set(nodes.map(({ version }) => version)).size > 1 ? (
        <div className="note warn">{labels.mixed}</div>
      ) : null}
      <div className="nodes">
        <PagedTable
          label={labels.title}
          empty={labels.none}
          rowKey={({ id }: Node) => id}
          pages={{
            items: nodes.slice(0, shown),
            total: nodes.length,
            isLoading: isPending,
            isLoadingMore: false,
            hasMore: nodes.length > shown,
            error,
            loadMore: () => setShown(shown + PAGE_SIZE),
          }}
          columns={[
            {
              id: 'node',
              header: labels.node,
              cell: ({ name, is_this }) => (
                <span className="row">
                  <span className="key">{name}</span>
                  {is_this ? <Badge kind="accent">{labels.isThis}</Badge> : null}
                </span>
              ),
            },
            {
              id: 'state',
              header: labels.state,
              cell: ({ ready, fresh, stale_ms }) => (
                <span className="row">
                  <StandingBadge isGood={ready} good={labels.ready} bad={labels.notReady} />
                  <StandingBadge isGood={fresh} good={labels.fresh} bad={labels.stale(span(stale_ms))} />
                </span>
              ),
            },
            { id: 'since', header: labels.since, cell: ({ started_at }) => moment(started_at) },
            { id: 'seen', header: labels.seen, cell: ({ seen_at }) => clock(seen_at) },
            { id: 'release', header: labels.release, cell: ({ version }) => version },
            { id: 'threads', header: labels.threads, cell: ({ http_threads }) => number(http_threads) },
            {
              id: 'revision',
              header: labels.revision,
              cell: ({ revision }) =>
                revision === null ? (
                  <span className="soft">{labels.noRevision}</span>
                ) : (
                  <code>{briefRevision(revision)}</code>
                ),
            },
          ]}
        />
      </div>
    </Card>
  )
}

/**
 * Short form of a revision. It contains the sequence number, and as much of the epoch as is needed to
 * distinguish two epochs.
 */
function briefRevision(revision: string): string {
  const dot = revision.lastIndexOf('.')
  return dot <= BRIEF_LENGTH ? revision : `${revision.slice(0, BRIEF_LENGTH)}…${revision.slice(dot)}`
}
