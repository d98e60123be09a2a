/** How much a filter by attributes may look at. */
import { describe, expect, test } from 'vitest'
import { pageOfSelection, attributeFilter } from '#management/commands/selection.ts'
import { runAtOnce } from '#model/resumable.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { RunningEnvironment } from '../support/running-environment.ts'

/** Five users, and the keys of those with an attribute that every second one has, when so many may be looked at. */
async function fiveUsers() {
  const environment = await RunningEnvironment.open()
  const operations = Array.from({ length: 5 }, (_, n) => ({ key: `u${n}`, attributes: { odd: n % 2 } }))
  await environment.execute('createUsers', { body: { operations } })
  return (rowsMax: number, paging = {}): string[] => {
    const page = pageOfSelection(environment.reader(), {
      kind: 'user',
      all: lists.all('user'),
      filters: [attributeFilter({ odd: '1' }, rowsMax)],
      paging,
      hasTotal: false,
      present: ({ key }) => key,
    })
    return runAtOnce(page).data
  }
}

describe('a list that is narrowed by attributes', () => {
  test('is whole when it has as many items as may be looked at', async () => {
    const keysOf = await fiveUsers()
    expect(keysOf(6)).toEqual(['u1', 'u3'])
    expect(keysOf(5)).toEqual(['u1', 'u3'])
  })

  test('is refused, and never cut, when it has more', async () => {
    const keysOf = await fiveUsers()
    expect(() => keysOf(4)).toThrowError(
      expect.objectContaining({
        code: 'LIMIT_EXCEEDED',
        limit: 'list',
        message: expect.stringContaining('look at 4 items'),
      }),
    )
  })

  test('is read to the end of the page where nobody asks for the total', async () => {
    const keysOf = await fiveUsers()
    expect(keysOf(4, { per_page: 2 })).toEqual(['u1', 'u3'])
    expect(() => keysOf(3, { per_page: 2 })).toThrowError('look at 3 items')
  })
})
