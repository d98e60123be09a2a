/** Badge that shows a good or bad state with a color, a mark and a word. */
import { Badge } from '../parts/page.tsx'

export function StandingBadge({
  isGood,
  good,
  bad,
}: {
  readonly isGood: boolean
  readonly good: string
  readonly bad: string
}) {
  return (
    <Badge kind={isGood ? 'allow' : 'deny'}>
      <span aria-hidden="true">{isGood ? '✓' : '✕'}</span> {isGood ? good : bad}
    </Badge>
  )
}
