/**
 * Table of permissions. Pressing a cell grants or revokes its permission. The arrow keys move the focus, Home
 * and End move it to the ends of a row, and Space presses the cell. A line below the table describes the
 * effect of a press. If a change fails, the cell shows the error.
 */
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from 'react'
import { useProblemText } from '../../parts/problem-note.tsx'
import { useTooLow } from '../../session/level.ts'
import { useTexts } from '../../texts/texts.tsx'
import { CellMark } from './cell-mark.tsx'
import { effectOf, type PermissionCell, stateOf } from './permission-cell.ts'

interface GridRow {
  readonly key: string
  readonly header: ReactNode
  readonly cells: readonly PermissionCell[]
}

/** Rows with a common heading. If the heading is null, it is not shown. */
interface GridGroup {
  readonly key: string
  readonly header: ReactNode | null
  readonly rows: readonly GridRow[]
}

interface At {
  readonly row: number
  readonly column: number
}

export function PermissionGrid({
  label,
  corner,
  columns,
  groups,
  onToggle,
}: {
  readonly label: string
  readonly corner: string
  readonly columns: readonly { readonly key: string; readonly header: ReactNode }[]
  readonly groups: readonly GridGroup[]
  /** Rejects if the change failed. */
  readonly onToggle: (cell: PermissionCell) => Promise<void>
}) {
  const texts = useTexts().model.matrix
  const reason = useTooLow('write')
  const help = useId()
  const table = useRef<HTMLTableElement>(null)
  const [stop, setStop] = useState<At>({ row: 0, column: 0 })
  const [pointed, setPointed] = useState<PermissionCell | null>(null)
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set())
  const [problems, setProblems] = useState<ReadonlyMap<string, unknown>>(new Map())
  const rows = groups.flatMap(group => group.rows)
  // The row or column that had the focus might have been removed.
  const at = {
    row: Math.min(stop.row, rows.length - 1),
    column: Math.min(stop.column, columns.length - 1),
  }
  const current = pointed ?? rows[at.row]?.cells[at.column] ?? null

  const press = (cell: PermissionCell): void => {
    if (busy.has(cell.id) || reason !== null) return
    setBusy(now => new Set(now).add(cell.id))
    setProblems(now => without(now, cell.id))
    onToggle(cell)
      .catch((problem: unknown) => setProblems(now => new Map(now).set(cell.id, problem)))
      .finally(() => setBusy(now => new Set([...now].filter(id => id !== cell.id))))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = movedBy(event, at, { row: rows.length - 1, column: columns.length - 1 })
    if (next === null) return
    event.preventDefault()
    setStop(next)
    const button = table.current?.querySelector<HTMLElement>(`[data-at="${next.row} ${next.column}"]`)
    button?.focus()
  }

  let row = -1
  return (
    <div className="stack tight">
      <div className="matrix-box" role="region" aria-label={label} tabIndex={0}>
        <table ref={table} role="grid" className="matrix" aria-label={label} onKeyDown={onKeyDown}>
          <thead>
            <tr>
              <th scope="col" className="corner">
                {corner}
              </th>
              {columns.map(({ key, header }) => (
                <th key={key} scope="col">
                  {header}
                </th>
              ))}
            </tr>
          </thead>
          {groups.map(group => (
            <tbody key={group.key}>
              {group.header === null ? null : (
                <tr className="group">
                  <th scope="rowgroup" colSpan={columns.length + 1}>
                    <span className="group-name">{group.header}</span>
                  </th>
                </tr>
              )}
              {group.rows.map(({ key, header, cells }) => {
                row += 1
                const here = row
                return (
                  <tr key={key}>
                    <th scope="row">{header}</th>
                    {cells.map((cell, column) => (
                      <td key={cell.id} role="gridcell">
                        <button
                          type="button"
                          role="checkbox"
                          className="cell"
                          aria-checked={cell.isDirect}
                          aria-disabled={reason !== null}
                          aria-busy={busy.has(cell.id)}
                          aria-label={stateOf(cell, texts)}
                          aria-describedby={help}
                          title={reason ?? effectOf(cell, texts)}
                          data-at={`${here} ${column}`}
                          tabIndex={here === at.row && column === at.column ? 0 : -1}
                          onFocus={() => {
                            setStop({ row: here, column })
                            setPointed(null)
                          }}
                          onPointerEnter={() => setPointed(cell)}
                          onPointerLeave={() => setPointed(null)}
                          onClick={() => press(cell)}
                        >
                          <CellMark isDirect={cell.isDirect} isInherited={cell.through !== null} />
                        </button>
                        <CellProblem error={problems.get(cell.id)} />
                      </td>
                    ))}
                  </tr>
                )
              })}
            </tbody>
          ))}
        </table>
      </div>
      <div className="row apart small matrix-help">
        <span id={help}>{reason ?? (current === null ? '' : effectOf(current, texts))}</span>
        {reason === null ? <span className="soft">{texts.hint}</span> : null}
      </div>
    </div>
  )
}

function CellProblem({ error }: { readonly error: unknown }) {
  const text = useProblemText(error)
  if (text === null) return null
  return (
    <p className="problem-text small" role="alert">
      {text}
    </p>
  )
}

function movedBy({ key, ctrlKey }: KeyboardEvent, { row, column }: At, last: At): At | null {
  const within = (to: At): At => ({
    row: Math.min(last.row, Math.max(0, to.row)),
    column: Math.min(last.column, Math.max(0, to.column)),
  })
  switch (key) {
    case 'ArrowRight':
      return within({ row, column: column + 1 })
    case 'ArrowLeft':
      return within({ row, column: column - 1 })
    case 'ArrowDown':
      return within({ row: row + 1, column })
    case 'ArrowUp':
      return within({ row: row - 1, column })
    case 'Home':
      return { row: ctrlKey ? 0 : row, column: 0 }
    case 'End':
      return { row: ctrlKey ? last.row : row, column: last.column }
    default:
      return null
  }
}

function without(problems: ReadonlyMap<string, unknown>, id: string): ReadonlyMap<string, unknown> {
  return new Map([...problems].filter(([each]) => each !== id))
}
