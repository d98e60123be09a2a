/**
 * Data of the graph: one box per type, and one link per pair of types that have relations. All functions are
 * pure.
 */
import { type Derivation, derivationsOf, relationsOf, rolesOf } from '../model-facts.ts'
import type { ModelType } from '../model-reads.ts'

export interface Box {
  readonly key: string
  readonly name: string
  readonly rows: readonly Row[]
  readonly actionCount: number
  readonly roleCount: number
  /** Relations in which both the subjects and the objects have this type. */
  readonly loops: readonly string[]
}

/** A role and its derivations within the same type. */
export interface Row {
  readonly role: string
  readonly extends: readonly string[]
  /** Roles of the same type from which this role is derived, through a relation of the type to itself. */
  readonly derivedFrom: readonly string[]
}

/** A link. It leads from the type of the subjects to the type of the objects. */
export interface Link {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly relations: readonly string[]
  readonly derivations: readonly Derivation[]
}

export interface GraphModel {
  readonly boxes: readonly Box[]
  readonly links: readonly Link[]
}

/**
 * Builds the graph. If `withGroups`, it includes group types and the relations that grants to groups create.
 * If `isDetailed`, each relation has its own link, so that the graph shows through which relation a role is
 * derived. If there are many relations between two types, they still have a single link.
 */
export function graphOf(
  types: readonly ModelType[],
  { withGroups, isDetailed }: { readonly withGroups: boolean; readonly isDetailed: boolean },
): GraphModel {
  const hidden = withGroups ? new Set<string>() : groupTypesOf(types)
  const shown = types.filter(({ key }) => !hidden.has(key))
  const known = new Set(shown.map(({ key }) => key))
  const links = new Map<
    string,
    { relations: string[]; derivations: Derivation[] } & Omit<Link, 'relations'>
  >()
  for (const type of shown) {
    for (const { key, subject } of relationsOf(type)) {
      if (subject === type.key || !known.has(subject)) continue
      const id = `${subject}>${type.key}`
      const link = links.get(id) ?? { id, from: subject, to: type.key, relations: [], derivations: [] }
      link.relations.push(key)
      links.set(id, link)
    }
    for (const derivation of derivationsOf(type))
      links.get(`${derivation.from.type}>${type.key}`)?.derivations.push(derivation)
  }
  const joined = [...links.values()]
  return { boxes: shown.map(boxOf), links: isDetailed ? joined.flatMap(apart) : joined }
}

/** Maximum number of separate links between two types. If there are more, they are merged into one. */
const APART_MAX = 4

function apart(link: Link): readonly Link[] {
  if (link.relations.length > APART_MAX) return [link]
  return link.relations.map(relation => ({
    ...link,
    id: `${link.id} ${relation}`,
    relations: [relation],
    derivations: link.derivations.filter(({ along }) => along === relation),
  }))
}

/**
 * Types whose instances are groups. Their members get roles through grants, so these types can have relations
 * to every other type.
 */
export function groupTypesOf(types: readonly ModelType[]): Set<string> {
  return new Set(
    types.flatMap(type =>
      relationsOf(type)
        .filter(({ isOfGroups }) => isOfGroups)
        .map(({ subject }) => subject),
    ),
  )
}

/** Types that are directly connected to a type, and the type itself. */
export function neighborsOf(key: string, links: readonly Link[]): Set<string> {
  return new Set([key, ...links.flatMap(({ from, to }) => (from === key ? [to] : to === key ? [from] : []))])
}

function boxOf(type: ModelType): Box {
  const within = derivationsOf(type).filter(({ from }) => from.type === type.key)
  const roles = rolesOf(type)
  return {
    key: type.key,
    name: type.name,
    rows: roles.map(role => ({
      role: role.key,
      extends: role.extends,
      derivedFrom: within.filter(({ to }) => to.role === role.key).map(({ from }) => from.role),
    })),
    actionCount: Object.keys(type.actions).length,
    roleCount: roles.length,
    loops: relationsOf(type)
      .filter(({ subject }) => subject === type.key)
      .map(({ key }) => key),
  }
}
