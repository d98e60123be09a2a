/** Expiration time of a grant: input and display. */
import { useState } from 'react'
import type { FieldProblem } from '../interface/problem.ts'
import { useSpoken, useTexts } from '../texts/texts.tsx'
import { Choice, TextInput } from './fields.tsx'
import { isoDateTime, localDateTime } from './date-time.ts'
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

/**
 * `value` is a time in RFC 3339, or null if the grant does not expire. `initial` is the preselected time, or
 * null for none.
 */
export function EndInput({
  initial = null,
  onChange,
  problem,
}: {
  readonly initial?: string | null
  readonly onChange: (value: string | null) => void
  readonly problem?: FieldProblem | null
}) {
  const texts = useTexts().parts
  const [span, setSpan] = useState<Span>(initial === null ? 'never' : 'moment')
  const [moment, setMoment] = useState(initial === null ? '' : localDateTime(initial))
  const choose = (chosen: string): void => {
    const next = chosen as Span
    setSpan(next)
    if (next === 'never') onChange(null)
    else if (next !== 'moment') onChange(new Date(Date.now() + SPANS[next]).toISOString())
    else onChange(isoDateTime(moment))
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
            onChange(isoDateTime(value))
          }}
          problem={problem}
        />
      ) : null}
    </div>
  )
}

/** Renders nothing if the grant does not expire. */
export function EndText({ end }: { readonly end: string | undefined }) {
  const { texts, moment } = useSpoken()
  if (end === undefined) return <span className="soft">{texts.parts.lasts}</span>
  const isSoon = new Date(end).getTime() - Date.now() < SPANS.day
  return <Badge {...(isSoon ? { kind: 'warn' as const } : {})}>{texts.parts.until(moment(end))}</Badge>
}
