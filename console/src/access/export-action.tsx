/**
 * Exports a list to a file. The browser requests and writes one page after the other. The button shows the
 * progress and can stop the export.
 */
import { useEffect, useRef, useState } from 'react'
import { Action } from '../parts/action.tsx'
import { download } from '../parts/download.ts'
import { ProblemNote } from '../parts/problem-note.tsx'
import { useSpoken } from '../texts/texts.tsx'
import { type Cell, csvFile, ROWS_MAX } from './csv.ts'

type State =
  | { readonly is: 'idle' | 'canceled' }
  | { readonly is: 'writing'; readonly rows: number }
  | { readonly is: 'written'; readonly rows: number; readonly isCut: boolean; readonly file: string }
  | { readonly is: 'failed'; readonly problem: unknown }

/** `label` is the name of the list for screen readers. `pages` has its rows, in the columns of `header`. */
export function ExportAction({
  label,
  file,
  header,
  pages,
}: {
  readonly label: string
  readonly file: string
  readonly header: readonly string[]
  readonly pages: (signal: AbortSignal) => AsyncIterable<readonly (readonly Cell[])[]>
}) {
  const { texts, number } = useSpoken()
  const [state, setState] = useState<State>({ is: 'idle' })
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  const write = async (): Promise<void> => {
    const stopped = new AbortController()
    running.current = stopped
    setState({ is: 'writing', rows: 0 })
    try {
      const onRows = (rows: number): void => {
        stopped.signal.throwIfAborted()
        setState({ is: 'writing', rows })
      }
      const written = await csvFile(header, pages(stopped.signal), { onRows })
      stopped.signal.throwIfAborted()
      download(written.file, file)
      setState({ is: 'written', rows: written.rows, isCut: written.isCut, file })
    } catch (problem) {
      setState(stopped.signal.aborted ? { is: 'canceled' } : { is: 'failed', problem })
    }
  }
  const labels = texts.access.export
  const textOf = (of: State): string => {
    if (of.is === 'canceled') return labels.canceled
    if (of.is === 'writing') return labels.writing(number(of.rows))
    if (of.is !== 'written') return ''
    return of.isCut ? labels.cut(number(ROWS_MAX), of.file) : labels.written(number(of.rows), of.file)
  }
  return (
    <div className="export">
      <div className="row">
        <Action isSmall isPending={state.is === 'writing'} onPress={() => void write()} aria-label={label}>
          {labels.start}
        </Action>
        {state.is === 'writing' ? (
          <Action isSmall onPress={() => running.current?.abort()}>
            {texts.parts.cancel}
          </Action>
        ) : null}
      </div>
      <span className="soft small" role="status">
        {textOf(state)}
      </span>
      {state.is === 'failed' ? <ProblemNote error={state.problem} /> : null}
    </div>
  )
}
