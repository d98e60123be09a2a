/** Lets the user select the access level of a key, from the highest. */
import { Choice } from '../../parts/fields.tsx'
import { type Level, LEVELS } from '../../session/level.ts'
import { useTexts } from '../../texts/texts.tsx'
import type { ApiKey } from './keys.ts'

export function LevelChoice({
  kind,
  value,
  onChange,
}: {
  readonly kind: ApiKey['object_type']
  readonly value: Level
  readonly onChange: (level: Level) => void
}) {
  const texts = useTexts().operations.keys
  // Only keys of environments make decisions.
  const levels = LEVELS.filter(level => level !== 'decide' || kind === 'env').toReversed()
  return (
    <Choice
      label={texts.level}
      value={value}
      onChange={chosen => onChange(chosen as Level)}
      options={levels.map(level => ({ id: level, text: texts.levels[level] }))}
    />
  )
}
