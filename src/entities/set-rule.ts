/** API schemas of rules on condition sets (conditions.md 1.4 and 2). */
import { type Static, Type } from 'typebox'
import { BULK_ELEMENTS_MAX, LONG_KEY_BYTES_MAX } from '#model/limits.ts'
import { envelope, pagingQuery, TotalCountFlag } from '#model/wire/paging.ts'
import { environmentPath, Reference } from '#model/wire/references.ts'
import { optional, scopeFields, timeFields, Uuid } from '#model/wire/common-fields.ts'

export const SetRuleCreate = Type.Object({
  /** User set or tenant role. */
  user_set: Reference,
  permission: Type.String({
    ...Reference,
    description: 'Action of a resource, as `resource:action` or by the id of the action.',
  }),
  /** Resource set or resource type. */
  resource_set: Reference,
  is_role: optional(Type.Boolean({ description: 'Interpret `user_set` only as a role.' })),
  is_resource: optional(Type.Boolean({ description: 'Interpret `resource_set` only as a resource.' })),
})
export type SetRuleCreate = Static<typeof SetRuleCreate>

const SetRules = Type.Array(SetRuleCreate, { maxItems: BULK_ELEMENTS_MAX })

export const SetRulesBulk = Type.Object({ operations: SetRules })
export type SetRulesBulk = Static<typeof SetRulesBulk>

export const SetRulesBulkRemoval = Type.Object({ idents: SetRules })
export type SetRulesBulkRemoval = Static<typeof SetRulesBulkRemoval>

export const SetRulesCreated = Type.Object({
  rules_created: Type.Integer({ minimum: 0 }),
  in_every_tenant: Type.Array(Type.Integer({ minimum: 0 }), {
    description:
      'Indexes of the operations whose new rules apply in every tenant, because neither of their sets has a condition on tenants.',
  }),
})
export type SetRulesCreated = Static<typeof SetRulesCreated>

export const SetRulesRemoved = Type.Object({ rules_removed: Type.Integer({ minimum: 0 }) })
export type SetRulesRemoved = Static<typeof SetRulesRemoved>

export const SetRule = Type.Object({
  id: Uuid,
  key: Type.String(),
  user_set: Type.String(),
  permission: Type.String(),
  resource_set: Type.String(),
  ...scopeFields,
  ...timeFields,
})
export type SetRule = Static<typeof SetRule>

export const SetRuleList = Type.Union([Type.Array(SetRule), envelope(SetRule)])

export const SetRulesPath = Type.Object(environmentPath)

/**
 * Returns the schema of a filter. An empty text is the same as no filter, because clients send unused filters
 * as empty texts.
 */
function filter(description: string) {
  return Type.Optional(
    Type.String({ maxLength: 2 * LONG_KEY_BYTES_MAX, description: `${description} Empty: any.` }),
  )
}

export const SetRulesQuery = Type.Object({
  ...pagingQuery,
  user_set: filter('Rules on this user set or tenant role.'),
  permission: filter(
    'Rules on this permission: `resource:action`, an action of any resource, or the id of one.',
  ),
  resource_set: filter('Rules on this resource set or resource.'),
  include_total_count: Type.Optional(TotalCountFlag),
})
export type SetRulesQuery = Static<typeof SetRulesQuery>
