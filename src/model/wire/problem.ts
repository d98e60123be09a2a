/**
 * API schemas of errors (native.md A.1, B.1 and 0.19). AuthZEN has no schema, because its errors are plain
 * text.
 */
import { Type, type Static } from 'typebox'
import { AccessLevel, nullable } from './common-fields.ts'

/** Error codes of the management API. */
export const ManagementErrorCode = Type.Enum([
  'UNAUTHORIZED',
  'FORBIDDEN_ACCESS',
  'NOT_FOUND',
  'DUPLICATE_ENTITY',
  'PRECONDITION_FAILED',
  'INVALID_INPUT',
  'INVALID_PERMISSION_FORMAT',
  'MISMATCH_RESOURCE_INSTANCES_TENANTS',
  'MISMATCH_RELATION_TYPE',
  'CONCURRENT_OPERATION_DISALLOWED',
  'UNEXPECTED_ERROR',
] as const)
export type ManagementErrorCode = Static<typeof ManagementErrorCode>

/** Error of decision routes, and of all routes for which no other form of errors is specified. */
export const NativeError = Type.Object({
  code: Type.Integer({ description: 'The HTTP status.' }),
  message: Type.String(),
})
export type NativeError = Static<typeof NativeError>

/** Error codes of plans (filter.md, section 6). */
const PlanErrorCode = Type.Enum([
  'UNAUTHORIZED',
  'FORBIDDEN_ACCESS',
  'INVALID_INPUT',
  'LIMIT_EXCEEDED',
  'UNKNOWN_RELATION',
  'FILTER_NOT_EXPRESSIBLE',
  'FILTER_TOO_LARGE',
  'FILTER_TOO_COSTLY',
  'UNEXPECTED_ERROR',
] as const)

/** Error of a plan: that of a decision route, with two more members. */
export const PlanRefusal = Type.Object({
  code: Type.Integer({ description: 'The HTTP status.' }),
  message: Type.String(),
  error_code: PlanErrorCode,
  detail: Type.Array(Type.Object({}, { additionalProperties: true }), {
    description: 'The parts of the request or of the filter because of which there is no plan.',
  }),
})
export type PlanRefusal = Static<typeof PlanRefusal>

/** One error in the shape of a request. */
export const ErrorFinding = Type.Object({
  loc: Type.Array(Type.Union([Type.String(), Type.Integer()]), {
    description: 'Path of the wrong value; begins with `body`, `query` or `path`.',
  }),
  msg: Type.String(),
  type: Type.String(),
})

export const ManagementError = Type.Object({
  id: Type.String({ format: 'uuid', description: 'Id of this occurrence.' }),
  title: Type.String(),
  error_code: ManagementErrorCode,
  message: Type.String(),
  support_link: nullable(Type.String({ description: 'Always null.' })),
  additional_info: nullable(
    Type.Object(
      { required_access_level: AccessLevel, access_level: AccessLevel },
      { description: 'The level that the request needs and that of the key, if it is too low.' },
    ),
  ),
  detail: Type.Optional(Type.Array(ErrorFinding, { description: 'Always present with 422.' })),
})
export type ManagementError = Static<typeof ManagementError>
