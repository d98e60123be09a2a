/** A path as a drawing and as text. */
import { useRef } from 'react'
import { Link } from 'wouter'
import { resourceName } from '../explanation/explained.ts'
import type { Stop } from '../explanation/stops.ts'
import type { Way } from '../explanation/way.ts'
import { EndText } from '../parts/ends.tsx'
import { Badge } from '../parts/page.tsx'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { addressOf } from '../shell/links.ts'
import { useLayout, WayDrawing } from './way-drawing.tsx'

export function WayTold({
  way,
  outcome,
  hasLinks = true,
}: {
  readonly way: Way
  readonly outcome: 'allow' | 'deny'
  /** True if the nodes link to their pages. */
  readonly hasLinks?: boolean
}) {
  const { questions: texts, explanation } = useTexts()
  const room = useRef<HTMLDivElement>(null)
  const layout = useLayout(way, room)
  const [first, last] = [way.stops[0], way.stops.at(-1)]
  if (first === undefined || last === undefined) return null
  return (
    <div className={`way-told ${layout?.isLying === false ? 'hanging' : ''}`} ref={room}>
      {layout === null ? null : (
        <WayDrawing
          way={way}
          layout={layout}
          outcome={outcome}
          label={texts.pathPicture(nameOf(first), nameOf(last))}
        />
      )}
      <div className="stack">
        <ol className="way-steps">
          {way.legs.map(({ sentence, state, end }, index) => (
            <li key={index} className={state}>
              <span>
                {sentence} {state === 'missing' ? <Badge kind="deny">{explanation.way.missing}</Badge> : null}
                {end === undefined ? null : <EndText end={end} />}
              </span>
            </li>
          ))}
        </ol>
        {hasLinks ? <StopLinks stops={way.stops} /> : null}
      </div>
    </div>
  )
}

function StopLinks({ stops }: { readonly stops: readonly Stop[] }) {
  const texts = useTexts().questions
  const environment = useCurrentEnvironment()
  const links = new Map(
    stops.flatMap(stop => {
      const address = addressOf(environment, stop)
      return address === null ? [] : [[address, nameOf(stop)] as const]
    }),
  )
  return (
    <div className="row way-links">
      <span className="soft small">{texts.openThese}</span>
      {[...links].map(([address, name]) => (
        <Link key={address} href={address} className="key">
          {name}
        </Link>
      ))}
    </div>
  )
}

function nameOf({ kind, type, key }: Stop): string {
  return kind === 'instance' && type !== undefined ? resourceName({ type, key }) : key
}
