/**
 * Filter of a change stream. When an entity is deleted, its dependents are deleted without separate events. A
 * reader that selected the dependents therefore also receives the deletion of the entity; otherwise it would
 * keep them forever.
 */
import type { Permission } from '#model/change.ts'
import { AuthzError, type ErrorDetail } from '#model/errors.ts'
import { CHANGE_NOUNS, CHANGE_VERBS, type ChangeNoun, type ChangesQuery } from '#entities/change-event.ts'
import type { FilteredChange } from './change-events.ts'

/** Maximum number of names in one parameter. */
const NAMES_MAX = 100
/** Maximum number of permissions per stream. Each commit is evaluated for each of them. */
const PERMISSIONS_MAX = 8

/** Kinds of dependents that are deleted with an entity of each kind, without events. */
const TAKES: Readonly<Partial<Record<ChangeNoun, readonly ChangeNoun[]>>> = {
  user: ['role_assignment'],
  tenant: ['resource_instance', 'role_assignment', 'relationship_tuple'],
  resource_instance: ['role_assignment', 'relationship_tuple'],
  resource: [
    'role',
    'relation',
    'condition_set',
    'resource_instance',
    'role_assignment',
    'relationship_tuple',
    'set_rule',
  ],
  role: ['role_assignment', 'set_rule'],
  relation: ['relationship_tuple'],
  condition_set: ['set_rule'],
}

/** Deleting one of these can also delete dependents of other resource types. */
const REACHES_FAR: ReadonlySet<FilteredChange['noun']> = new Set<FilteredChange['noun']>([
  'resource_instance',
  'resource',
  'relation',
])

export class ChangeFilter {
  /** Filters with the same name select the same events. */
  readonly name: string
  /** Names of the selected kinds; null selects all kinds. */
  readonly #kinds: ReadonlySet<string> | null
  readonly #types: ReadonlySet<string> | null
  readonly #tenants: ReadonlySet<string> | null
  /**
   * Permissions whose effective access changes are reported; null if the stream reports changes of entities.
   */
  readonly effective: readonly Permission[] | null

  /**
   * Throws `INVALID_SHAPE` for unknown kinds, for too many names, and for filters that cannot be combined.
   */
  constructor({ kinds, types, tenants, effective }: ChangesQuery) {
    this.#kinds = namesIn(kinds, 'kinds')
    this.#types = namesIn(types, 'types')
    this.#tenants = namesIn(tenants, 'tenants')
    for (const kind of this.#kinds ?? []) requireKind(kind)
    const permissions = namesIn(effective, 'effective', PERMISSIONS_MAX)
    this.effective = permissions && [...permissions].map(permissionOf)
    const sets = [this.#kinds, this.#types, this.#tenants]
    if (permissions && sets.some(set => set !== null)) {
      throw wrong('effective', 'cannot be combined with kinds, types or tenants', 'value_error')
    }
    this.name = JSON.stringify([...sets, permissions].map(set => set && [...set].toSorted()))
  }

  lets(change: FilteredChange): boolean {
    const { permission } = change
    if (permission) {
      return (
        this.effective?.some(each => each.type === permission.type && each.action === permission.action) ??
        false
      )
    }
    return this.#letsKind(change) && this.#letsType(change) && this.#letsTenant(change)
  }

  #letsKind(change: FilteredChange): boolean {
    const kinds = this.#kinds
    if (kinds === null || kinds.has(change.noun) || kinds.has(`${change.noun}.${change.verb}`)) return true
    return takenBy(change).some(noun => kinds.has(noun) || kinds.has(`${noun}.deleted`))
  }

  #letsType(change: FilteredChange): boolean {
    const types = this.#types
    if (types === null || change.types.some(type => types.has(type))) return true
    return takenBy(change).length > 0 && (change.types.length === 0 || REACHES_FAR.has(change.noun))
  }

  #letsTenant(change: FilteredChange): boolean {
    const tenants = this.#tenants
    if (tenants === null) return true
    return change.tenant === null ? takenBy(change).length > 0 : tenants.has(change.tenant)
  }
}

function takenBy({ noun, verb }: FilteredChange): readonly ChangeNoun[] {
  if (noun === 'access') return []
  if (verb === 'deleted') return TAKES[noun] ?? []
  // The removal of an action also removes its rules.
  return noun === 'resource' && verb === 'updated' ? ['set_rule'] : []
}

/** Parses `type:action`, split at the first colon. */
function permissionOf(text: string): Permission {
  const [type = '', ...action] = text.split(':')
  if (type !== '' && action.join(':') !== '') return { type, action: action.join(':') }
  throw wrong(
    'effective',
    `must be permissions such as document:read, got ${JSON.stringify(text)}`,
    'pattern',
  )
}

function namesIn(
  values: readonly string[] | undefined,
  parameter: string,
  max = NAMES_MAX,
): ReadonlySet<string> | null {
  if (values === undefined) return null
  const names = values.flatMap(value => value.split(',')).map(name => name.trim())
  if (names.includes('')) throw wrong(parameter, 'must be names separated by commas', 'type')
  if (names.length > max) throw wrong(parameter, `must be at most ${max} names`, 'maxItems')
  return new Set(names)
}

function requireKind(kind: string): void {
  const [noun, verb, ...rest] = kind.split('.')
  const isKnown =
    CHANGE_NOUNS.some(known => known === noun) &&
    (verb === undefined || CHANGE_VERBS.some(known => known === verb)) &&
    rest.length === 0
  if (isKnown) return
  const verbs = CHANGE_VERBS.map(each => `.${each}`).join(', ')
  throw wrong('kinds', `must be one of ${CHANGE_NOUNS.join(', ')}, alone or followed by ${verbs}`, 'enum')
}

function wrong(parameter: string, msg: string, type: string): AuthzError {
  const detail: ErrorDetail[] = [{ loc: ['query', parameter], msg, type }]
  return new AuthzError('INVALID_SHAPE', `query.${parameter}: ${msg}`, { detail })
}
