/**
 * Random plans: models with rules on columns (`random-columns.ts`), questions of plans, and rows. Rows that
 * are stored have the columns of their stored tuples, because a filter decides only such rows.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import type { Attributes, Change } from '#model/change.ts'
import type { JsonObject } from './conditions/roots.ts'
import * as columns from './random-columns.ts'
import { historyIn } from './random-history.ts'
import * as model from './random-model.ts'
import type { Names, TypeNames } from './random-model.ts'

export interface RandomPlan {
  readonly changes: readonly Change[]
  readonly question: PlanWords
  readonly rows: readonly RowWords[]
}

export interface PlanWords {
  readonly user: string
  readonly action: string
  readonly type: string
  readonly tenant: string | null
  readonly hasTenantColumn: boolean
  readonly attributes: readonly columns.RandomColumn[]
  readonly relations: readonly { readonly relation: string; readonly subjectType: string }[]
  readonly tenantsAgree: boolean
  readonly idsMax: number
  readonly sent: {
    readonly user: JsonObject | null
    readonly resource: JsonObject | null
    readonly context: JsonObject | null
  }
}

export interface RowWords {
  readonly key: string
  readonly tenant: string
  readonly values: columns.RowValues
  /** Keys of subjects by relation, for a row that is not stored. */
  readonly subjects: Readonly<Record<string, string | null>>
}

export function plans({ rows }: { readonly rows: number }): Arbitrary<RandomPlan> {
  return model.anyNames(model.USUAL).chain(world =>
    fc.constantFrom(...world.types).chain(names =>
      question(world, names).chain(asked =>
        fc.record({
          changes: changes(world, names),
          question: fc.constant(asked),
          rows: fc.array(row(world, names, asked), { minLength: rows, maxLength: rows }),
        }),
      ),
    ),
  )
}

const SETS = ['staff', 'sales', 'open', 'mine', 'public'] as const

function changes(world: Names, names: TypeNames): Arbitrary<Change[]> {
  const [fkType] = world.types
  const conditions = fc.oneof(
    {
      arbitrary: columns.conditions(fkType!.type).filter(each => !isRefused(readCondition(each, []))),
      weight: 4,
    },
    { arbitrary: fc.constant<JsonObject>({}), weight: 1 },
  )
  const set = (number: number): Arbitrary<Change> =>
    fc.record({
      kind: fc.constant('condition-set-put' as const),
      set: fc.constant(SETS[number]!),
      side: fc.constant(number < 2 ? ('user' as const) : ('resource' as const)),
      type: model.mostly(fc.constant(null), fc.constant(names.type)),
      parent: fc.oneof(
        { arbitrary: fc.constant(null), weight: 4 },
        { arbitrary: fc.constant(number < 2 ? SETS[0] : SETS[2]), weight: number % 2 },
      ),
      conditions,
    })
  const rule = fc.record({
    kind: fc.constant('rule-put' as const),
    userSet: fc.constantFrom(
      SETS[0],
      SETS[0],
      SETS[1],
      ...world.tenantRoles.map(role => `__autogen_${role}`),
    ),
    type: fc.constant(names.type),
    action: fc.constantFrom(...names.actions),
    resourceSet: fc.constantFrom(...SETS.slice(2), ...SETS.slice(2), `__autogen_${names.type}`),
  })
  const attributed: Arbitrary<Change> = fc.oneof(
    {
      arbitrary: fc
        .tuple(
          fc.constantFrom(...world.types).chain(model.instanceOf),
          fc.constantFrom(...world.tenants),
          columns.attributes,
        )
        .map(([instance, tenant, attributes]): Change => ({
          kind: 'instance-put',
          instance,
          tenant,
          attributes: attributes as Attributes,
        })),
      weight: 4,
    },
    fc.tuple(fc.constantFrom(...world.users), columns.attributes).map(([user, attributes]): Change => ({
      kind: 'user-put',
      user,
      attributes: attributes as Attributes,
    })),
    fc.tuple(fc.constantFrom(...world.tenants), columns.attributes).map(([tenant, attributes]): Change => ({
      kind: 'tenant-put',
      tenant,
      attributes: attributes as Attributes,
    })),
  )
  return fc
    .record({
      history: historyIn(world, { commits: 1, queries: 0 }),
      attributed: fc.array(attributed, { minLength: 2, maxLength: 8 }),
      sets: fc.tuple(...Array.from(SETS.keys(), set)),
      rules: fc.array(rule, { maxLength: 4 }),
      again: fc.array(model.tuplePut(world), { maxLength: 6 }),
    })
    .map(({ history, attributed: put, sets, rules, again }): Change[] => [
      ...history.load,
      ...history.commits.flat(),
      ...put,
      ...again,
      ...sets,
      ...rules,
    ])
}

function question(world: Names, names: TypeNames): Arbitrary<PlanWords> {
  const part = fc.option(columns.attributes, { freq: 2 })
  return fc.record({
    user: model.mostly(fc.constantFrom(...world.users), fc.constantFrom(...world.keys)),
    action: fc.constantFrom(...names.actions),
    type: fc.constant(names.type),
    tenant: fc.oneof(
      fc.constant(null),
      model.mostly(fc.constantFrom(...world.tenants), fc.constantFrom(...world.keys)),
    ),
    hasTenantColumn: fc.boolean(),
    attributes: columns.columns,
    relations: fc.subarray([...names.relations]),
    tenantsAgree: fc.boolean(),
    idsMax: model.mostly(fc.constant(10_000), fc.constantFrom(1, 2, 4)),
    sent: fc.record({
      user: part,
      resource: fc.constantFrom<JsonObject | null>(null, { sent: 'a' }, { sent: ['a', 1] }),
      context: part,
    }),
  })
}

function row(world: Names, names: TypeNames, { attributes, relations }: PlanWords): Arbitrary<RowWords> {
  const subjects = relations.map(({ relation, subjectType }) =>
    fc
      .option(
        fc.constantFrom(...world.types.find(({ type }) => type === subjectType)!.instances, ...world.keys),
        { freq: 4 },
      )
      .map(key => [relation, key] as const),
  )
  return fc.record({
    key: fc.oneof(
      { arbitrary: fc.constantFrom(...names.instances), weight: 2 },
      { arbitrary: fc.constantFrom('unstored', ...world.keys), weight: 1 },
    ),
    tenant: model.mostly(fc.constantFrom(...world.tenants), fc.constantFrom(...world.keys)),
    values: columns.row(attributes),
    subjects: fc.tuple(...subjects).map(entries => Object.fromEntries(entries)),
  })
}
