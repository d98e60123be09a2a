/**
 * Which changes a reader has asked for. A removal takes dependants along, which have no events of their own: whoever asked for those
 * hears of the removal, or would keep them for ever.
 */
import type { Permission } from '#model/change.ts'
import { AuthzError, type ErrorDetail } from '#model/errors.ts'
import { CHANGE_NOUNS, CHANGE_VERBS, type ChangeNoun, type ChangesQuery } from '#model/wire/change-event.ts'
import type { FilteredChange } from './change-events.ts'

/** Names in one parameter. */
const NAMES_MAX = 100
/** Permissions of which one stream tells: each commit is looked into for each of them. */
const PERMISSIONS_MAX = 8

/** What goes with a thing of each kind, without events of its own. */
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

/** Removals of these may take along what is of other resources than they are. */
const REACHES_FAR: ReadonlySet<FilteredChange['noun']> = new Set<FilteredChange['noun']>([
  'resource_instance',
  'resource',
  'relation',
])

export class ChangeFilter {
  /** Equal for filters that let the same through. */
  readonly name: string
  /** Null: all. */
  readonly #kinds: ReadonlySet<string> | null
  readonly #types: ReadonlySet<string> | null
  readonly #tenants: ReadonlySet<string> | null
  /** The permissions of which is asked who gains and who loses them; null: changes are asked for. */
  readonly effective: readonly Permission[] | null

  /** Throws `INVALID_SHAPE` for kinds that there are not, for too many names, and for filters that do not go together. */
  constructor({ kinds, types, tenants, effective }: ChangesQuery) {
    this.#kinds = namesIn(kinds, 'kinds')
    this.#types = namesIn(types, 'types')
    this.#tenants = namesIn(tenants, 'tenants')
    for (const kind of this.#kinds ?? []) requireKind(kind)
    const permissions = namesIn(effective, 'effective', PERMISSIONS_MAX)
    this.effective = permissions && [...permissions].map(permissionOf)
    const sets = [this.#kinds, this.#types, this.#tenants]
    if (permissions && sets.some(set => set !== null)) {
      throw wrong('effective', 'goes with none of kinds, types and tenants', 'value_error')
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
  // With an action its rules go.
  return noun === 'resource' && verb === 'updated' ? ['set_rule'] : []
}

/** `type:action`, which is split at the first colon. */
function permissionOf(text: string): Permission {
  const [type = '', ...action] = text.split(':')
  if (type !== '' && action.join(':') !== '') return { type, action: action.join(':') }
  throw wrong(
    'effective',
    `must be permissions as document:read, and ${JSON.stringify(text)} is none`,
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
  if (names.includes('')) throw wrong(parameter, 'must be names with commas between them', 'type')
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
  throw wrong('kinds', `must be of ${CHANGE_NOUNS.join(', ')}, each alone or with ${verbs}`, 'enum')
}

function wrong(parameter: string, msg: string, type: string): AuthzError {
  const detail: ErrorDetail[] = [{ loc: ['query', parameter], msg, type }]
  return new AuthzError('INVALID_SHAPE', `query.${parameter}: ${msg}`, { detail })
}
