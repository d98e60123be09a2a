/**
 * One plot. It shows a description, the lines, their values at the cursor or at the last sample, and a table
 * of all values.
 */
import { useEffect, useId, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useTexts } from '../../texts/texts.tsx'
import { useSpokenFigures } from '../spoken-figures.ts'
import { type Colors, columnsOf, HEIGHT_PX, optionsOf } from './drawing.ts'
import type { Line, PlotKind } from './plot-list.ts'
import type { Sample } from './recent.ts'
import { SampleTable } from './sample-table.tsx'
import { useThemeChanges } from './theme-changes.ts'

export function Plot({ plot, samples }: { readonly plot: PlotKind; readonly samples: readonly Sample[] }) {
  const texts = useTexts().operations.recent
  const { title, caption, series } = texts.plots[plot.name]
  const figures = useSpokenFigures()
  const [cursor, setCursor] = useState<number | null>(null)
  const figure = useRef<HTMLElement>(null)
  const canvas = useRef<HTMLDivElement>(null)
  const drawn = useRef<uPlot>(null)
  const columns = useMemo(() => columnsOf(plot, samples), [plot, samples])
  const latest = useRef(columns)
  const theme = useThemeChanges()
  const id = useId()

  useEffect(() => {
    const within = canvas.current!
    const options = optionsOf(plot, {
      colors: colorsIn(figure.current!),
      width: within.clientWidth,
      figures,
      onCursor: setCursor,
    })
    const made = new uPlot(options, latest.current, within)
    drawn.current = made
    const sizes = new ResizeObserver(() => made.setSize({ width: within.clientWidth, height: HEIGHT_PX }))
    sizes.observe(within)
    return () => {
      sizes.disconnect()
      made.destroy()
      drawn.current = null
    }
  }, [plot, figures, theme])
  useEffect(() => {
    latest.current = columns
    drawn.current?.setData(columns)
  }, [columns])

  const shown = samples[cursor ?? samples.length - 1] ?? samples.at(-1)
  const nameOf = ({ name }: Line): string => (series as Readonly<Record<string, string>>)[name]!
  const valueOf = ({ read }: Line, sample: Sample | undefined): string => {
    const value = sample === undefined ? null : read(sample)
    if (value === null) return texts.noValue
    return plot.unit === 'none' ? figures.figure(value) : texts[plot.unit](figures.figure(value))
  }
  const summary = plot.lines.map(line => `${nameOf(line)} ${valueOf(line, samples.at(-1))}`).join(', ')
  return (
    <figure className="plot" ref={figure} aria-labelledby={id}>
      <figcaption>
        <div className="row apart">
          <h3 id={id}>{title}</h3>
          {shown === undefined ? null : (
            <span className="soft small">
              {cursor === null ? texts.latest(figures.clock(shown.at)) : texts.at(figures.clock(shown.at))}
            </span>
          )}
        </div>
        <p className="soft small">{caption}</p>
      </figcaption>
      <ul className="plot-legend small">
        {plot.lines.map(line => (
          <li key={line.name}>
            <svg className={`mark ${line.tone}`} viewBox="0 0 24 8" aria-hidden="true">
              <path d="M1 4h22" {...(line.isDashed ? { strokeDasharray: '6 4' } : {})} />
            </svg>
            {nameOf(line)} <strong>{valueOf(line, shown)}</strong>
          </li>
        ))}
      </ul>
      <div className="plot-canvas" ref={canvas} role="img" aria-label={`${title}: ${summary}`} />
      <SampleTable
        title={title}
        samples={samples}
        columns={plot.lines.map(line => ({
          name: nameOf(line),
          value: sample => valueOf(line, sample),
        }))}
      />
    </figure>
  )
}

/** Colors that elements of the plot currently have on the page. */
function colorsIn(figure: HTMLElement): Colors {
  const { color, borderTopColor } = getComputedStyle(figure.querySelector('.plot-canvas')!)
  const marks = [...figure.querySelectorAll('.mark')]
  return { ink: color, grid: borderTopColor, lines: marks.map(mark => getComputedStyle(mark).color) }
}
