/**
 * Explains why a user has access: shows one path through the stored facts, as text and as a drawing. The
 * explanation is requested when the user opens it.
 */
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { PathNode } from '../explanation/path-nodes.ts'
import { type Path, pathOfAllow, whyAllowed } from '../explanation/path.ts'
import { answerOf, service } from '../interface/client.ts'
import { EndText } from '../parts/ends.tsx'
import { Skeleton } from '../parts/paged-table.tsx'
import { ProblemNote } from '../parts/problem-note.tsx'
import { addressOf, GROUP, viewAddress } from '../shell/links.ts'
import { type CurrentEnvironment, useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'

interface Asked {
  readonly user: string
  readonly action: string
  readonly type: string
  readonly instance: string
  /** Tenant of the check. If it is empty, the tenant in which the instance is stored is used. */
  readonly tenant: string
}

export function Explained({ asked }: { readonly asked: Asked }) {
  const texts = useTexts()
  const { key, header } = useCurrentEnvironment()
  const { data, error } = useQuery({
    queryKey: key('any', 'explained', asked),
    queryFn: ({ signal }) =>
      answerOf(service.POST('/allowed/explain', { body: questionOf(asked), headers: header, signal })),
  })
  if (data === undefined) return error === null ? <Skeleton /> : <ProblemNote error={error} />
  if (!data.allow) return <p className="note warn">{texts.access.why.noMore}</p>
  const path = pathOfAllow(data, texts.explanation)
  return (
    <div className="explained stack tight">
      <p>{whyAllowed(data, texts.explanation)}</p>
      {path === null ? null : <PathShown path={path} action={asked.action} />}
    </div>
  )
}

function questionOf({ user, action, type, instance, tenant }: Asked) {
  const resource = { type, key: instance, ...(tenant === '' ? {} : { tenant }) }
  return { user: { key: user }, action, resource }
}

function PathShown({ path: { nodes, edges }, action }: { readonly path: Path; readonly action: string }) {
  const labels = useTexts().access.why
  return (
    <>
      <ol className="chain" aria-label={labels.chain}>
        {nodes.map((node, index) => (
          <li key={index}>
            {index === 0 ? null : <EdgeShown edge={edges[index - 1]!} />}
            <NodeShown node={node} action={action} />
          </li>
        ))}
      </ol>
      <ul className="sentences">
        {edges.map(({ sentence, end }, index) => (
          <li key={index}>
            {sentence} {end === undefined ? null : <EndText end={end} />}
          </li>
        ))}
      </ul>
    </>
  )
}

function EdgeShown({ edge: { text, notes, end } }: { readonly edge: Path['edges'][number] }) {
  return (
    <span className="by">
      <span>{text}</span>
      {notes.map(note => (
        <span key={note}>{note}</span>
      ))}
      {end === undefined ? null : <EndText end={end} />}
    </span>
  )
}

/** One node of the path. If a page about the node exists, the node is a link to it. */
function NodeShown({ node, action }: { readonly node: PathNode; readonly action: string }) {
  const environment = useCurrentEnvironment()
  const { kind, kindText, type, key, role } = node
  const look = `thing ${type === GROUP ? 'group' : kind}`
  const inside = (
    <>
      <span className="kind">{kindText}</span>
      <span className="key">{key}</span>
      {role === undefined ? null : <span className="role">{role}</span>}
    </>
  )
  const to = addressWithAction(environment, node, action)
  if (to === null) return <span className={look}>{inside}</span>
  return (
    <Link href={to} className={look}>
      {inside}
    </Link>
  )
}

/**
 * Address of the page about a user or resource, with the same action as its filter, so that the user can
 * continue from there.
 */
function addressWithAction(environment: CurrentEnvironment, node: PathNode, action: string): string | null {
  const { kind, type, key } = node
  if (kind === 'user') return viewAddress(environment, 'users', { user: key, action })
  if (kind === 'instance' && type !== undefined && type !== GROUP)
    return viewAddress(environment, 'resources', { type, instance: key, action })
  return addressOf(environment, node)
}
