/** Descriptions of valid keys of maps, for errors about other keys. */
import { Type, type TSchema } from 'typebox'
import { CONDITION_SET_KEY_LENGTH_MAX, SHORT_KEY_LENGTH_MAX } from '#model/limits.ts'
import { ShortKey } from '#model/wire/references.ts'
import { ConditionSetKey } from './condition-set.ts'

/** A name in a map. The schema only requires that it is not empty; the service checks the other rules. */
export const AnyText = Type.String({ pattern: '^.+$' })
export const QualifiedKey = Type.String({ pattern: '^[^:]+:.+$', description: '`type:key`.' })

/** Descriptions by the pattern of the key in the schema of the map. */
const KEY_FORMS: ReadonlyMap<string, string> = new Map([
  [patternOf(ShortKey), `1 to ${SHORT_KEY_LENGTH_MAX} letters, digits, hyphens and underscores`],
  [
    patternOf(ConditionSetKey),
    `1 to ${CONDITION_SET_KEY_LENGTH_MAX} letters, digits, hyphens and underscores, not beginning with two underscores`,
  ],
  [patternOf(AnyText), 'a text'],
  [patternOf(QualifiedKey), 'type:key'],
])

function patternOf(schema: TSchema): string {
  return 'pattern' in schema ? String(schema.pattern) : ''
}

/** Describes the keys that the schema of a map accepts. `patterns` is its `patternProperties`. */
export function keyFormsIn(patterns: object): string {
  return Object.keys(patterns)
    .map(pattern => KEY_FORMS.get(pattern) ?? pattern)
    .join(' or ')
}
