/**
 * Result of a check. It shows the decision, its reason, and the path that allows access or would allow it
 * except for one condition.
 */
import { useEffect, useRef, useState } from 'react'
import { resourceName } from '../explanation/explained.ts'
import { endOfPath, type Path, pathOfAllow } from '../explanation/path.ts'
import { EndText } from '../parts/ends.tsx'
import { Card } from '../parts/page.tsx'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useSpoken } from '../texts/texts.tsx'
import { useType } from './use-type.ts'
import type { Explanation } from './explanation.ts'
import { NearMisses } from './near-misses.tsx'
import { ResultBySource } from './result-by-source.tsx'
import { Rules } from './rules.tsx'
import { Sharing } from './sharing.tsx'
import { PathView } from './path-view.tsx'
import { hintsOf, whySentence } from './why.ts'

export function Answer({ explanation }: { readonly explanation: Explanation }) {
  const { texts: all } = useSpoken()
  const texts = all.questions
  const { explained } = explanation
  const path = explained.allow ? pathOfAllow(explained, all.explanation) : null
  return (
    <>
      <DecisionCard explanation={explanation} path={path} />
      {path === null ? null : (
        <Card title={texts.path}>
          <PathView path={path} outcome="allow" />
        </Card>
      )}
      {explained.allow ? null : <NearMisses debug={explained.debug} />}
      <Rules {...explained} />
      <ResultBySource {...explained} />
    </>
  )
}

function DecisionCard({
  explanation,
  path,
}: {
  readonly explanation: Explanation
  readonly path: Path | null
}) {
  const { texts: all, moment } = useSpoken()
  const texts = all.questions
  const { explained, revision, askedAt } = explanation
  const { allow, debug } = explained
  const { request } = debug
  const type = useType(request.resource.type)
  const { live } = useCurrentEnvironment()
  const change = useChange(allow)
  return (
    <section className={`card verdict ${allow ? 'allow' : 'deny'}`}>
      <div className="verdict-head">
        <VerdictMark allow={allow} />
        <div className="grow">
          <h2>{allow ? texts.allow : texts.deny}</h2>
          <p className="mono key">
            {texts.mayQuestion(request.user.key, request.action, resourceName(request.resource))}
          </p>
        </div>
        <Sharing />
      </div>
      <p className="why">{whySentence(explanation, all)}</p>
      {hintsOf(explanation, type, all).map(hint => (
        <p key={hint}>{hint}</p>
      ))}
      {change === null ? null : <p className="badge warn">{texts.changed[change]}</p>}
      <dl className="verdict-facts">
        <div>
          <dt>{texts.tenantIs}</dt>
          <dd className="key">{request.tenant}</dd>
        </div>
        {allow && path !== null ? (
          <div>
            <dt>{texts.ends}</dt>
            <dd>{endOfPath(path) === null ? texts.lasts : <EndText end={endOfPath(path) ?? undefined} />}</dd>
          </div>
        ) : null}
        <div>
          <dt>{texts.askedAt}</dt>
          <dd>{moment(askedAt)}</dd>
        </div>
        {revision === null ? null : (
          <div title={`${texts.revisionHelp} ${revision}`}>
            <dt>{texts.revision}</dt>
            <dd>{revision.split('.').at(-1)}</dd>
          </div>
        )}
      </dl>
      {live === 'live' ? <p className="small">{texts.followed}</p> : null}
    </section>
  )
}

function VerdictMark({ allow }: { readonly allow: boolean }) {
  return (
    <svg className="verdict-mark" viewBox="0 0 48 48" aria-hidden="true">
      <circle cx="24" cy="24" r="22" />
      <path d={allow ? 'M14 24.5l7 7 13-15' : 'M16 16l16 16M32 16l-16 16'} />
    </svg>
  )
}

/** Returns how the decision has changed while it was displayed. Null if it has not changed. */
function useChange(allow: boolean): 'toAllow' | 'toDeny' | null {
  const before = useRef(allow)
  const [change, setChange] = useState<'toAllow' | 'toDeny' | null>(null)
  useEffect(() => {
    if (before.current === allow) return
    before.current = allow
    setChange(allow ? 'toAllow' : 'toDeny')
  }, [allow])
  return change
}
