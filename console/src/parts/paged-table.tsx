/** A paginated list, shown as a table. On a narrow screen, each row is shown as a block. */
import { Fragment, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import type { Pages } from '../interface/pages.ts'
import type { See } from '../interface/seen-pages.ts'
import { useSpoken } from '../texts/texts.tsx'
import { Action } from './action.tsx'
import { ProblemNote } from './problem-note.tsx'

export interface Column<Item> {
  readonly id: string
  readonly header: string
  readonly cell: (item: Item) => ReactNode
  /** Whether the column contains actions. Such a column is the last one and has no heading. */
  readonly isActions?: boolean
}

/** Details below a row. They are rendered when the user opens them. */
interface RowDetail<Item> {
  /** Text of the button: `Why?` */
  readonly trigger: string
  /** Name of the button for screen readers. It includes the name of the row. */
  readonly label: (item: Item) => string
  readonly content: (item: Item) => ReactNode
}

interface Look<Item> {
  readonly columns: readonly Column<Item>[]
  readonly rowKey: (item: Item) => string
  readonly detail?: RowDetail<Item>
}

/** The first column identifies the row. `empty` is shown if the list is empty. */
export function PagedTable<Item>({
  label,
  pages,
  empty,
  ...look
}: Look<Item> & {
  readonly label: string
  readonly pages: Pages<Item>
  readonly empty: ReactNode
}) {
  const { texts, number } = useSpoken()
  const { items, total } = pages
  if (pages.error !== null && items.length === 0) return <ProblemNote error={pages.error} />
  if (pages.isLoading) return <Skeleton />
  const more = pages.hasMore ? (
    <Action onPress={pages.loadMore} isPending={pages.isLoadingMore}>
      {texts.parts.more}
    </Action>
  ) : null
  if (items.length === 0) {
    return (
      <div className="stack">
        <div className="empty">{empty}</div>
        {more}
        <ProblemNote error={pages.error} />
      </div>
    )
  }
  return (
    <div className="stack">
      <table className="listed" aria-label={label}>
        <thead>
          <tr>
            {look.columns.map(({ id, header, isActions }) => (
              <th key={id} scope="col">
                {isActions ? <span className="heard">{header}</span> : header}
              </th>
            ))}
            {look.detail === undefined ? null : (
              <th scope="col">
                <span className="heard">{look.detail.trigger}</span>
              </th>
            )}
          </tr>
        </thead>
        {(pages.parts ?? [items]).map((part, page) => (
          // The index is used as the key, because pages have no other stable identity.
          <PartRows key={page} page={page} see={pages.see}>
            {part.map(item => (
              <Row key={look.rowKey(item)} item={item} {...look} />
            ))}
          </PartRows>
        ))}
      </table>
      <div className="row apart">
        <span className="soft small" aria-live="polite">
          {total === null
            ? texts.parts.shown(number(items.length))
            : texts.parts.shownOf(number(items.length), number(total))}
        </span>
        {more}
      </div>
      <ProblemNote error={pages.error} />
    </div>
  )
}

/** Rows of one page. Reports whether at least one of them is visible. */
function PartRows({
  page,
  see,
  children,
}: {
  readonly page: number
  readonly see: See | undefined
  readonly children: ReactNode
}) {
  const body = useRef<HTMLTableSectionElement>(null)
  useEffect(() => {
    if (see === undefined || body.current === null) return
    const observer = new IntersectionObserver(entries => see(page, entries.at(-1)!.isIntersecting))
    observer.observe(body.current)
    return () => {
      observer.disconnect()
      see(page, false)
    }
  }, [page, see])
  return <tbody ref={body}>{children}</tbody>
}

function Row<Item>({ item, columns, detail }: Omit<Look<Item>, 'rowKey'> & { readonly item: Item }) {
  const [isOpen, setIsOpen] = useState(false)
  const id = useId()
  return (
    <Fragment>
      <tr {...(isOpen ? { className: 'open' } : {})}>
        {columns.map(({ id: column, header, cell, isActions }, index) =>
          index === 0 ? (
            <th key={column} scope="row">
              {cell(item)}
            </th>
          ) : (
            <td key={column} {...(isActions ? { className: 'actions' } : { 'data-column': header })}>
              {cell(item)}
            </td>
          ),
        )}
        {detail === undefined ? null : (
          <td className="actions">
            <Action
              kind="quiet"
              isSmall
              aria-expanded={isOpen}
              {...(isOpen ? { 'aria-controls': id } : {})}
              aria-label={detail.label(item)}
              onPress={() => setIsOpen(!isOpen)}
            >
              {detail.trigger} <span aria-hidden="true">{isOpen ? '▴' : '▾'}</span>
            </Action>
          </td>
        )}
      </tr>
      {detail === undefined || !isOpen ? null : (
        <tr className="detail" id={id}>
          <td colSpan={columns.length + 1}>{detail.content(item)}</td>
        </tr>
      )}
    </Fragment>
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
