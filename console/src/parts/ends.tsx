/** When a grant ends: how it is chosen, and how it is shown. */
import { useState } from 'react'
import { useSpoken, useTexts } from '../texts/texts.tsx'
import { Choice, TextInput } from './fields.tsx'
import { Badge } from './page.tsx'

const HOUR_MS = 3_600_000
const SPANS = {
  hour: HOUR_MS,
  workday: 8 * HOUR_MS,
  day: 24 * HOUR_MS,
  week: 7 * 24 * HOUR_MS,
  month: 30 * 24 * HOUR_MS,
} as const

type Span = keyof typeof SPANS | 'never' | 'moment'

/** `value`: RFC 3339, or null for what lasts. */
export function EndInput({
  onChange,
  problem,
}: {
  readonly onChange: (value: string | null) => void
  readonly problem?: string | null
}) {
  const texts = useTexts().parts
  const [span, setSpan] = useState<Span>('never')
  const [moment, setMoment] = useState('')
  const choose = (chosen: string): void => {
    const next = chosen as Span
    setSpan(next)
    if (next === 'never') onChange(null)
    else if (next !== 'moment') onChange(new Date(Date.now() + SPANS[next]).toISOString())
    else onChange(rfc3339(moment))
  }
  const spans = ['never', 'hour', 'workday', 'day', 'week', 'month', 'moment'] as const
  return (
    <div className="row ends">
      <Choice
        label={texts.ends}
        value={span}
        onChange={choose}
        options={spans.map(id => ({ id, text: texts.spans[id] }))}
        problem={span === 'moment' ? null : problem}
      />
      {span === 'moment' ? (
        <TextInput
          label={texts.endMoment}
          type="datetime-local"
          value={moment}
          onChange={value => {
            setMoment(value)
            onChange(rfc3339(value))
          }}
          problem={problem}
        />
      ) : null}
    </div>
  )
}

/** A moment of the browser's zone, as an input has it, for the interface. What is none is sent as it is, and refused there. */
function rfc3339(local: string): string {
  const time = new Date(local)
  return Number.isNaN(time.getTime()) ? local : time.toISOString()
}

/** Nothing where the grant lasts. */
export function EndText({ end }: { readonly end: string | null | undefined }) {
  const { texts, moment } = useSpoken()
  if (end === null || end === undefined) return <span className="soft">{texts.parts.lasts}</span>
  const isSoon = new Date(end).getTime() - Date.now() < SPANS.day
  return <Badge {...(isSoon ? { kind: 'warn' as const } : {})}>{texts.parts.until(moment(end))}</Badge>
}
