/** Grants of a member or of a group, each with its origin and, if given, an action. */
import type { ReactNode } from 'react'
import { Badge } from '../parts/page.tsx'
import type { Grant } from '../session/account.ts'
import { useTexts } from '../texts/texts.tsx'
import { levelOf, limitsOf, objectOf } from './grant-words.ts'
import { useTenantNames } from './use-tenant-names.ts'

export function GrantList({
  grants,
  action,
}: {
  readonly grants: readonly Grant[]
  readonly action?: (grant: Grant) => ReactNode
}) {
  const texts = useTexts().members
  if (grants.length === 0) return <span className="soft">{texts.noGrants}</span>
  return (
    <ul className="grants stack tight">
      {grants.map((grant, index) => (
        <li key={index} className="row">
          <Badge {...(grant.access_level === 'admin' ? { kind: 'accent' as const } : {})}>
            {levelOf(grant, texts)}
          </Badge>
          <span className="key">{objectOf(grant, texts)}</span>
          <GrantNotes grant={grant} />
          {action?.(grant)}
        </li>
      ))}
    </ul>
  )
}

/** Note for a person with too many grants of groups. */
export function GrantsCut({ areCut }: { readonly areCut: boolean }) {
  const { grantsCut } = useTexts().members
  return areCut ? <p className="note warn">{grantsCut}</p> : null
}

function GrantNotes({ grant }: { readonly grant: Grant }) {
  const texts = useTexts().members
  const limits = limitsOf(grant, useTenantNames(grant), texts)
  const { via } = grant
  return (
    <>
      {limits === null ? null : <span className="soft small key">{limits}</span>}
      {via === 'own' ? null : <span className="soft small">{texts.via[via]}</span>}
    </>
  )
}
