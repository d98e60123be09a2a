/** Who comes in, and what is left of it: a key is typed, is in no address and in nothing that lasts, and is forgotten. */
import type { Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { ADMIN_KEY, API_KEY, sharedService } from '#testing/processes/running-service.ts'
import { openPage } from '../../support/chromium.ts'
import { pressOn } from '../../support/console-keys.ts'
import {
  expectAccessible,
  openConsole,
  openSignedIn,
  sharedChromium,
  takePicture,
} from '../../support/console-page.ts'

const verdict = await sharedService()
const chromium = sharedChromium()
const at = { address: verdict.address }

/** What the key of the environment is for, by ids. */
async function scopeOfKey() {
  const { body } = await verdict.send<{
    organization_id: string
    project_id: string
    environment_id: string
  }>('GET', '/v2/api-key/scope')
  return body
}

test('the page may run nothing and load nothing but what the service has, and no page may frame it', async () => {
  const { status, headers, body } = await verdict.send<string>('GET', '/console', { key: null })

  expect(status).toBe(200)
  const policy = headers.get('content-security-policy')!
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe|http:|https:|\*/)
  expect(body).not.toMatch(/<style|<script>|https?:\/\//)
})

test('its files are compressed, kept for ever under their names, and all of the first load is less than 300 KB', async () => {
  const page = await openPage(await chromium())
  const finished: Request[] = []
  page.on('requestfinished', request => finished.push(request))
  await page.goto(`${verdict.address}/console`)
  await page.locator('input[type=password]').waitFor()
  const sizes = await Promise.all(finished.map(async request => (await request.sizes()).responseBodySize))
  const files = finished.filter(request => request.url().includes('/console/'))
  const headers = await Promise.all(files.map(async request => (await request.response())!.headers()))
  await page.close()

  expect(headers.length).toBeGreaterThanOrEqual(3)
  for (const each of headers) expect(each['cache-control']).toContain('immutable')
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000)
})

test('an address with a slash at its end leads to the page, behind any prefix of a proxy', async () => {
  const led = await fetch(`${verdict.address}/console/`, { redirect: 'manual' })
  expect([led.status, led.headers.get('location')]).toEqual([308, '../console'])
})

test('a file that the console does not have is 404, and none of the machine is to be had', async () => {
  for (const path of ['nothing.js', '..%2Findex.html', '..%2F..%2Fpackage.json', '%2e%2e%2fsources']) {
    expect((await verdict.send('GET', `/console/${path}`, { key: null })).status, path).toBe(404)
  }
})

test('a key that the service does not take is refused beside its field', async () => {
  const page = await openConsole(await chromium(), { ...at, refusals: [401] })
  await page.locator('input[type=password]:focus').waitFor()
  await page.keyboard.type('no-key-of-anybody')
  await page.keyboard.press('Enter')

  await page.getByText('does not take this key').waitFor()
  expect(await page.locator('input[type=password]').getAttribute('aria-invalid')).toBe('true')
})

test('a key stays in its tab, is in no address, and is forgotten with the sign-out', async () => {
  const page = await openSignedIn(await chromium(), at)
  await page.getByRole('navigation').waitFor()
  expect(page.url()).not.toContain(API_KEY)
  const kept = 'JSON.stringify([{ ...localStorage }, document.cookie, history.state, location.href])'
  expect(await page.evaluate(kept)).not.toContain(API_KEY)

  // A reload goes on; another tab begins anew.
  await page.reload()
  await page.getByRole('navigation').waitFor()
  await pressOn(page.getByRole('button', { name: 'Sign out' }))

  await page.locator('input[type=password]').waitFor()
  expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(API_KEY)
  await page.reload()
  await page.locator('input[type=password]').waitFor()
})

test('a key that is revoked meanwhile ends the session, and says so', async () => {
  const made = await verdict.send<{ id: string; secret: string }>('POST', '/v2/api-key', {
    body: { object_type: 'env', name: 'for a while', ...(await scopeOfKey()) },
    key: ADMIN_KEY,
  })
  expect(made.status).toBe(200)
  const page = await openSignedIn(await chromium(), { ...at, key: made.body.secret, refusals: [401] })
  await page.getByRole('navigation').waitFor()
  await verdict.send('DELETE', `/v2/api-key/${made.body.id}`, { key: ADMIN_KEY })
  // The page may have noticed by itself, from the stream of changes that ended, and has no links then.
  await page.evaluate(`location.hash = location.hash.replace('questions', 'groups')`)

  await page.getByText('does not take this key').waitFor()
})

test('the key of the organization leads to a choice of environments', async () => {
  const page = await openSignedIn(await chromium(), { ...at, key: ADMIN_KEY })
  await page.getByRole('heading', { name: 'Choose an environment' }).waitFor()
  await expectAccessible(page)
  await takePicture(page, 'environments')
  await pressOn(page.getByRole('link', { name: 'default', exact: false }).first())

  await page.getByRole('navigation').waitFor()
})

for (const [language, word] of [
  ['en', 'Sign in'],
  ['de', 'Anmelden'],
] as const) {
  test(`signing in can be read, heard and typed, light and dark, on a telephone (${language})`, async () => {
    for (const size of ['desktop', 'phone'] as const) {
      for (const colors of ['light', 'dark'] as const) {
        const page = await openConsole(await chromium(), { ...at, size, language, colors })
        await page.getByRole('button', { name: word }).waitFor()
        await expectAccessible(page)
        await takePicture(page, `sign-in-${size}-${language}-${colors}`)
      }
    }
  })
}
