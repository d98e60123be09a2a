/** Checks of every page that links reach: empty, with management keys, at 200 % zoom, by keyboard alone. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ADMIN_KEY, FACTS, neighbourOf, SCHEMA } from '#testing/processes/running-service.ts'
import { pressOn } from '../../support/console-keys.ts'
import { unreached } from '../../support/console-focus.ts'
import { expectAccessible, goToAddress, loaded, sharedConsole } from '../../support/console-page.ts'
import { createTypes, TEN_TYPES } from '../../support/drawn-models.ts'

const { verdict, open } = await sharedConsole()

await verdict.createDocumentModel()
await createTypes(TEN_TYPES.slice(0, 2), type => verdict.resource(type))
await verdict.tenant('acme')
await verdict.users('alice', 'bob')
await verdict.group('team')
await verdict.join('team', 'alice')
await verdict.instance('document:plan')
await verdict.grant('team', 'viewer', 'document:plan')
await verdict.post(`${SCHEMA}/condition_sets`, {
  key: 'seniors',
  name: 'Seniors',
  type: 'userset',
  conditions: { 'user.level': { 'greater-than': 3 } },
})
await verdict.post(`${FACTS}/users`, { key: 'carol', attributes: { level: 5 } })

/** Limits for the number of pages that links reach within the environment. */
const PAGES_MIN = 10
const PAGES_MAX = 60

/** Visits each page that links reach within the environment. Visits no page twice. */
async function onEveryPage(page: Page, look: (path: string) => Promise<void>): Promise<string[]> {
  const root = (await page.evaluate('location.hash.split("/").slice(0, 3).join("/")')) as string
  const seen = new Set<string>()
  const ahead = [(await page.evaluate('location.hash')) as string]
  for (let path = ahead.shift(); path !== undefined; path = ahead.shift()) {
    if (seen.has(path)) continue
    seen.add(path)
    expect(seen.size, 'number of pages').toBeLessThan(PAGES_MAX)
    await goToAddress(page, path)
    await loaded(page)
    await look(path)
    const links = (await page.evaluate(
      `[...document.querySelectorAll('a[href^="#/"]')].map(link => link.getAttribute('href'))`,
    )) as string[]
    ahead.push(...links.filter(link => link === root || link.startsWith(`${root}/`)))
  }
  return [...seen]
}

test('every page of an empty environment is accessible', async () => {
  const key = await neighbourOf(verdict, 'untouched')
  const page = await open({ key })
  const pages = await onEveryPage(page, () => expectAccessible(page))
  expect(pages.length).toBeGreaterThan(PAGES_MIN)
})

test('every page is accessible and not wider than the screen at 200 % zoom', async () => {
  // At this zoom, a screen of 1280 × 860 pixels has this size.
  const page = await open()
  await page.setViewportSize({ width: 640, height: 430 })
  const pages = await onEveryPage(page, () => expectAccessible(page))
  expect(pages.length).toBeGreaterThan(PAGES_MIN)
})

test.each(['a project', 'the organization'])('no page shows an error to the key of %s', async of => {
  const scope = { object_type: 'project', project_id: 'default', name: 'Of a project' }
  const made = await verdict.createKey(scope)
  const page = await open({ key: of === 'a project' ? made.secret : ADMIN_KEY })
  await pressOn(page.locator('main').getByRole('link').first())
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  const alerts: string[] = []
  const pages = await onEveryPage(page, async path => {
    for (const text of await page.getByRole('alert').allInnerTexts()) alerts.push(`${path}: ${text}`)
  })
  expect(pages.length).toBeGreaterThan(PAGES_MIN)
  expect(alerts).toEqual([])
})

test('the Tab key reaches each control of every page, and the focus is visible', async () => {
  const page = await open()
  const pages = await onEveryPage(page, async path => {
    expect([path, await unreached(page)]).toEqual([path, []])
  })
  expect(pages.length).toBeGreaterThan(PAGES_MIN)
})
