/** The console has words for what the service does. */
import { expect, test } from 'vitest'
import { writeOperations } from '#management/environment/operations.ts'

test('the log has words for everything that changes an environment', async () => {
  for (const language of ['en', 'de']) {
    const path = `../../console/src/texts/access.${language}.ts`
    const texts = Object.values((await import(path)) as Record<string, { operations: object }>)[0]!
    const named = Object.keys(texts.operations).toSorted()
    expect(named).toEqual([...Object.keys(writeOperations), 'expireGrants'].toSorted())
  }
})
