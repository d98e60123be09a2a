/** Sign-in: files of the first load, rejected keys, storage of the key, and the sign-out. */
import type { Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { ADMIN_KEY, API_KEY } from '#testing/processes/running-service.ts'
import { openPage } from '../../support/chromium.ts'
import { pressOn } from '../../support/console-keys.ts'
import { look, LOOKS, sees, sharedConsole, typeApiKey } from '../../support/console-page.ts'

const { verdict, open } = await sharedConsole()

test('the files of the console are cached permanently, and the first load is less than 300 KB', async () => {
  const page = await openPage(await open.chromium())
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

test('a rejected key shows an error next to its field', async () => {
  const page = await open.signedOut({ refusals: [401] })
  await typeApiKey(page, 'unknown-key')

  await sees(page, 'rejected this key')
  expect(await page.locator('input[type=password]').getAttribute('aria-invalid')).toBe('true')
})

test('a key is stored only in its tab, is not in an address, and is removed by the sign-out', async () => {
  const page = await open()
  await page.getByRole('navigation').waitFor()
  expect(page.url()).not.toContain(API_KEY)
  const kept = 'JSON.stringify([{ ...localStorage }, document.cookie, history.state, location.href])'
  expect(await page.evaluate(kept)).not.toContain(API_KEY)

  // A reload keeps the session.
  await page.reload()
  await page.getByRole('navigation').waitFor()
  await pressOn(page.getByRole('button', { name: 'Sign out' }))

  await page.locator('input[type=password]').waitFor()
  expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(API_KEY)
  await page.reload()
  await page.locator('input[type=password]').waitFor()
})

test('revoking a key ends its session and shows the reason', async () => {
  const scope = { project_id: 'default', environment_id: 'default', name: 'temporary' }
  const made = await verdict.createKey(scope)
  const page = await open({ key: made.secret, refusals: [401] })
  await page.getByRole('navigation').waitFor()
  await verdict.send('DELETE', `/v2/api-key/${made.id}`, { key: ADMIN_KEY })
  // The session can already have ended with the change stream; then the page has no links.
  await page.evaluate(`location.hash = location.hash.replace('questions', 'groups')`)

  await sees(page, 'rejected this key')
})

test('changes above the level of the key are not offered, and no page without `read`', async () => {
  const keyOf = async (access_level: string) => {
    const body = { project_id: 'default', environment_id: 'default', access_level }
    return (await verdict.admin<{ secret: string }>('POST', '/v2/api-key', body)).body.secret
  }
  const page = await open('groups', { key: await keyOf('read') })
  await sees(page, 'This needs a key with the level write_facts or above. The level of your key is read.')
  expect(await page.getByRole('button', { name: 'New group' }).isDisabled()).toBe(true)
  await look(page, 'groups-with-a-key-of-level-read')
  const changer = await open('groups', { key: await keyOf('write_facts') })
  expect(await changer.getByRole('button', { name: 'New group' }).isEnabled()).toBe(true)

  const without = await open.signedOut()
  await typeApiKey(without, await keyOf('decide'))
  await sees(without, 'This needs a key with the level read or above. The level of your key is decide.')
  expect(await without.getByRole('navigation').count()).toBe(0)
  await pressOn(without.getByRole('button', { name: 'Sign out' }))
  await without.locator('input[type=password]').waitFor()
})

test('a key of the organization leads to a choice of environments', async () => {
  const page = await open({ key: ADMIN_KEY })
  await page.getByRole('heading', { name: 'Choose an environment' }).waitFor()
  await look(page, 'environments')
  await pressOn(page.getByRole('link', { name: 'default', exact: false }).first())

  await page.getByRole('navigation').waitFor()
})

test.each(LOOKS)('the sign-in page is accessible: $size, $colors, $language', async as => {
  const page = await open.signedOut(as)
  await page.getByRole('button', { name: as.language === 'en' ? 'Sign in' : 'Anmelden' }).waitFor()
  await look(page, 'sign-in', as)
})
