/** API schemas of plans (filter.md P1 to P16). Members that are not listed here are ignored. */
import { type Static, Type } from 'typebox'
import { COLUMN_TYPES, NULL_MEANINGS, PLAN_KINDS } from '#filter/tree.ts'
import { COLUMN_NAME_BYTES_MAX, FILTER_IDS_DEFAULT, FILTER_IDS_MAX, PLAN_COLUMNS_MAX } from '#model/limits.ts'
import { AttributeMap, nullable, optional, Timestamp } from '#model/wire/common-fields.ts'
import { AllowedQuery, ResourceInQuery } from './decision.ts'

const { type, context } = ResourceInQuery.properties
const { user, action, sdk } = AllowedQuery.properties

const AttributeColumn = Type.Object({
  type: Type.Enum(COLUMN_TYPES, { description: 'Type of the values that are not `NULL`.' }),
  nulls: optional(
    Type.Enum(NULL_MEANINGS),
    'How a check of a row represents `NULL`. `sent`: the attribute is null. `missing`: the attribute is absent, so the stored value ' +
      'applies. `never`: the column has no `NULL`. Default: `sent`.',
  ),
})

const PlanColumns = Type.Object({
  tenant: optional(
    Type.Boolean({ description: 'The table has a column with the key of the tenant. Default: false.' }),
  ),
  attributes: optional(
    Type.Record(Type.String(), AttributeColumn, {
      description: `Attributes of the resource that are columns, at most ${PLAN_COLUMNS_MAX}. A name has at most ${COLUMN_NAME_BYTES_MAX} bytes and no dot.`,
    }),
  ),
  relations: optional(
    Type.Array(Type.String({ minLength: 1 }), {
      uniqueItems: true,
      description: `Relations of the resource type whose subject is a column, at most ${PLAN_COLUMNS_MAX}.`,
    }),
  ),
})

export const PlanQuery = Type.Object(
  {
    user,
    action,
    resource: Type.Object({
      type,
      tenant: optional(Type.String({ minLength: 1, description: 'The tenant of every row.' })),
      attributes: optional(AttributeMap, 'Attributes that every check of a row sends.'),
      context,
      key: optional(Type.String({ description: 'Absent or empty, because a plan applies to all rows.' })),
    }),
    context: optional(AttributeMap),
    columns: optional(PlanColumns),
    tenants_agree: optional(
      Type.Boolean({
        description:
          'The tenants of all rows are stored, and a stored instance is in the tenant of its row. Default: false.',
      }),
    ),
    max_ids: optional(
      Type.Integer({
        minimum: 1,
        maximum: FILTER_IDS_MAX,
        description: `Maximum number of elements in all lists of the filter. Default: ${FILTER_IDS_DEFAULT}.`,
      }),
    ),
    sdk,
  },
  {
    examples: [
      {
        user: { key: 'carol' },
        action: 'read',
        resource: { type: 'document', tenant: 'default' },
        columns: { attributes: { owner: { type: 'string' } } },
      },
    ],
  },
)
export type PlanQuery = Static<typeof PlanQuery>

export const PlanResult = Type.Object({
  kind: Type.Enum(PLAN_KINDS, {
    description:
      '`always_allowed`: the filter is true for every row. `always_denied`: for no row. `conditional`: `filter` decides.',
  }),
  filter: Type.Optional(
    Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'A tree of nodes in the form of docs/filter.schema.json. Present exactly if `kind` is `conditional`.',
      },
    ),
  ),
  ids: Type.Integer({ minimum: 0, description: 'Number of elements in all lists of the filter.' }),
  revision: Type.String({
    description: 'State that the plan includes, in the form of `X-Revision`. Usable as `X-Min-Revision`.',
  }),
  as_of: Timestamp,
  expires_at: nullable(
    Timestamp,
    'Time from which on the filter must not be used. Null: only a later revision makes it invalid.',
  ),
})
