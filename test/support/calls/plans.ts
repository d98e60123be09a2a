/** Requests of plans. Each filter in a response must have the form of `docs/filter.schema.json`. */
import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import type { AccessPlan } from '#filter/tree.ts'
import { type Answer, type Client, question } from '#testing/processes/running-service.ts'
import { shownFilter } from '#testing/oracle/plan-vectors.ts'

const SCHEMA_FILE = new URL('../../../docs/filter.schema.json', import.meta.url)
const isFilter = new Ajv2020().compile(JSON.parse(readFileSync(SCHEMA_FILE, 'utf8')) as object)

interface PlanError {
  readonly code: number
  readonly message: string
  readonly error_code: string
  readonly detail: readonly Readonly<Record<string, unknown>>[]
}

/** The body of a plan. `parts` are further members. */
export function planOf(user: string, action: string, type: string, parts: object = {}): object {
  return { ...question(user, action, type), ...parts }
}

export async function planned(client: Client, body: object): Promise<AccessPlan> {
  const answer = await client.post<AccessPlan>('/allowed/plan', body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  const { kind, filter } = answer.body
  expect(filter !== undefined).toBe(kind === 'conditional')
  if (filter !== undefined) expect(isFilter(filter), JSON.stringify(isFilter.errors)).toBe(true)
  return answer.body
}

/** Returns the filter of a plan in the form of the vectors. */
export async function plannedFilter(client: Client, body: object): Promise<string> {
  const { kind, filter } = await planned(client, body)
  return shownFilter(filter ?? kind === 'always_allowed')
}

/** Returns the status, the error code and the details of a plan that must be refused. */
export async function refusedPlan(
  client: Client,
  body: object,
): Promise<Omit<PlanError, 'code'> & { readonly status: number }> {
  const { status, body: error }: Answer<PlanError> = await client.post('/allowed/plan', body)
  expect(error.code).toBe(status)
  return { status, message: error.message, error_code: error.error_code, detail: error.detail }
}
