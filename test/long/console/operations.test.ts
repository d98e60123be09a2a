/** Pages for operators by keyboard: health, recent activity (sampled every 5 seconds), and API keys. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  ADMIN_KEY,
  API_KEY,
  type Client,
  fresh,
  question,
  startedService,
} from '#testing/processes/running-service.ts'
import { choose, dialog, press, pressOn, typeAndPress } from '../../support/console-keys.ts'
import { expectAccessible, look, LOOKS, rowWith, sees, sharedConsole } from '../../support/console-page.ts'

const { verdict, open } = await sharedConsole()

await verdict.createDocumentModel()
await verdict.tenant('acme')
await verdict.users('alice', 'bob')
await verdict.instance('document:plans', 'acme')
await verdict.assign('alice', 'viewer', 'document:plans', 'acme')

/** Sends checks, half of which are denied, and one invalid request. */
async function ask(): Promise<void> {
  for (const user of ['alice', 'bob']) {
    await verdict.allowsAll(
      Array.from({ length: 40 }, () => question(user, 'read', 'document:plans', 'acme')),
    )
    await verdict.allows(user, 'read', 'document:plans', 'acme')
  }
  await verdict.post('/allowed', {})
}

/** Waits until the recent figures of the service include these checks. */
async function sampled(): Promise<void> {
  await expect
    .poll(async () => {
      const { body } = await verdict.get<{ samples: { checks_per_second: { allow: number } }[] }>(
        '/v2/nodes/this/recent',
      )
      return body.samples.some(({ checks_per_second }) => checks_per_second.allow > 0)
    })
    .toBe(true)
}

/** Expression for the canvas of a plot, evaluated in the page. */
const canvasOf = (title: string): string =>
  `[...document.querySelectorAll('figure')].find(each => each.querySelector('h3').textContent === '${title}').querySelector('canvas')`

/** Number of colored pixels of a plot. Only its lines are colored. */
async function drawnIn(page: Page, title: string): Promise<number> {
  await page.getByRole('figure', { name: title }).locator('canvas').waitFor()
  return page.evaluate(`(canvas => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    let colored = 0
    for (let at = 0; at < data.length; at += 4) {
      const [red, green, blue] = data.slice(at, at + 3)
      if (Math.max(red, green, blue) - Math.min(red, green, blue) > 90) colored += 1
    }
    return colored
  })(${canvasOf(title)})`)
}

async function statusOf(secret: string, client: Client = verdict): Promise<number> {
  return (await client.send('GET', '/v2/api-key/scope', { key: secret })).status
}

async function secretIn(page: Page): Promise<string> {
  return page.getByRole('dialog').locator('.secret code').innerText()
}

/** Replaces the value of a field in the dialog. */
async function type(page: Page, role: 'textbox' | 'combobox', name: string, text: string): Promise<void> {
  const field = page.getByRole('dialog').getByRole(role, { name, exact: true })
  await pressOn(field, 'ControlOrMeta+a')
  await typeAndPress(page, text, 'Tab')
}

/** Expression for the content of the page and all data that the browser stores for it. */
const KEPT =
  'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state, location.href, document.body.innerHTML, [...document.querySelectorAll("input")].map(({ value }) => value)])'

test('the page shows health, the revision of the environment, and the node', async () => {
  const page = await open('operations')
  const figure = (name: string) => page.locator('.figure', { hasText: name })
  await figure('Decisions').getByText('✓ available').waitFor()
  await figure('Writes').getByText('✓ accepted').waitFor()
  await figure('Changes by other nodes').getByText('✓ received').waitFor()
  await figure('Replication lag').getByText('none').waitFor()
  await sees(figure('Revision'), await verdict.revision())

  // The revision follows changes by other users.
  await verdict.user(fresh('carol')[0])
  await sees(figure('Revision'), await verdict.revision())
  const nodes = page.getByRole('table', { name: 'Nodes' })
  await sees(nodes, 'this node')
  expect(await nodes.getByRole('row').count()).toBe(2)
})

test('recent activity is shown as plots and as a table, and is updated', async () => {
  await ask()
  await sampled()
  const page = await open('operations')
  const checks = page.getByRole('figure', { name: 'Checks per second' })
  await checks.waitFor()
  for (const title of ['Requests per second', 'Checks per second', 'Event loop delay'])
    expect(await drawnIn(page, title), title).toBeGreaterThan(20)

  await pressOn(checks.locator('summary'))
  const table = checks.getByRole('region', { name: 'Checks per second: all samples' })
  await table.waitFor()
  expect(await table.getByRole('columnheader').allTextContents()).toEqual(['Time', 'allowed', 'denied'])
  await sees(table, /^[1-9][\d.]*\/s$/)

  // The next sample appears automatically.
  const latest = checks.locator('figcaption .row > span')
  const before = await latest.textContent()
  await expect.poll(() => latest.textContent()).not.toBe(before)
})

test('plots use the colors of the theme', async () => {
  await ask()
  await sampled()
  const page = await open('operations')
  await page.getByRole('figure', { name: 'Requests per second' }).locator('canvas').waitFor()
  const colorOfText = `getComputedStyle(${canvasOf('Requests per second')}.closest('.plot-canvas')).color`
  const drawn = `${canvasOf('Requests per second')}.toDataURL()`
  const [light, lightText] = [await page.evaluate(drawn), await page.evaluate(colorOfText)]
  await page.getByLabel('Theme').selectOption('dark')
  await expect.poll(() => page.evaluate(drawn)).not.toBe(light)
  expect(await page.evaluate(colorOfText)).not.toBe(lightText)
})

test('the page states which key can read the figures if METRICS_TOKEN is set', async () => {
  const guarded = await startedService({ metricsToken: 'token-of-the-tests' })
  const opened = { address: guarded.address, path: 'operations' }
  const page = await open({ ...opened, refusals: [403] })
  await sees(page, 'only a key of the organization can read them')
  await expectAccessible(page)

  const allowed = await open({ address: guarded.address, key: ADMIN_KEY })
  await pressOn(allowed.getByRole('link', { name: 'Operations' }))
  await allowed.getByRole('figure', { name: 'Requests per second' }).waitFor()
})

test('an environment key cannot manage keys, and the page offers to sign in with another key', async () => {
  const page = await open('operations/keys')
  await sees(page, 'This key cannot manage keys')
  await look(page, 'keys-of-an-environment')
  await pressOn(page.getByRole('button', { name: 'Sign in with another key' }))
  await page.locator('input[type=password]:focus').waitFor()
})

test('creating, rotating and revoking a key take effect immediately, and its secret is shown only once', async () => {
  const [name] = fresh('<img src=x onerror=alert(1)>')
  const page = await open({ key: ADMIN_KEY })
  // No environment was selected before.
  await pressOn(page.getByRole('link', { name: 'Keys' }))
  await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor()
  await press(page, 'Create key')
  await type(page, 'textbox', 'Name', name)
  await type(page, 'combobox', 'Project', 'default')
  await type(page, 'combobox', 'Environment', 'default')
  await sees(page, 'can check access in the environment default')
  await press(dialog(page), 'Create key')
  await sees(page, 'It is not shown again.')
  const first = await secretIn(page)
  expect(await statusOf(first)).toBe(200)
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Copy secret')
  await look(page, 'key-made')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.keyboard.press('Enter')
  await sees(page, 'Secret copied.')
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(first)
  // Escape does not close the dialog, because the secret is not shown again.
  await page.keyboard.press('Escape')
  await press(page, 'I have stored the secret')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Create key')
  expect(await page.evaluate(KEPT)).not.toContain(first)
  await sees(rowWith(page, name), 'Default project / Default environment')

  // With an overlap, the old secret remains valid.
  await press(page, `Rotate ${name}`)
  await sees(page, 'The old secret remains valid for 1 hour')
  await press(dialog(page), 'Rotate')
  const second = await secretIn(page)
  expect([await statusOf(first), await statusOf(second)]).toEqual([200, 200])
  await press(page, 'I have stored the secret')
  await sees(rowWith(page, name), 'valid until')

  // Without an overlap, both earlier secrets become invalid immediately.
  await press(page, `Rotate ${name}`)
  await choose(page, 'Old secret remains valid', 'not at all')
  await sees(page, 'The old secret becomes invalid immediately')
  await sees(page, 'The previous secret, which is valid until')
  await press(dialog(page), 'Rotate')
  const third = await secretIn(page)
  expect([await statusOf(first), await statusOf(second), await statusOf(third)]).toEqual([401, 401, 200])
  await press(page, 'I have stored the secret')

  await press(page, `Revoke ${name}`)
  await sees(page, 'This cannot be undone')
  await look(page, 'key-revoked')
  await press(dialog(page), 'Revoke')
  await rowWith(page, name).waitFor({ state: 'detached' })
  expect(await statusOf(third)).toBe(401)
  await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Keys')
  expect(await page.evaluate(KEPT)).not.toContain(third)
})

test('a rejected creation shows an error in the dialog, and a revocation shows one in a message', async () => {
  const page = await open({ key: ADMIN_KEY, refusals: [400, 404] })
  await pressOn(page.getByRole('link', { name: 'Keys' }))
  await press(page, 'Create key')
  await type(page, 'textbox', 'Name', 'for nobody')
  await type(page, 'combobox', 'Project', 'no-such-project')
  await type(page, 'combobox', 'Environment', 'staging')
  await press(dialog(page), 'Create key')
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('for nobody')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })

  // The key from the settings cannot be revoked here.
  await pressOn(page.getByRole('button', { name: /^Revoke unnamed/ }).first())
  await press(dialog(page), 'Revoke')
  await sees(page, 'this key is set by API_KEY')
  expect(await statusOf(API_KEY)).toBe(200)
})

test('a project key creates keys of its environments, and does not see other keys', async () => {
  const [name] = fresh('of a project')
  const made = await verdict.createKey({ object_type: 'project', project_id: 'default', name })
  const page = await open({ key: made.secret })
  await pressOn(page.getByRole('link', { name: 'Keys' }))
  await page.getByRole('table', { name: 'API keys' }).waitFor()
  expect(await page.getByText(name).count()).toBe(0)
  await press(page, 'Create key')
  await type(page, 'combobox', 'Environment', 'default')
  expect(await page.getByRole('combobox', { name: 'Project' }).count()).toBe(0)
  await press(dialog(page), 'Create key')
  expect(await statusOf(await secretIn(page))).toBe(200)
})

test.each(LOOKS)('the pages for operators are accessible: $size, $colors, $language', async as => {
  await ask()
  await sampled()
  const operations = await open('operations', as)
  await operations.getByRole('figure').last().locator('canvas').waitFor()
  await operations.locator('.figure .badge').nth(2).waitFor()
  await look(operations, 'operations', as)
  const keys = await open({ ...as, key: ADMIN_KEY })
  await pressOn(keys.getByRole('link', { name: as.language === 'en' ? 'Keys' : 'Schlüssel' }))
  await keys.getByRole('table').waitFor()
  await look(keys, 'keys', as)
})
