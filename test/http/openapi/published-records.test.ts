/**
 * The objects in responses compared with the published description of the management API. Clients that were
 * generated from this description reject a null value in a field that they do not know.
 */
import { expect, test } from 'vitest'
import { sharedService } from '#testing/processes/running-service.ts'
import { PUBLISHED_RECORDS } from '../../support/documents/published-records.ts'

interface Described {
  readonly type?: string | readonly string[]
  readonly anyOf?: readonly Described[]
  readonly $ref?: string
  readonly properties?: Readonly<Record<string, Described>>
}

const { address } = await sharedService()
const { components } = (await (await fetch(`${address}/openapi.json`)).json()) as {
  readonly components: { readonly schemas: Readonly<Record<string, Described>> }
}

function canBeNull({ type, anyOf = [], $ref }: Described): boolean {
  if ($ref !== undefined) return canBeNull(components.schemas[$ref.split('/').at(-1)!]!)
  return [type].flat().includes('null') || anyOf.some(canBeNull)
}

test('every published record is in the OpenAPI document', () => {
  expect(Object.keys(PUBLISHED_RECORDS).filter(name => !components.schemas[name]?.properties)).toEqual([])
})

test('members that are not in a published record are never null', () => {
  const found = Object.entries(PUBLISHED_RECORDS).flatMap(([name, published]) =>
    Object.entries(components.schemas[name]?.properties ?? {})
      .filter(([member, schema]) => !published.includes(member) && canBeNull(schema))
      .map(([member]) => `${name}.${member}`),
  )
  expect(found).toEqual([])
})
