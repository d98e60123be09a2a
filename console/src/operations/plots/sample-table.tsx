/**
 * Table of all samples of a plot, beginning with the newest. It is the accessible alternative to the drawing,
 * and is rendered when the user opens it.
 */
import { useState } from 'react'
import { useTexts } from '../../texts/texts.tsx'
import { useSpokenFigures } from '../spoken-figures.ts'
import type { Sample } from './recent.ts'

interface Column {
  readonly name: string
  readonly value: (sample: Sample) => string
}

export function SampleTable({
  title,
  samples,
  columns,
}: {
  readonly title: string
  readonly samples: readonly Sample[]
  readonly columns: readonly Column[]
}) {
  const texts = useTexts().operations.recent
  const { clock } = useSpokenFigures()
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary className="small">
        {texts.showTable}
        <span className="heard">: {title}</span>
      </summary>
      {isOpen ? (
        <div className="scrolls samples" tabIndex={0} role="region" aria-label={texts.table(title)}>
          <table className="small">
            <thead>
              <tr>
                <th scope="col">{texts.time}</th>
                {columns.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {samples.toReversed().map(sample => (
                <tr key={sample.at}>
                  <th scope="row">{clock(sample.at)}</th>
                  {columns.map(({ name, value }) => (
                    <td key={name}>{value(sample)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
    </details>
  )
}
