/**
 * Dataset W6: the drive of W1, in which each user and each document has five attributes. There are 50 rules
 * on 20 user sets and 20 resource sets. The sets resemble those of companies: they test departments,
 * clearances, regions, teams, the state of a document and its owner.
 */
import type { Attributes, Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import type { Dataset } from '#testing/data/dataset.ts'
import { Drive } from './drive.ts'
import { Random } from '#testing/data/random.ts'

const DEPARTMENTS = 40
const TEAMS = 100
const LEVELS = 10
const REGIONS = ['eu-north', 'eu-south', 'us-east', 'us-west', 'asia', 'africa', 'oceania', 'south-america']
const STATES = ['draft', 'review', 'final', 'archived']

const RULES_OF = { read: 30, write: 20 } as const

type Conditions = Readonly<Record<string, unknown>>

export interface Rule {
  readonly userSet: string
  readonly action: string
  readonly resourceSet: string
}

export const USER_SETS: ReadonlyMap<string, Conditions> = new Map<string, Conditions>([
  ...sets(10, n => [`department_${n}`, { 'user.department': { equals: `department-${n}` } }]),
  ...sets(3, n => [`cleared_${n + 7}`, { 'user.clearance': { 'greater-than-equals': n + 7 } }]),
  ...sets(3, n => [`near_${n}`, { 'user.region': { in: [REGIONS[2 * n]!, REGIONS[2 * n + 1]!] } }]),
  ...sets(2, n => [`team_${n}`, { 'user.teams': { array_contains: `team-${n}` } }]),
  ...sets(2, n => [
    `active_${n}`,
    { allOf: [{ 'user.active': { equals: true } }, { 'user.clearance': { between: [4 * n, 4 * n + 2] } }] },
  ]),
])

export const RESOURCE_SETS: ReadonlyMap<string, Conditions> = new Map<string, Conditions>([
  ...sets(6, n => [
    `same_department_below_${n + 1}`,
    {
      allOf: [
        { 'resource.department': { equals: { ref: 'user.department' } } },
        { 'resource.classification': { 'less-than': n + 1 } },
      ],
    },
  ]),
  ...sets(6, n => [
    `final_in_${REGIONS[n]!.replace('-', '_')}`,
    { allOf: [{ 'resource.region': { equals: REGIONS[n]! } }, { 'resource.state': { equals: 'final' } }] },
  ]),
  ...sets(4, n => [
    `${STATES[n]}_same_region`,
    {
      'resource.state': { equals: STATES[n]! },
      'resource.region': { equals: { ref: 'user.region' } },
    },
  ]),
  ...sets(2, n => [
    `own_${STATES[n]}`,
    {
      allOf: [
        { 'resource.owner': { equals: { ref: 'user.key' } } },
        { 'resource.state': { equals: STATES[n]! } },
      ],
    },
  ]),
  ...sets(2, n => [
    `far_below_${n + 1}`,
    {
      allOf: [
        { 'resource.classification': { 'less-than-equals': { ref: 'user.clearance' } } },
        { 'resource.classification': { 'less-than': n + 1 } },
      ],
    },
  ]),
])

/** Each set is used in at least one rule, and the two actions have different rules. */
export const RULES: readonly Rule[] = Object.entries(RULES_OF).flatMap(([action, count], offset) =>
  numbered(count, n => ({
    action,
    userSet: [...USER_SETS.keys()][(7 * n + offset) % USER_SETS.size]!,
    resourceSet: [...RESOURCE_SETS.keys()][
      (n + offset + Math.floor(n / RESOURCE_SETS.size)) % RESOURCE_SETS.size
    ]!,
  })),
)

export class RuledDrive implements Dataset {
  readonly name: string
  readonly drive: Drive
  readonly #seed: number

  constructor(name: string, scale: number, seed = 1) {
    this.name = name
    this.drive = new Drive(name, scale, seed)
    this.#seed = seed
  }

  *things(): Iterable<Change> {
    for (const change of this.drive.things()) {
      if (change.kind === 'user-put') yield { ...change, attributes: this.ofUser(change.user) }
      else if (change.kind === 'instance-put' && change.instance.type === 'document') {
        yield { ...change, attributes: this.ofDocument(change.instance.key) }
      } else yield change
    }
    yield* this.rules()
  }

  facts(): Iterable<Change> {
    return this.drive.facts()
  }

  /** The sets and rules that are added to W1. */
  *rules(): Iterable<Change> {
    for (const [set, conditions] of USER_SETS) yield setPut(set, 'user', conditions)
    for (const [set, conditions] of RESOURCE_SETS) yield setPut(set, 'resource', conditions)
    for (const { userSet, action, resourceSet } of RULES) {
      yield { kind: 'rule-put', userSet, type: 'document', action, resourceSet }
    }
  }

  /**
   * Candidates for checks. Roles deny the candidates for `denied`, but rules can allow some of them. The
   * caller must verify them.
   */
  candidates(count: number, kind: 'allowed' | 'denied'): Query[] {
    return this.drive.candidates(count, kind)
  }

  ofUser(key: string): Attributes {
    const random = new Random(numberIn(key) * 31 + this.#seed)
    return {
      department: `department-${random.below(DEPARTMENTS)}`,
      clearance: random.below(LEVELS),
      region: random.pick(REGIONS),
      active: random.next() < 0.9,
      teams: numbered(3, () => `team-${random.below(TEAMS)}`),
    }
  }

  ofDocument(key: string): Attributes {
    const random = new Random(numberIn(key) * 17 + this.#seed + 5)
    return {
      department: `department-${random.below(DEPARTMENTS)}`,
      classification: random.below(LEVELS),
      region: random.pick(REGIONS),
      state: random.pick(STATES),
      owner: `user-${random.below(this.drive.users)}`,
    }
  }
}

function setPut(set: string, side: 'user' | 'resource', conditions: Conditions): Change {
  const type = side === 'user' ? null : 'document'
  return { kind: 'condition-set-put', set, side, type, parent: null, conditions }
}

function sets(count: number, set: (n: number) => [string, Conditions]): [string, Conditions][] {
  return numbered(count, set)
}

function numberIn(key: string): number {
  return Number(key.slice(key.indexOf('-') + 1))
}

function numbered<T>(count: number, item: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => item(n))
}
