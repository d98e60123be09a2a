/** The API reference at `/docs` in a real browser. Screenshots are stored in `.artifacts`. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openPage, startChromium } from '../../../support/chromium.ts'
import { API_KEY, sharedService } from '#testing/processes/running-service.ts'

const ARTIFACTS = fileURLToPath(new URL('../../../../.artifacts/', import.meta.url))
const IS_ALLOWED = '#operations-Decisions-isAllowed'

const verdict = await sharedService()
let browser: Awaited<ReturnType<typeof startChromium>>

beforeAll(async () => {
  browser = await startChromium()
})
afterAll(() => browser.close())

/** Opens the reference, which must not report problems or send requests to other origins. */
async function openReference(): Promise<Page> {
  const page = await openPage(browser, { viewport: { width: 1_280, height: 1_000 } })
  const requested: string[] = []
  const problems: string[] = []
  page.on('request', request => requested.push(request.url()))
  page.on('pageerror', error => problems.push(error.message))
  // The console also reports violations of the content security policy.
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text())
  })
  page.on('response', response => {
    if (response.status() >= 400) problems.push(`${response.status()} ${response.url()}`)
  })
  onTestFinished(async () => {
    await page.close()
    const isOurs = (url: string) => url.startsWith('data:') || new URL(url).origin === verdict.address
    expect(requested.filter(url => !isOurs(url))).toEqual([])
    expect(requested.length).toBeGreaterThanOrEqual(5)
    expect(problems).toEqual([])
  })
  await page.goto(`${verdict.address}/docs`)
  await page.locator(IS_ALLOWED).waitFor()
  return page
}

/** Returns the parts of the page. Scrolls, because only the visible part is rendered. */
async function shownWhileScrolling(page: Page) {
  const [groups, operations, deprecated] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (let isAtEnd = false; !isAtEnd;) {
    await page.evaluate('new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
    for (const [selector, attribute, seen] of [
      ['.opblock-tag', 'data-tag', groups],
      ['.opblock', 'id', operations],
      ['.opblock-deprecated', 'id', deprecated],
    ] as const) {
      const found = await page
        .locator(selector)
        .evaluateAll((nodes, name) => nodes.map(node => node.getAttribute(name)!), attribute)
      for (const name of found) seen.add(name)
    }
    isAtEnd = await page.evaluate('scrollY + innerHeight >= document.documentElement.scrollHeight - 1')
    await page.evaluate('scrollBy(0, innerHeight / 2)')
  }
  await page.evaluate('scrollTo(0, 0)')
  return { groups: [...groups], operations: [...operations], deprecated: [...deprecated] }
}

/** Scrolls down until the element is rendered. */
async function scrolledTo(page: Page, selector: string) {
  const wanted = page.locator(selector)
  for (let isAtEnd = false; !isAtEnd && (await wanted.count()) === 0;) {
    isAtEnd = await page.evaluate('scrollY + innerHeight >= document.documentElement.scrollHeight - 1')
    await page.evaluate('scrollBy(0, innerHeight / 2)')
    await page.evaluate('new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))')
  }
  expect(await wanted.count()).toBe(1)
  return wanted
}

test('the reference shows every group of operations and expands an operation on click', async () => {
  const page = await openReference()
  expect(await page.title()).toBe('Verdict: API reference')
  const described = await verdict.get<{ tags: { name: string }[]; paths: object }>('/openapi.json')
  const operationCount = Object.values(described.body.paths).flatMap(item => Object.keys(item)).length
  const shown = await shownWhileScrolling(page)
  expect(shown.groups).toEqual(described.body.tags.map(({ name }) => name))
  expect(shown.operations).toHaveLength(operationCount)
  expect(shown.deprecated).toHaveLength(4)
  await page.screenshot({ path: join(ARTIFACTS, 'reference.png') })

  const operation = page.locator(IS_ALLOWED)
  expect(await operation.locator('.opblock-body').count()).toBe(0)
  await operation.locator('.opblock-summary-control').click()
  await operation.locator('.responses-wrapper').waitFor()
  const text = (await operation.innerText()).replaceAll(/\s+/g, ' ')
  for (const part of ['X-Request-ID', 'roadmap', 'The decision: allow or deny.', '401', '503']) {
    expect(text).toContain(part)
  }
  await operation.scrollIntoViewIfNeeded()
  await page.screenshot({ path: join(ARTIFACTS, 'reference-operation.png') })
})

async function authorizedReference(): Promise<Page> {
  const page = await openReference()
  await page.locator('.auth-wrapper > .btn.authorize').click()
  const dialog = page.locator('.modal-ux')
  await dialog.locator('input').first().fill(API_KEY)
  await dialog.locator('button.authorize').first().click()
  await dialog.locator('.close-modal').click()
  return page
}

test.each([
  ['isAllowed', '"allow": false'],
  ['isAllowedBulk', '"allow": ['],
  ['accessEvaluation', '"decision": false'],
])('the documented example of %s can be sent from the reference', async (operationId, expected) => {
  const page = await authorizedReference()
  const operation = await scrolledTo(page, `[id^="operations-"][id$="-${operationId}"]`)
  await operation.locator('.opblock-summary-control').click()
  await operation.locator('.try-out__btn').click()
  await operation.locator('tr[data-param-name="X-Request-ID"] input').fill('from the reference')
  await operation.locator('.execute').click()
  const answer = operation.locator('.live-responses-table')
  await answer.waitFor()
  const shown = await answer.innerText()
  for (const text of [expected, 'x-request-id: from the reference']) expect(shown).toContain(text)
  await answer.scrollIntoViewIfNeeded()
  await page.screenshot({ path: join(ARTIFACTS, `reference-${operationId}.png`) })
})
