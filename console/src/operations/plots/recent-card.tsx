/** Plots of the last minutes of a node. */
import { useState } from 'react'
import { Problem } from '../../interface/problem.ts'
import { Choice } from '../../parts/fields.tsx'
import { Card } from '../../parts/page.tsx'
import { Skeleton } from '../../parts/paged-table.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { Plot } from './plot.tsx'
import { PLOTS } from './plot-list.ts'
import { type Recent, useRecent } from './recent.ts'

export default function RecentCard() {
  const texts = useTexts().operations.recent
  const { data, error } = useRecent()
  const [chosen, setChosen] = useState<string | null>(null)
  const answers = data ?? []
  const shown = answers.find(({ node }) => node.id === chosen) ?? answers[0]
  if (error instanceof Problem && error.status === 403) {
    return (
      <Card title={texts.title}>
        <div className="note warn">{texts.needsOrganization}</div>
      </Card>
    )
  }
  return (
    <Card title={texts.title}>
      <p className="soft small">{texts.lead}</p>
      <ProblemNote error={error} />
      {answers.length > 1 ? (
        <Choice
          label={texts.node}
          description={texts.several}
          value={shown!.node.id}
          onChange={setChosen}
          options={answers.map(({ node: { id, name } }) => ({ id, text: name, note: id.slice(0, 8) }))}
        />
      ) : null}
      {shown === undefined ? error === null ? <Skeleton /> : null : <PlotsOf recent={shown} />}
    </Card>
  )
}

function PlotsOf({ recent: { node, samples } }: { readonly recent: Recent }) {
  const texts = useTexts().operations.recent
  const last = samples.at(-1)
  if (last === undefined) return <p className="empty">{texts.none}</p>
  return (
    <>
      {last.connections === null ? <div className="note warn">{texts.notCounted}</div> : null}
      <div className="plots">
        {PLOTS.map(plot => (
          <Plot key={`${node.id} ${plot.name}`} plot={plot} samples={samples} />
        ))}
      </div>
    </>
  )
}
