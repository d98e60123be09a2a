/** A list that comes in pages, as a table; on a telephone each row becomes a block. */
import type { ReactNode } from 'react'
import type { Pages } from '../interface/pages.ts'
import { useSpoken } from '../texts/texts.tsx'
import { Action } from './action.tsx'
import { ProblemNote } from './problem-note.tsx'

export interface Column<Item> {
  readonly id: string
  readonly header: string
  readonly cell: (item: Item) => ReactNode
  /** What is done with a row: at its end, without a name above. */
  readonly isActions?: boolean
}

/** The first column names the row. `empty`: what to read where there is nothing. */
export function PagedTable<Item>({
  label,
  pages,
  columns,
  rowKey,
  empty,
}: {
  readonly label: string
  readonly pages: Pages<Item>
  readonly columns: readonly Column<Item>[]
  readonly rowKey: (item: Item) => string
  readonly empty: ReactNode
}) {
  const { texts, number } = useSpoken()
  const { items, total } = pages
  if (pages.error !== null && items.length === 0) return <ProblemNote error={pages.error} />
  if (pages.isLoading) return <Skeleton />
  if (items.length === 0) return <div className="empty">{empty}</div>
  return (
    <div className="stack">
      <table className="listed" aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ id, header, isActions }) => (
              <th key={id} scope="col">
                {isActions ? <span className="heard">{header}</span> : header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map(item => (
            <tr key={rowKey(item)}>
              {columns.map(({ id, header, cell, isActions }, index) =>
                index === 0 ? (
                  <th key={id} scope="row">
                    {cell(item)}
                  </th>
                ) : (
                  <td key={id} {...(isActions ? { className: 'actions' } : { 'data-column': header })}>
                    {cell(item)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
      <div className="row apart">
        <span className="soft small" aria-live="polite">
          {total === null
            ? texts.parts.shown(number(items.length))
            : texts.parts.shownOf(number(items.length), number(total))}
        </span>
        {pages.hasMore ? (
          <Action onPress={pages.loadMore} isPending={pages.isLoadingMore}>
            {texts.parts.more}
          </Action>
        ) : null}
      </div>
      <ProblemNote error={pages.error} />
    </div>
  )
}

export function Skeleton() {
  const { parts } = useSpoken().texts
  return (
    <div className="stack" role="status" aria-label={parts.loading}>
      <div className="skeleton" />
      <div className="skeleton" />
      <div className="skeleton" />
    </div>
  )
}
