/** Number of requests for long lists, after changes and while the user types a search. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { KEY_SEARCH_ROWS_MAX } from '#model/limits.ts'
import { FACTS, fresh } from '#testing/processes/running-service.ts'
import { sees, sharedConsole } from '../../support/console-page.ts'

const PAGES = 8
const ROWS = PAGES * 50

const { verdict, open } = await sharedConsole()
await verdict.createDocumentModel()

const instance = (n: number): string => `document:d${String(n).padStart(3, '0')}`

async function userOfMany(): Promise<string> {
  const [user] = fresh('user')
  await verdict.user(user)
  const roles = Array.from({ length: ROWS }, (_, n) => ({
    user,
    role: 'viewer',
    resource_instance: instance(n),
    tenant: 'default',
  }))
  await verdict.done('POST', `${FACTS}/role_assignments/bulk`, roles)
  return user
}

async function unassign(user: string, on: string): Promise<void> {
  const body = { user, role: 'viewer', resource_instance: on, tenant: 'default' }
  expect((await verdict.delete(`${FACTS}/role_assignments`, body)).status).toBe(204)
}

/** Opens a list, loads all pages, and scrolls to the last row. */
async function openToTheEnd(user: string): Promise<{ page: Page; asked: string[] }> {
  const page = await open(`access/users/user/${user}`)
  const shown = (count: number) => page.getByText(`${count} of ${ROWS}`).waitFor()
  for (let count = 50; count < ROWS; count += 50) {
    await shown(count)
    await page.getByRole('button', { name: 'Show more' }).press('Enter')
  }
  await shown(ROWS)
  await page.locator(`tbody:nth-of-type(${PAGES}) tr:last-child`).scrollIntoViewIfNeeded()
  await page.locator('.live-mark.live').waitFor()
  const asked: string[] = []
  page.on('request', request => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname.endsWith('/role_assignments')) asked.push(searchParams.get('page')!)
  })
  return { page, asked }
}

test('a change reloads the visible, first and last pages of a list, and other pages when they become visible', async () => {
  const user = await userOfMany()
  const { page, asked } = await openToTheEnd(user)
  await unassign(user, instance(170))
  await sees(page, `${ROWS - 1} of ${ROWS - 1}`)
  expect(asked).toEqual(expect.arrayContaining(['1', '8']))
  expect(asked.filter(each => ['2', '3', '4', '5', '6'].includes(each))).toEqual([])
  // No row is shown twice, although page 4 is stale.
  const gone = page.getByRole('link', { name: 'd170', exact: true })
  expect([await gone.count(), await page.getByRole('link', { name: 'd399', exact: true }).count()]).toEqual([
    1, 1,
  ])

  await gone.scrollIntoViewIfNeeded()
  await gone.waitFor({ state: 'detached' })
  expect(asked).toContain('4')
  expect(asked).not.toContain('2')
})

test('many changes in a row are combined into few reloads of a list', async () => {
  const user = await userOfMany()
  const { page, asked } = await openToTheEnd(user)
  const changes = 300
  // The clock of the page is paused until all changes are made.
  await page.clock.install({ time: '2090-01-01' })
  await page.clock.pauseAt('2090-01-02')
  for (let n = 0; n < changes; n += 1) await unassign(user, instance(n))
  const reloads = asked.filter(each => each === '1').length
  await page.clock.resume()
  await sees(page, `${ROWS - changes} of ${ROWS - changes}`)
  expect(reloads).toBeLessThanOrEqual(1)
})

test('a search by name continues in steps until it finds a user, and is canceled when the field is left', async () => {
  const count = KEY_SEARCH_ROWS_MAX + 10
  const [start] = fresh('many')
  const users = Array.from({ length: count }, (_, n) => ({ key: `${start}-${n}` }))
  // This user is not among the options for an empty input.
  Object.assign(users.at(-1)!, { key: `z-${start}`, first_name: 'Zoë', last_name: 'Quill' })
  for (let from = 0; from < count; from += 5_000) {
    await verdict.done('PUT', `${FACTS}/bulk/users`, { operations: users.slice(from, from + 5_000) })
  }
  const page = await open('access/users')
  await page.getByRole('heading', { level: 1, name: 'Permissions of a user' }).waitFor()
  const asked: string[] = []
  page.on('request', request => {
    const { pathname } = new URL(request.url())
    if (/(?:key_searches|\/users)$/.test(pathname)) asked.push(pathname.split('/').at(-1)!)
  })
  const field = page.getByRole('combobox', { name: 'User' })
  await field.focus()
  // The word is inserted as a whole, because a pause between two letters would start a search.
  await page.keyboard.insertText('quill')
  await page.getByRole('option').filter({ hasText: 'Zoë Quill' }).waitFor()
  expect(asked).toEqual(['key_searches', 'key_searches'])

  // The next search does not complete.
  await page.route('**/key_searches?**', () => {})
  const begun = page.waitForRequest('**/key_searches?**')
  const ended = page.waitForEvent('requestfailed', request => request.url().includes('key_searches'))
  await page.keyboard.type('er')
  await begun
  await page.keyboard.press('Tab')
  await ended
})
