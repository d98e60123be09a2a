/**
 * Current state of the node that responds. If the node makes no decisions, this state is shown; it is not an
 * error of the page.
 */
import type { ReactNode } from 'react'
import { Card } from '../parts/page.tsx'
import { ProblemNote } from '../parts/problem-note.tsx'
import { useCurrentEnvironmentIfAny } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { useNodes, useRevision, useStanding } from './health.ts'
import { useSpokenFigures } from './spoken-figures.ts'
import { StandingBadge } from './standing-badge.tsx'

export function NowCard() {
  const texts = useTexts().operations.now
  const { span } = useSpokenFigures()
  const environment = useCurrentEnvironmentIfAny()
  const ready = useStanding('/ready')
  const fresh = useStanding('/fresh')
  const { data: list } = useNodes()
  const revision = useRevision(environment)
  const staleMs = list?.nodes.find(({ is_this }) => is_this)?.stale_ms
  const refusal = ready.data?.writeRefusal ?? null
  const reasons = [ready.data?.reason, fresh.data?.reason, refusal].filter(
    reason => typeof reason === 'string',
  )
  return (
    <Card title={texts.title}>
      <dl className="figures standing">
        <Figure name={texts.decisions}>
          {ready.data && <StandingBadge isGood={ready.data.isGood} good={texts.ready} bad={texts.notReady} />}
        </Figure>
        <Figure name={texts.changes}>
          {ready.data?.isGood && (
            <StandingBadge isGood={refusal === null} good={texts.written} bad={texts.notWritten} />
          )}
        </Figure>
        <Figure name={texts.others}>
          {fresh.data && <StandingBadge isGood={fresh.data.isGood} good={texts.fresh} bad={texts.notFresh} />}
        </Figure>
        <Figure name={texts.staleness}>
          {staleMs !== undefined && (staleMs === 0 ? texts.notBehind : span(staleMs))}
        </Figure>
        {environment === null ? null : (
          <Figure name={texts.revision}>
            {typeof revision.data === 'string' && <code>{revision.data}</code>}
          </Figure>
        )}
      </dl>
      {reasons.map(reason => (
        <div key={reason} className="note warn" role="status">
          {texts.serviceMessage(reason)}
        </div>
      ))}
      <ProblemNote error={ready.error ?? fresh.error ?? revision.error} />
    </Card>
  )
}

/** A name and its value. If `children` is false or undefined, the value is not known yet. */
function Figure({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd>{children || '–'}</dd>
    </div>
  )
}
