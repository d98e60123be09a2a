/** Limit on the number of rows that an attribute filter reads. */
import { describe, expect, test } from 'vitest'
import { pageOfSelection, attributeFilter } from '#management/paging/selection.ts'
import { runAtOnce } from '#scheduling/resumable.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { RunningEnvironment } from '../../support/running-environment.ts'

/** Returns a function that lists the users with odd numbers among five, and reads at most `rowsMax` rows. */
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

describe('a list with an attribute filter', () => {
  test('contains all matches if it reads no more rows than the limit', async () => {
    const keysOf = await fiveUsers()
    expect(keysOf(6)).toEqual(['u1', 'u3'])
    expect(keysOf(5)).toEqual(['u1', 'u3'])
  })

  test('is refused, not truncated, if it has to read more rows than the limit', async () => {
    const keysOf = await fiveUsers()
    expect(() => keysOf(4)).toThrowError(
      expect.objectContaining({
        code: 'LIMIT_EXCEEDED',
        limit: 'list',
        message: expect.stringContaining('examine at most 4 items'),
      }),
    )
  })

  test('reads rows only up to the end of the page if the total is not requested', async () => {
    const keysOf = await fiveUsers()
    expect(keysOf(4, { per_page: 2 })).toEqual(['u1', 'u3'])
    expect(() => keysOf(3, { per_page: 2 })).toThrowError('examine at most 3 items')
  })
})
