/** Lists of users as the commercial service's own client reads them: pages, totals, search. */
import { describe, expect, test } from 'vitest'
import { MODES, permitOfNewService } from '../support/permit-client.ts'

const COUNT = 12
const keys = Array.from({ length: COUNT }, (_, index) => `guest-${index}`)

describe.each(MODES)('a guest list, $mode', ({ options }) => {
  test('comes in pages whose totals are of the whole list, and is searched by part of a key', async () => {
    const { permit } = await permitOfNewService(options)
    const { users } = permit.api
    await users.bulkUserCreate(keys.map(key => ({ key, email: `${key}@example.com` })))

    const all = await users.list()
    expect([all.data.map(({ key }) => key), all.total_count, all.page_count]).toEqual([keys, COUNT, 1])

    const pages = []
    for (let page = 1; page <= 3; page += 1) pages.push(await users.list({ page, perPage: 5 }))
    expect(pages.map(({ data }) => data.map(({ key }) => key))).toEqual([
      keys.slice(0, 5),
      keys.slice(5, 10),
      keys.slice(10),
    ])
    expect(pages.map(page => [page.total_count, page.page_count])).toEqual([
      [COUNT, 3],
      [COUNT, 3],
      [COUNT, 3],
    ])

    const found = await users.list({ search: 'guest-7' })
    expect([found.data.map(({ key }) => key), found.total_count]).toEqual([['guest-7'], 1])
    const more = await users.list({ search: 'GUEST-1', page: 1, perPage: 2 })
    expect([more.data.map(({ key }) => key), more.total_count]).toEqual([['guest-1', 'guest-10'], 3])
    expect((await users.list({ search: 'nobody' })).data).toEqual([])
  })
})
