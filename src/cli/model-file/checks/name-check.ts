/**
 * Compares names with the known names and collects findings. Each check returns whether the name is known, so
 * that one mistake causes one finding.
 */
import { type Finding, FINDINGS_MAX, suggestion } from '#cli/model-file/findings.ts'
import type { KnownNames, KnownType, Names } from '#cli/model-file/known-names.ts'
import type { Place } from '#cli/model-file/place.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'

export class NameCheck {
  readonly known: KnownNames
  readonly findings: Finding[] = []

  constructor(known: KnownNames) {
    this.known = known
  }

  /**
   * Whether the maximum number of reported findings is exceeded. Further searches for similar names would
   * only take time.
   */
  get isFull(): boolean {
    return this.findings.length > FINDINGS_MAX
  }

  find(place: Place, message: string): false {
    if (!this.isFull) this.findings.push({ way: place.way, message })
    return false
  }

  findKey(place: Place, message: string): false {
    if (!this.isFull) this.findings.push({ way: place.way, message, isAboutKey: true })
    return false
  }

  user(place: Place): boolean {
    return this.#name(place, 'user', this.known.users)
  }

  tenant(place: Place): boolean {
    return this.#name(place, 'tenant', this.known.tenants)
  }

  tenantRole(place: Place): boolean {
    return this.#name(place, 'tenant role', this.known.tenantRoles)
  }

  /** The type with that key. Null if it is unknown, which is reported, or if the value is not a text. */
  type(place: Place): KnownType | null {
    return place.text === null ? null : this.#typeNamed(place, place.text)
  }

  /** The type of a `type:key`. */
  typeOf(place: Place): KnownType | null {
    const instance = place.text === null ? null : parseInstanceReference(place.text)
    return instance && this.#typeNamed(place, instance.type)
  }

  /** Checks a `type:action`. */
  permission(place: Place): boolean {
    const { text } = place
    if (text === null) return false
    const colon = text.indexOf(':')
    if (colon < 0) return this.find(place, `expected type:action, got ${JSON.stringify(text)}`)
    const type = this.#typeNamed(place, text.slice(0, colon))
    return (
      type !== null && this.part(place, type.actions, 'action', text.slice(0, colon), text.slice(colon + 1))
    )
  }

  /**
   * Checks a part of a type: an action, a role or a relation. `name`: the name, if it is only a part of the
   * text.
   */
  part(place: Place, names: Names, what: string, type: string, name: string | null = place.text): boolean {
    if (name === null || names.has(name)) return name !== null
    return this.find(
      place,
      `there is no ${what} ${JSON.stringify(name)} of ${type}${suggestion(name, names.all)}`,
    )
  }

  unknown(place: Place, what: string, name: string, names: Iterable<string>): false {
    if (this.isFull) return false
    return this.find(place, `there is no ${what} ${JSON.stringify(name)}${suggestion(name, names)}`)
  }

  #typeNamed(place: Place, key: string): KnownType | null {
    const type = this.known.type(key)
    if (type === null) this.unknown(place, 'resource', key, this.known.typeKeys)
    return type
  }

  #name(place: Place, what: string, names: Names): boolean {
    const { text } = place
    if (text === null) return false
    return names.has(text) || this.unknown(place, what, text, names.all)
  }
}
