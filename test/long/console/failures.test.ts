/** Failures: repeated key presses, an unavailable service, missing files, incomplete addresses. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { freePort } from '#testing/processes/free-port.ts'
import {
  API_KEY,
  type Client,
  type Envelope,
  fresh,
  groupPath,
  RESOURCES,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { openPage } from '../../support/chromium.ts'
import { dialogClosed, press, pressOn } from '../../support/console-keys.ts'
import {
  expectAccessible,
  goTo,
  goToAddress,
  sees,
  sharedConsole,
  SIZES,
} from '../../support/console-page.ts'

const { verdict, open } = await sharedConsole()

async function groupAndUser(service: Client = verdict): Promise<[group: string, user: string]> {
  const [group, user] = fresh('team', 'dora')
  await service.group(group)
  await service.user(user)
  return [group, user]
}

/** Opens the dialog that adds a member, and enters the user. The focus stays in the field. */
async function openMembership(page: Page, user: string): Promise<void> {
  await press(page, 'Add member')
  await page.getByRole('combobox', { name: 'User' }).fill(user)
  await page.getByRole('option', { name: user }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('listbox').waitFor({ state: 'detached' })
}

test('pressing Enter three times in a field sends one request', async () => {
  const [group, user] = await groupAndUser()
  const page = await open(`groups/${group}`)
  await openMembership(page, user)
  const writes: string[] = []
  // A dialog that is closed by the response returns the focus to its button, which Enter would press.
  const pressed = Promise.withResolvers<void>()
  await page.route('**/v2/**', async route => {
    if (route.request().method() !== 'GET') writes.push(route.request().method())
    await pressed.promise
    await route.continue()
  })
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Enter')
  pressed.resolve()

  await sees(page, `${user} is a member of ${group}.`)
  await dialogClosed(page)
  expect(writes).toEqual(['PUT'])
  expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(1)
})

test('creating a group cannot be undone after another user has added a member', async () => {
  const [, user] = await groupAndUser()
  const [made] = fresh('made')
  const page = await open('groups')
  await press(page, 'New group')
  await page.getByRole('textbox', { name: 'Key' }).fill(made)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: made }).waitFor()
  await verdict.join(made, user)
  await press(page, 'Undo')

  await sees(page, 'Another user changed this')
  const { body } = await verdict.get<Envelope<{ key: string }>>(`${groupPath(made)}/users`)
  expect(body.data.map(({ key }) => key)).toEqual([user])
})

test('creating a type can be undone only if no other user has changed the type', async () => {
  for (const isAddedTo of [true, false]) {
    const [type] = fresh('made')
    const page = await open('model', { refusals: [404, 412] })
    await press(page, 'Add type')
    await page.getByRole('textbox', { name: 'Key' }).fill(type)
    await page.keyboard.press('Enter')
    await page.getByRole('complementary', { name: `The type ${type}` }).waitFor()
    if (isAddedTo) await verdict.post(`${RESOURCES}/${type}/roles`, { key: 'reader', name: 'Reader' })
    await press(page, 'Undo')

    await sees(page, isAddedTo ? 'Another user changed this' : 'Change undone.')
    expect((await verdict.get(`${RESOURCES}/${type}`)).status).toBe(isAddedTo ? 200 : 404)
  }
})

test('while the service is unavailable, inputs are kept; afterwards, lists that failed are loaded', async () => {
  const settings = { port: await freePort(), storeUrl: `lmdb:${storeDirectory()}` }
  const service = await startedService(settings)
  const [group, user] = await groupAndUser(service)
  const [other] = await groupAndUser(service)
  const page = await open(`groups/${group}`, { address: service.address })
  await sees(page, 'This group has no direct members.')
  await page.locator('.live-mark.live').waitFor()
  await service.close()

  await press(page, 'Add member')
  await page.getByRole('combobox', { name: 'User' }).fill(user)
  await page.keyboard.press('Tab')
  await press(page, 'Add')
  await sees(page, 'The service does not respond.')
  expect(await page.getByRole('combobox', { name: 'User' }).inputValue()).toBe(user)
  await page.keyboard.press('Escape')
  await dialogClosed(page)
  await goTo(page, `groups/${other}`)
  await page.getByRole('alert').filter({ hasText: 'does not respond' }).first().waitFor()

  const again = await startedService(settings)
  await sees(page, 'This group has no direct members.')
  expect((await again.get<{ data: unknown[] }>(`${groupPath(group)}/users`)).body.data).toEqual([])
})

test('a page whose files cannot be loaded shows an error and can be reloaded; other pages remain usable', async () => {
  const page = await openPage(await open.chromium(), { locale: 'en-GB' })
  await page.goto(`${verdict.address}/console`)
  await page.locator('input[type=password]').fill(API_KEY)
  await page.keyboard.press('Enter')
  await pressOn(page.getByRole('link', { name: 'Groups' }))
  await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor()
  // Simulates an update of the service, after which the files have other names.
  await page.route('**/console/access-pages-*', route => route.abort())
  await pressOn(page.getByRole('link', { name: 'Access' }))
  await page.getByRole('heading', { level: 1, name: 'This page could not be displayed.' }).waitFor()
  await expectAccessible(page)
  await pressOn(page.getByRole('link', { name: 'Groups' }))
  await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor()
  await page.goBack()
  await page.unroute('**/console/access-pages-*')
  await press(page, 'Reload')

  await page.getByRole('heading', { level: 1, name: 'Permissions of a user' }).waitFor()
  await page.close()
})

test('an address without an environment redirects to the environment of the key', async () => {
  const page = await open()
  await page.getByRole('heading', { level: 1, name: 'Why?' }).waitFor()
  await goToAddress(page, '#/default')

  await expect.poll(() => page.url()).toMatch(/#\/[^/]+\/[^/]+\/questions$/)
  await page.getByRole('heading', { level: 1, name: 'Why?' }).waitFor()
})

test('on a phone, a key of 200 letters is wrapped, and the current page is visible in the navigation', async () => {
  const user = 'x'.repeat(200)
  await verdict.user(user)
  const page = await open({ size: 'phone' })
  for (const path of [`groups/~users/${user}`, `access/users/user/${user}/action/read`]) {
    await goTo(page, path)
    await page.getByRole('heading', { name: user }).first().waitFor()
    await expectAccessible(page)
  }
  await goTo(page, 'operations/keys')
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Keys' })
  const isInSight = async (): Promise<boolean> => {
    const { x, width } = (await link.boundingBox())!
    return x >= 0 && x + width <= SIZES.phone.width
  }
  await expect.poll(isInSight).toBe(true)
})
