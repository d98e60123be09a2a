/** Completeness of the texts of the console. */
import { expect, test } from 'vitest'
import { writeOperations } from '#management/environment/operations.ts'

test('the audit log has a text for each operation that changes an environment', async () => {
  for (const language of ['en', 'de']) {
    const path = `../../console/src/texts/access.${language}.ts`
    const texts = Object.values((await import(path)) as Record<string, { operations: object }>)[0]!
    const named = Object.keys(texts.operations).toSorted()
    expect(named).toEqual([...Object.keys(writeOperations), 'expireGrants'].toSorted())
  }
})
