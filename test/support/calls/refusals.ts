/** Rejected calls of the management API: their problem, and the expected statuses and error codes. */
import { expect } from 'vitest'
import type { Answer } from '#testing/processes/running-service.ts'

export interface Problem {
  readonly id: string
  readonly title: string
  readonly error_code: string
  readonly message: string
  readonly support_link: null
  readonly additional_info: null
  readonly detail?: readonly {
    readonly loc: (string | number)[]
    readonly msg: string
    readonly type: string
  }[]
}

/** A refusal as `refusal` returns it. */
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

/** Returns the status and `error_code` of a rejected management call. Verifies the rest of the error. */
export function refusal(answer: Answer): [status: number, code: string] {
  const problem = answer.body as Problem
  expect(problem).toMatchObject({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/),
    title: expect.stringMatching(/./),
    message: expect.stringMatching(/./),
    support_link: null,
    additional_info: null,
  })
  if (answer.status === 422) {
    const finding = { loc: expect.any(Array), msg: expect.any(String), type: expect.any(String) }
    expect(problem.detail).toEqual(problem.detail?.map(() => finding) ?? [finding])
    expect(problem.detail).not.toEqual([])
  } else {
    expect(problem).not.toHaveProperty('detail')
  }
  return [answer.status, problem.error_code]
}
