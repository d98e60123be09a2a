/** A path as a drawing and as text. */
import { useRef } from 'react'
import { Link } from 'wouter'
import { resourceName } from '../explanation/explained.ts'
import type { PathNode } from '../explanation/path-nodes.ts'
import type { Path } from '../explanation/path.ts'
import { EndText } from '../parts/ends.tsx'
import { Badge } from '../parts/page.tsx'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { addressOf } from '../shell/links.ts'
import { useLayout, PathDrawing } from './path-drawing.tsx'

export function PathView({
  path,
  outcome,
  hasLinks = true,
}: {
  readonly path: Path
  readonly outcome: 'allow' | 'deny'
  /** True if the nodes link to their pages. */
  readonly hasLinks?: boolean
}) {
  const { questions: texts, explanation } = useTexts()
  const room = useRef<HTMLDivElement>(null)
  const layout = useLayout(path, room)
  const [first, last] = [path.nodes[0], path.nodes.at(-1)]
  if (first === undefined || last === undefined) return null
  return (
    <div className={`path-view ${layout?.isHorizontal === false ? 'vertical' : ''}`} ref={room}>
      {layout === null ? null : (
        <PathDrawing
          path={path}
          layout={layout}
          outcome={outcome}
          label={texts.pathPicture(nameOf(first), nameOf(last))}
        />
      )}
      <div className="stack">
        <ol className="path-steps">
          {path.edges.map(({ sentence, state, end }, index) => (
            <li key={index} className={state}>
              <span>
                {sentence}{' '}
                {state === 'missing' ? <Badge kind="deny">{explanation.path.missing}</Badge> : null}
                {end === undefined ? null : <EndText end={end} />}
              </span>
            </li>
          ))}
        </ol>
        {hasLinks ? <NodeLinks nodes={path.nodes} /> : null}
      </div>
    </div>
  )
}

function NodeLinks({ nodes }: { readonly nodes: readonly PathNode[] }) {
  const texts = useTexts().questions
  const environment = useCurrentEnvironment()
  const links = new Map(
    nodes.flatMap(node => {
      const address = addressOf(environment, node)
      return address === null ? [] : [[address, nameOf(node)] as const]
    }),
  )
  return (
    <div className="row path-links">
      <span className="soft small">{texts.openThese}</span>
      {[...links].map(([address, name]) => (
        <Link key={address} href={address} className="key">
          {name}
        </Link>
      ))}
    </div>
  )
}

function nameOf({ kind, type, key }: PathNode): string {
  return kind === 'instance' && type !== undefined ? resourceName({ type, key }) : key
}
