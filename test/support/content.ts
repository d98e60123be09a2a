/** Exports and imports of environments. */
import { expect } from 'vitest'
import { type Answer, API_KEY, type Client } from '#testing/processes/running-service.ts'

export interface Line {
  readonly kind: string
  readonly [field: string]: unknown
}

/** The text of a complete export file with these lines. */
export function content(...entities: readonly Line[]): string {
  const lines: Line[] = [{ kind: 'environment', format: 1 }, ...entities]
  return [...lines, { kind: 'end', lines: lines.length }].map(line => `${JSON.stringify(line)}\n`).join('')
}

export async function contentOf(verdict: Client, path: string, key = API_KEY): Promise<string> {
  const response = await fetch(verdict.address + path, { headers: { authorization: `Bearer ${key}` } })
  expect(response.status).toBe(200)
  return response.text()
}

/** Imports into an environment of the default project. */
export async function importInto(
  verdict: Client,
  environment: string,
  text: string | Uint8Array<ArrayBuffer>,
  key: string,
  status = 200,
  query = '',
): Promise<Answer> {
  const path = `/v2/projects/default/envs/${environment}/import${query}`
  const answer = await verdict.send('POST', path, {
    key,
    text,
    headers: { 'content-type': 'application/x-ndjson' },
  })
  expect([answer.status, answer.body]).toEqual([status, expect.anything()])
  return answer
}
