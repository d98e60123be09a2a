/**
 * Near misses of a denied check. A near miss would have allowed the check except for one condition. The text
 * states what would fix it.
 */
import { type Explained, type NearMiss, type Request, resourceName } from '../explanation/explained.ts'
import { pathOfNearMiss } from '../explanation/near-miss-path.ts'
import type { Words } from '../explanation/path-nodes.ts'
import { ActionLink } from '../parts/action.tsx'
import { Card } from '../parts/page.tsx'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { addressOf } from '../shell/links.ts'
import { PathView } from './path-view.tsx'

export function NearMisses({ debug: { request, rebac } }: Pick<Explained, 'debug'>) {
  const texts = useTexts().explanation
  const { near_misses: misses = [], more_near_misses: more } = rebac
  if (misses.length === 0 && !more) return null
  return (
    <Card title={texts.near.title}>
      <p className="soft">{misses.length === 0 ? texts.near.onlyMore : texts.near.lead}</p>
      {misses.map((miss, index) => (
        <OneMiss key={index} miss={miss} request={request} />
      ))}
      {more && misses.length > 0 ? <p className="soft">{texts.near.more}</p> : null}
    </Card>
  )
}

function OneMiss({ miss, request }: { readonly miss: NearMiss; readonly request: Request }) {
  const all = useTexts()
  const texts = all.explanation
  const environment = useCurrentEnvironment()
  const { type, key } = miss.instance
  const address = addressOf(environment, { kind: 'instance', type, key })
  return (
    <section className="near-miss stack">
      <h3>{titleOf(miss, texts)}</h3>
      <PathView path={pathOfNearMiss(miss, request, texts)} outcome="deny" hasLinks={false} />
      <div className="near-need">
        <span>
          {needOf(miss, request.user.key, texts)}
          {miss.kind === 'other-role' ? <Extending miss={miss} /> : null}
        </span>
        {address === null ? null : (
          <ActionLink to={address} isSmall>
            {all.questions.open(resourceName(miss.instance))}
          </ActionLink>
        )}
      </div>
    </section>
  )
}

/**
 * Hint that another role that the user holds does not include the needed role. Users might expect, for
 * example, that the role of an editor includes the role of a viewer.
 */
function Extending({ miss }: { readonly miss: Extract<NearMiss, { readonly kind: 'other-role' }> }) {
  const texts = useTexts().explanation
  const extending = miss.held_roles.filter(({ extends_needed: isExtending }) => isExtending)
  if (extending.length === 0) return null
  const held = texts.both(extending.map(({ role }) => role))
  return <> {texts.near.extending(held, texts.either(miss.needed_roles))}</>
}

function titleOf(miss: NearMiss, texts: Words): string {
  const on = resourceName(miss.instance)
  if (miss.kind === 'other-role') return texts.near.otherRoleTitle(texts.either(miss.needed_roles), on)
  if (miss.kind === 'guard') return texts.near.guardTitle(on)
  return texts.near.noTupleTitle(miss.derivation.relation, on)
}

function needOf(miss: NearMiss, user: string, texts: Words): string {
  const on = resourceName(miss.instance)
  switch (miss.kind) {
    case 'other-role': {
      const needed = texts.either(miss.needed_roles)
      return miss.instance.type === 'group'
        ? texts.near.needMembership(user, needed, miss.instance.key)
        : texts.near.needOtherRole(user, needed, on)
    }
    case 'guard':
      return texts.near.needGuard(user, texts.both(miss.blocking_roles), on)
    case 'no-tuple':
      return texts.near.needNoTuple(resourceName(miss.held_on), miss.derivation.relation, on)
  }
}
