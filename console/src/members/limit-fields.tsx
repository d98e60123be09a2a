/** Fields for the limits of a grant or key: its tenants, and the roles that its holder gives and takes. */
import { TextInput } from '../parts/fields.tsx'
import { useTexts } from '../texts/texts.tsx'
import { errorAbout, listed } from './grant-draft.ts'

export interface Limits {
  /** Keys of tenants, separated by commas. */
  readonly tenants: string
  /** Roles, separated by commas. */
  readonly roles: string
}

export function LimitFields({
  limits,
  hasRoles,
  onChange,
  problem,
}: {
  readonly limits: Limits
  readonly hasRoles: boolean
  readonly onChange: (limits: Limits) => void
  readonly problem: unknown
}) {
  const texts = useTexts().members
  const { tenants, roles } = limits
  return (
    <>
      <TextInput
        label={texts.tenants}
        description={texts.tenantsHelp}
        value={tenants}
        onChange={typed => onChange({ tenants: typed, roles })}
        isRequired
        problem={errorAbout(problem, 'tenants', listed(tenants))}
      />
      {hasRoles ? (
        <TextInput
          label={texts.roles}
          description={texts.rolesHelp}
          value={roles}
          onChange={typed => onChange({ tenants, roles: typed })}
          problem={errorAbout(problem, 'roles', listed(roles))}
        />
      ) : null}
    </>
  )
}
