/** Lets the user select the access level of a key, from the highest. */
import { isOfTenants, type TenantLevel } from '../../members/grant-draft.ts'
import { Choice } from '../../parts/fields.tsx'
import { type Level, LEVELS } from '../../session/held.ts'
import { useTexts } from '../../texts/texts.tsx'
import type { ApiKey } from './keys.ts'

/** Levels of new keys. Those of tenants are only for keys of environments. */
export type KeyLevel = Level | TenantLevel

export function useLevelText(): (level: KeyLevel) => string {
  const { members, operations } = useTexts()
  return level => (isOfTenants(level) ? members.tenantLevels[level] : operations.keys.levels[level])
}

export function LevelChoice<Chosen extends KeyLevel>({
  kind,
  value,
  more = [],
  onChange,
}: {
  readonly kind: ApiKey['object_type']
  readonly value: Chosen
  /** Further levels, after the others. */
  readonly more?: readonly Chosen[]
  readonly onChange: (level: Chosen) => void
}) {
  const texts = useTexts().operations.keys
  const text = useLevelText()
  // Only keys of environments make decisions.
  const levels = LEVELS.filter(level => level !== 'decide' || kind === 'env').toReversed()
  return (
    <Choice
      label={texts.level}
      value={value}
      onChange={chosen => onChange(chosen as Chosen)}
      options={[...levels, ...more].map(level => ({ id: level, text: text(level) }))}
    />
  )
}
