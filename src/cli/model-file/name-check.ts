/**
 * Compares names with the known names and collects findings. Each method returns whether the name is known,
 * so that its caller can avoid further findings about the same mistake.
 */
import { type Finding, FINDINGS_MAX, suggestion } from './findings.ts'
import type { KnownNames, KnownType, NameSet } from './known-names.ts'
import type { LocatedValue } from './located-value.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'

export class NameCheck {
  readonly known: KnownNames
  readonly findings: Finding[] = []

  constructor(known: KnownNames) {
    this.known = known
  }

  /** Whether there are more findings than are reported. A search for similar names would then be useless. */
  get isFull(): boolean {
    return this.findings.length > FINDINGS_MAX
  }

  find(located: LocatedValue, message: string): false {
    if (!this.isFull) this.findings.push({ location: located.location, message })
    return false
  }

  findKey(located: LocatedValue, message: string): false {
    if (!this.isFull) this.findings.push({ location: located.location, message, isAboutKey: true })
    return false
  }

  user(located: LocatedValue): boolean {
    return this.#name(located, 'user', this.known.users)
  }

  tenant(located: LocatedValue): boolean {
    return this.#name(located, 'tenant', this.known.tenants)
  }

  tenantRole(located: LocatedValue): boolean {
    return this.#name(located, 'tenant role', this.known.tenantRoles)
  }

  /**
   * Returns the type with this key. If the type is unknown, reports a finding and returns null. Also returns
   * null if the value is not a text.
   */
  type(located: LocatedValue): KnownType | null {
    return located.text === null ? null : this.#typeNamed(located, located.text)
  }

  /** Returns the type of a `type:key`. */
  typeOf(located: LocatedValue): KnownType | null {
    const instance = located.text === null ? null : parseInstanceReference(located.text)
    return instance && this.#typeNamed(located, instance.type)
  }

  /** Checks a `type:action`. */
  permission(located: LocatedValue): boolean {
    const { text } = located
    if (text === null) return false
    const colon = text.indexOf(':')
    if (colon < 0) return this.find(located, `expected type:action, got ${JSON.stringify(text)}`)
    const type = this.#typeNamed(located, text.slice(0, colon))
    return (
      type !== null && this.part(located, type.actions, 'action', text.slice(0, colon), text.slice(colon + 1))
    )
  }

  /**
   * Checks a part of a type: an action, a role or a relation. `name`: given if the name is only a portion of
   * the text.
   */
  part(
    located: LocatedValue,
    names: NameSet,
    what: string,
    type: string,
    name: string | null = located.text,
  ): boolean {
    if (name === null || names.has(name)) return name !== null
    return this.find(
      located,
      `there is no ${what} ${JSON.stringify(name)} of ${type}${suggestion(name, names.all)}`,
    )
  }

  unknown(located: LocatedValue, what: string, name: string, names: Iterable<string>): false {
    if (this.isFull) return false
    return this.find(located, `there is no ${what} ${JSON.stringify(name)}${suggestion(name, names)}`)
  }

  #typeNamed(located: LocatedValue, key: string): KnownType | null {
    const type = this.known.type(key)
    if (type === null) this.unknown(located, 'resource', key, this.known.typeKeys)
    return type
  }

  #name(located: LocatedValue, what: string, names: NameSet): boolean {
    const { text } = located
    if (text === null) return false
    return names.has(text) || this.unknown(located, what, text, names.all)
  }
}
