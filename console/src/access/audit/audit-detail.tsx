/** Shows all fields of one audit log entry. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useSpoken, useTexts } from '../../texts/texts.tsx'
import { viewAddress } from '../../shell/links.ts'
import { ADMIN, useKeyName } from './keys.ts'
import { causeOf } from './operations.ts'
import { type Entry, expiredGrants, namedIn } from './entry-summary.ts'
import { Actor } from './actor.tsx'

export function AuditDetail({ entry }: { readonly entry: Entry }) {
  const { texts, number } = useSpoken()
  const labels = texts.access.audit
  const environment = useCurrentEnvironment()
  const { operation, api_key_id: id, request_id: request, created_at: at, sequence } = entry
  const cause = causeOf(operation)
  const { actor } = entry
  const isOfAdminKey = id === null && request !== '' && actor?.kind !== 'member'
  return (
    <div className="entry stack tight">
      <p>{labels.causeSentences[cause]}</p>
      <dl className="facts">
        <Fact name={labels.operation}>
          <Link href={viewAddress(environment, 'audit', { operation })}>
            <code>{operation}</code>
          </Link>
        </Fact>
        <Fact name={labels.exactly}>
          <code>{at}</code>
        </Fact>
        {id !== null && !actor ? null : (
          <Fact name={labels.who}>
            <Actor entry={entry} /> {isOfAdminKey ? <SameKey id={ADMIN} /> : null}
            {actor ? <SameActor actor={actor} /> : null}
          </Fact>
        )}
        {id === null ? null : (
          <Fact name={labels.key}>
            <KeyShown id={id} /> <SameKey id={id} />
          </Fact>
        )}
        {request === '' ? null : (
          <Fact name={labels.request}>
            <code>{request}</code>{' '}
            <Link className="small" href={viewAddress(environment, 'audit', { request })}>
              {labels.sameRequest}
            </Link>
          </Fact>
        )}
        <Fact name={labels.commit}>{number(sequence)}</Fact>
      </dl>
      <h3>{cause === 'expired' ? labels.ended : labels.asked}</h3>
      {cause === 'expired' ? <Expired entry={entry} /> : <Asked entry={entry} />}
      {entry.is_input_cut ? <p className="note warn">{labels.cut}</p> : null}
    </div>
  )
}

function SameKey({ id }: { readonly id: string }) {
  const labels = useTexts().access.audit
  const environment = useCurrentEnvironment()
  return (
    <Link className="small" href={viewAddress(environment, 'audit', { key: id })}>
      {labels.sameKey}
    </Link>
  )
}

/** Link to the entries of the same member, or with the same claimed name. */
function SameActor({ actor }: { readonly actor: NonNullable<Entry['actor']> }) {
  const labels = useTexts().access.audit
  const environment = useCurrentEnvironment()
  const filters = actor.kind === 'member' ? { member: actor.member_id } : { actor: actor.name }
  return (
    <Link className="small" href={viewAddress(environment, 'audit', filters)}>
      {actor.kind === 'member' ? labels.sameMember : labels.sameActor}
    </Link>
  )
}

function KeyShown({ id }: { readonly id: string }) {
  const name = useKeyName(id)
  return (
    <>
      {name === null ? null : <span>{name} </span>}
      <code>{id}</code>
    </>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Expired({ entry }: { readonly entry: Entry }) {
  const { texts, moment } = useSpoken()
  return (
    <ul className="sentences">
      {expiredGrants(entry).map(({ who, what, where, end }, index) => (
        <li key={index}>
          <span className="key">{texts.access.audit.grant(who, what, where)}</span>{' '}
          {end === '' ? null : (
            <time className="soft small" dateTime={end} title={end}>
              {texts.access.audit.endedAt(moment(end))}
            </time>
          )}
        </li>
      ))}
    </ul>
  )
}

function Asked({ entry }: { readonly entry: Entry }) {
  const { texts } = useSpoken()
  const named = namedIn(entry)
  if (named.length === 0) return <p className="soft">{texts.access.audit.noDetails}</p>
  return (
    <dl className="facts">
      {named.map(([name, value], index) => (
        <Fact key={index} name={name}>
          {typeof value === 'object' ? (
            <pre className="scrolls" role="region" aria-label={name} tabIndex={0}>
              {JSON.stringify(value, null, 2)}
            </pre>
          ) : (
            <span className="key">{String(value)}</span>
          )}
        </Fact>
      ))}
    </dl>
  )
}
