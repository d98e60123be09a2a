/**
 * Opens the console in a browser with a real service, and signs in by keyboard. Each test fails if the page
 * reports an error or sends a request to another origin. Screenshots are stored in `.artifacts/console`;
 * reviewed screenshots are in `test/long/console/pictures`.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, expect, onTestFinished } from 'vitest'
import { API_KEY, sharedService } from '#testing/processes/running-service.ts'
import { openPage, startChromium } from './chromium.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PICTURES = '.artifacts/console'
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Runs in the page: waits for all animations that have an end. */
const ANIMATIONS_ENDED = `Promise.allSettled(document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
  .map(({ finished }) => finished))`

export const SIZES = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } } as const
export type Size = keyof typeof SIZES

/** Combinations of sizes, colors and languages. */
export const LOOKS = [
  { size: 'desktop', colors: 'light', language: 'en' },
  { size: 'desktop', colors: 'dark', language: 'de' },
  { size: 'phone', colors: 'light', language: 'de' },
  { size: 'phone', colors: 'dark', language: 'en' },
] as const

interface Opened {
  readonly address: string
  /** Path below the environment, such as `groups/platform`. The default is the page after the sign-in. */
  readonly path?: string
  readonly key?: string
  readonly size?: Size
  readonly language?: 'en' | 'de'
  readonly colors?: 'light' | 'dark'
  /** Error statuses that the test expects. */
  readonly refusals?: readonly number[]
  /** Origin of the issuer, to which the sign-in leads. */
  readonly issuer?: string
  /** Fragment of the first address. */
  readonly hash?: string
}

/** Browser that all tests of a file share. */
export function sharedChromium(): () => Promise<Browser> {
  let browser: Promise<Browser> | null = null
  afterAll(async () => (await browser)?.close())
  return () => (browser ??= startChromium())
}

/** Returns a function that opens pages of the console; without a key, of the default environment. */
export function consoleOf(address: string, chromium = sharedChromium()) {
  type Options = Partial<Opened>
  const open = async (path?: string | Options, options: Options = {}): Promise<Page> =>
    openSignedIn(await chromium(), { address, ...(typeof path === 'string' ? { path } : path), ...options })
  const signedOut = async (options: Options = {}): Promise<Page> =>
    openConsole(await chromium(), { address, ...options })
  return Object.assign(open, { chromium, signedOut })
}

/** Starts a service for all tests of the current file, and returns a function that opens its console. */
export async function sharedConsole() {
  const verdict = await sharedService()
  return { verdict, open: consoleOf(verdict.address) }
}

/** Row of a table that contains a text. */
export function rowWith(within: Page | Locator, text: string): Locator {
  return within.getByRole('row').filter({ hasText: text })
}

/** Waits until a text is on the page. */
export async function sees(
  within: Page | Locator,
  text: string | RegExp,
  options: { readonly exact?: boolean } = {},
): Promise<void> {
  await within.getByText(text, options).first().waitFor()
}

/** Opens the console without a sign-in. */
async function openConsole(browser: Browser, opened: Opened): Promise<Page> {
  const { address, size = 'desktop', language = 'en', colors = 'light', refusals = [], issuer } = opened
  const page = await openPage(browser, {
    viewport: SIZES[size],
    locale: language === 'en' ? 'en-GB' : 'de-DE',
    colorScheme: colors,
    timezoneId: 'Europe/Berlin',
  })
  if (process.env['SLOW_BROWSER'] === '1') await slowDown(page)
  const problems: string[] = []
  page.on('pageerror', error => problems.push(error.message))
  page.on('request', request => {
    const url = request.url()
    const isOwn = [address, issuer].includes(new URL(url).origin)
    if (!url.startsWith('data:') && !url.startsWith('blob:') && !isOwn) problems.push(`request to ${url}`)
  })
  page.on('response', response => {
    if (response.status() >= 400 && !refusals.includes(response.status()))
      problems.push(`${response.status()} ${response.url()}`)
  })
  // Includes violations of the content security policy. Error responses are checked above.
  page.on('console', message => {
    if (
      ['error', 'warning'].includes(message.type()) &&
      !message.text().startsWith('Failed to load resource')
    )
      problems.push(message.text())
  })
  onTestFinished(async () => {
    await page.close()
    expect(problems).toEqual([])
  })
  await page.goto(`${address}/console${opened.hash ?? ''}`)
  return page
}

/** Simulates a busy machine, to find missing waits in tests. */
async function slowDown(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 })
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 300,
    downloadThroughput: -1,
    uploadThroughput: -1,
  })
}

/** Signs in with a key after the field has received the focus. */
export async function typeApiKey(page: Page, key = API_KEY): Promise<void> {
  await page.locator('input[type=password]:focus').waitFor()
  await page.keyboard.type(key)
  await page.keyboard.press('Enter')
}

/** Opens the console and signs in by keyboard. */
async function openSignedIn(browser: Browser, opened: Opened): Promise<Page> {
  const page = await openConsole(browser, opened)
  await typeApiKey(page, opened.key)
  // The sign-in form also has a heading, so a heading alone does not prove that the next page is complete.
  await page.locator('input[type=password]').waitFor({ state: 'detached' })
  await page.getByRole('heading', { level: 1 }).waitFor()
  if (opened.path !== undefined) await goTo(page, opened.path)
  return page
}

/** Opens another page of the environment, as a link would. */
export async function goTo(page: Page, path: string): Promise<void> {
  await page.locator('nav').first().waitFor()
  const environment = (await page.evaluate('location.hash.split("/").slice(0, 3).join("/")')) as string
  await goToAddress(page, `${environment}/${path}`)
}

/** Opens another address, which begins with `#`, as a link would. */
export async function goToAddress(page: Page, address: string): Promise<void> {
  await page.evaluate(navigate, address)
}

/**
 * Runs in the page. The console renders on `popstate`, which precedes `hashchange`. After `popstate`, a page
 * is hidden until it is loaded, so that its fields cannot have the focus.
 */
async function navigate(hash: string): Promise<void> {
  const { location, addEventListener: listen } = globalThis as unknown as {
    location: { hash: string }
    addEventListener: (event: string, listener: () => void, options: object) => void
  }
  if (hash === location.hash) return
  await new Promise<void>(resolve => {
    listen('hashchange', resolve, { once: true })
    location.hash = hash
  })
}

/** Waits until the page has loaded its data. */
export async function loaded(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await expect.poll(() => page.locator('.skeleton').count()).toBe(0)
  await expect.poll(() => page.getByRole('heading', { level: 1 }).count()).toBe(1)
}

/** Fails if the page violates WCAG 2.2 AA, or is wider than the screen. */
export async function expectAccessible(page: Page): Promise<void> {
  // Animations change the contrast of texts until they have ended.
  await page.evaluate(ANIMATIONS_ENDED)
  await page.evaluate(AXE)
  // Announcements for screen readers can refer to buttons that no longer exist.
  const found = (await page.evaluate(
    `axe.run({ exclude: ['[data-live-announcer]'] }, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  )) as AxeResults
  expect(
    found.violations.map(({ id, help, nodes }) => ({
      id,
      help,
      nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })),
    })),
  ).toEqual([])
  const overhang = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  expect(overhang, 'pixels beyond the right edge of the screen').toBe(0)
}

/** Stores a screenshot of the whole page. */
export async function takePicture(page: Page, name: string): Promise<void> {
  await page.evaluate('document.fonts.ready')
  await page.screenshot({
    path: join(ROOT, PICTURES, `${name}.png`),
    fullPage: true,
    animations: 'disabled',
    caret: 'hide',
  })
}

/** Checks accessibility, and stores a screenshot whose name includes size, language and colors, if given. */
export async function look(page: Page, name: string, as?: (typeof LOOKS)[number]): Promise<void> {
  await expectAccessible(page)
  await takePicture(page, as ? `${name}-${as.size}-${as.language}-${as.colors}` : name)
}
