/** Refusals of the management API as `refusal` returns them: status and `error_code`. */
export type Refusal = readonly [status: number, code: string]

export const INVALID: Refusal = [422, 'INVALID_INPUT']
/** The request is valid, but not in the current state of the model. */
export const IMPOSSIBLE: Refusal = [400, 'INVALID_INPUT']
export const NOT_FOUND: Refusal = [404, 'NOT_FOUND']
export const DUPLICATE: Refusal = [409, 'DUPLICATE_ENTITY']
export const FORBIDDEN: Refusal = [403, 'FORBIDDEN_ACCESS']
export const OTHER_TENANT: Refusal = [400, 'MISMATCH_RESOURCE_INSTANCES_TENANTS']
export const OTHER_TYPE: Refusal = [400, 'MISMATCH_RELATION_TYPE']
export const NO_PERMISSION: Refusal = [422, 'INVALID_PERMISSION_FORMAT']
