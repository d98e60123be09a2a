/** Shows the position of a group in the tree, and the access that its members get. */
import { Fragment } from 'react'
import { Link } from 'wouter'
import { useCurrentEnvironment } from '../shell/current-environment.tsx'
import { useTexts } from '../texts/texts.tsx'
import { type Ancestors, chainOf, useAncestors } from './ancestors.ts'
import { type Group, referenceOf } from './group-calls.ts'

export function Overview({ group }: { readonly group: Group }) {
  const texts = useTexts().groups
  const name = referenceOf(group)
  const ancestors = useAncestors(name)
  if (ancestors === undefined) return null
  if (ancestors.parents.length === 0) return <p className="soft">{texts.atTop(name)}</p>
  const granted = ancestors.above.filter(({ roles }) => roles.length > 0)
  return (
    <div className="stack tight">
      <Crumbs name={name} ancestors={ancestors} />
      <p>{granted.length === 0 ? texts.getNothing(name) : texts.getThrough(name)}</p>
      {granted.length === 0 ? null : (
        <ul className="gained">
          {granted.map(({ name: through, roles }) =>
            roles.map(({ role, object }) => (
              <li key={`${through} ${role} ${object}`}>
                <strong>{role}</strong> {texts.onObject} <code>{object}</code>{' '}
                <span className="soft">{texts.through(through)}</span>
              </li>
            )),
          )}
        </ul>
      )}
      {ancestors.isPart ? <p className="soft small">{texts.isPart}</p> : null}
    </div>
  )
}

/**
 * Breadcrumbs from the top-level group down to this group. If a group has several parents, the breadcrumbs
 * begin with these parents, side by side.
 */
function Crumbs({ name, ancestors }: { readonly name: string; readonly ancestors: Ancestors }) {
  const texts = useTexts().groups
  const environment = useCurrentEnvironment()
  return (
    <nav aria-label={texts.whereOf(name)}>
      <ol className="crumbs">
        {chainOf(ancestors).map(step => (
          <li key={step.join(' ')}>
            {step.map((each, index) => (
              <Fragment key={each}>
                {index === 0 ? null : ', '}
                <Link href={environment.to('groups', each)}>{each}</Link>
              </Fragment>
            ))}
          </li>
        ))}
        <li aria-current="page">{name}</li>
      </ol>
    </nav>
  )
}
