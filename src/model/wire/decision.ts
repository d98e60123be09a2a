/** The native decision interface on the wire (contract A.2, A.3). Members not named here are ignored. */
import { Type, type Static } from 'typebox'
import { AttributeMap, optional } from './building-blocks.ts'

/** Empty is refused: an empty key must not turn into another question (contract D-42). */
const Key = Type.String({ minLength: 1 })

export const UserInQuery = Type.Object({
  key: Key,
  email: optional(Type.String()),
  first_name: optional(Type.String()),
  last_name: optional(Type.String()),
  firstName: optional(Type.String()),
  lastName: optional(Type.String()),
  attributes: optional(AttributeMap),
})

export const ResourceInQuery = Type.Object({
  type: Key,
  /** Absent: the question is about the type as a whole. */
  key: optional(Key),
  /** Absent: the tenant of the instance, else the default one. */
  tenant: optional(Key),
  attributes: optional(AttributeMap),
  context: optional(AttributeMap),
})

export const AllowedQuery = Type.Object({
  user: UserInQuery,
  action: Key,
  resource: ResourceInQuery,
  context: optional(AttributeMap),
  sdk: optional(Type.String()),
})
export type AllowedQuery = Static<typeof AllowedQuery>

export const BulkAuthorizationQuery = Type.Array(AllowedQuery)

export const AllowedResult = Type.Object({
  allow: Type.Boolean(),
  /** The same value again, for older clients. */
  result: Type.Boolean(),
})
export type AllowedResult = Static<typeof AllowedResult>

/** The same question and its answer in the envelopes of an Open Policy Agent (contract A.7). */
export const OpaQuery = Type.Object({ input: AllowedQuery })
export const OpaResult = Type.Object({ result: Type.Object({ allow: Type.Boolean() }) })

export const BulkAllowedResult = Type.Object({ allow: Type.Array(AllowedResult) })
