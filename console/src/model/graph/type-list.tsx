/** The whole model as text, for screen readers and for the text search of the browser. */
import { Link } from 'wouter'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { derivationsOf, isGuarded, relationsOf, rolesOf } from '../model-facts.ts'
import type { ModelType } from '../model-reads.ts'

export function TypeList({ types }: { readonly types: readonly ModelType[] }) {
  const texts = useTexts().model.graph
  const environment = useCurrentEnvironment()
  return (
    <details className="card">
      <summary>{texts.asList}</summary>
      <ul className="stack type-list">
        {types.map(type => {
          const roles = rolesOf(type)
          return (
            <li key={type.key} className="stack tight">
              <Link href={environment.to('model', 'types', type.key)}>{type.name}</Link>
              <span className="small">
                {texts.listActions(Object.keys(type.actions).join(', '))}{' '}
                {texts.listRoles(roles.map(({ key }) => key).join(', '))}
              </span>
              {relationsOf(type)
                .filter(({ isOfGroups }) => !isOfGroups)
                .map(({ key, subject, object }) => (
                  <span key={key} className="small">
                    {texts.relationSentence(subject, key, object)}
                  </span>
                ))}
              {derivationsOf(type)
                .filter(({ isOfGroups }) => !isOfGroups)
                .map(({ from, to, along, guard }) => (
                  <span key={`${from.type}#${from.role} ${along} ${to.role}`} className="small">
                    {texts.derivationSentence(
                      from.role,
                      from.type,
                      to.role,
                      to.type,
                      along,
                      isGuarded({ guard }),
                    )}
                  </span>
                ))}
            </li>
          )
        })}
      </ul>
    </details>
  )
}
