/** Audit log of one entity, names of keys in the audit log, and creators and last use of keys. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { ApiKey } from '#model/wire/organization/api-key.ts'
import { ADMIN_KEY, type Client, FACTS, SCHEMA, startedService } from '#testing/processes/running-service.ts'
import { choose, complete, press, pressOn } from '../../support/console-keys.ts'
import { goTo, look, LOOKS, rowWith, sees, sharedConsole, takePicture } from '../../support/console-page.ts'

const { verdict, open } = await sharedConsole()

await verdict.createDocumentModel()
await verdict.users('carol', 'dave')
await verdict.instance('document:roadmap')
await verdict.group('platform')
await verdict.join('platform', 'carol')
await verdict.join('platform', 'dave')
await verdict.assign('carol', 'viewer', 'document:roadmap')
await verdict.patch(`${SCHEMA}/resources/document`, { description: 'What is written down.' })

function shownIn(page: Page): Promise<string[]> {
  return page
    .getByRole('table', { name: 'Audit log' })
    .locator('tbody tr td:nth-child(2), tbody tr [role=gridcell]:nth-child(2)')
    .allInnerTexts()
}

/** Waits until the log has this number of entries, and returns their operations, newest first. */
async function shows(page: Page, count: number): Promise<string[]> {
  await sees(page, `${count} of ${count}`, { exact: true })
  return shownIn(page)
}

test('the audit log can be filtered by a user or resource and exported, all by keyboard', async () => {
  const page = await open('access/audit')
  await page.getByRole('table', { name: 'Audit log' }).waitFor()
  await choose(page, 'About', 'a user')
  await complete(page, 'User', 'caro', 'carol')
  await press(page, 'Show')
  expect(await shows(page, 3)).toEqual(['Role granted', 'Member added to a group', 'User created'])
  await look(page, 'audit-about-desktop')

  const downloading = page.waitForEvent('download')
  await press(page, 'Export CSV: Audit log')
  const download = await downloading
  expect(download.suggestedFilename()).toBe('audit-log-carol.csv')
  const lines = (await readFile(await download.path(), 'utf8')).split('\r\n').slice(1, -1)
  expect(lines.map(line => line.split(',')[1])).toEqual([
    'createRoleAssignment',
    'addGroupMember',
    'createUser',
  ])

  // Another kind of entity resets the key. For a resource, the user selects the type before the key.
  await choose(page, 'About', 'a resource')
  const which = page.getByRole('combobox', { name: 'Resource', exact: true })
  expect(await which.inputValue()).toBe('')
  await complete(page, 'Resource', 'docu', 'document:')
  await which.focus()
  await page.keyboard.press('End')
  await page.keyboard.type('road')
  await page.locator('[role=option][data-key="document:roadmap"]').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect.poll(() => which.inputValue()).toBe('document:roadmap')
  await press(page, 'Show')
  expect(await shows(page, 2)).toEqual(['Role granted', 'Resource created'])

  // A kind without a key does not filter the list, and the page resets it.
  await choose(page, 'About', 'a tenant')
  await press(page, 'Show')
  await page.getByRole('button', { name: 'About' }).getByText('any entity').waitFor()
})

test('the pages of users, resources, groups and types link to their audit logs', async () => {
  const page = await open()
  const logs = {
    'access/users/user/dave': ['Member added to a group', 'User created'],
    'access/resources/type/document/instance/roadmap': ['Role granted', 'Resource created'],
    'groups/platform': ['Member added to a group', 'Member added to a group', 'Group created'],
    'model/types/document': ['Type changed', 'Type created'],
  }
  for (const [path, done] of Object.entries(logs)) {
    await goTo(page, path)
    const link = page.getByRole('link', { name: /^Audit log of / })
    await link.waitFor()
    await takePicture(page, `log-of-this-${path.split('/')[0]}-${path.split('/')[1]}`)
    await pressOn(link)
    await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor()
    expect(await shows(page, done.length), path).toEqual(done)
  }
})

/** Creates more keys than fit on a page, and a user with the last of them. */
async function manyKeys(client: Client): Promise<void> {
  const made = (name: string, key = ADMIN_KEY) =>
    client.send<ApiKey & { secret: string }>('POST', '/v2/api-key', {
      key,
      body: { project_id: 'default', environment_id: 'default', name },
    })
  for (let number = 0; number < 105; number += 1) expect((await made(`number ${number}`)).status).toBe(200)
  const { body: last } = await made('the last one')
  await client.done('POST', `${FACTS}/users`, { key: 'erin' }, last.secret)
}

test('the audit log names keys beyond the first page, and its filter finds them by name', async () => {
  const client = await startedService()
  await manyKeys(client)
  const page = await open({ address: client.address, key: ADMIN_KEY })
  await pressOn(page.getByRole('link', { name: 'default', exact: false }).first())
  await goTo(page, 'access/audit')
  await sees(rowWith(page, 'erin'), 'the last one')
  const { body } = await client.send<{ data: ApiKey[] }>('GET', '/v2/api-key?search=the%20last', {
    key: ADMIN_KEY,
  })
  expect(body.data.map(({ name }) => name)).toEqual(['the last one'])
  await complete(page, 'Key', 'the la', body.data[0]!.id)
  await press(page, 'Show')
  expect(await shows(page, 1)).toEqual(['User created'])
})

test('the audit log shows a claimed actor only together with the key that claimed it', async () => {
  const client = await startedService()
  const headers = { 'x-actor': 'Ann%20Lee', 'x-actor-for': 'bob, carol' }
  for (const key of [undefined, ADMIN_KEY]) {
    const body = { key: key === undefined ? 'erin' : 'frank' }
    await client.send('POST', `${FACTS}/users`, { ...(key !== undefined && { key }), headers, body })
  }
  const page = await open({ address: client.address, key: ADMIN_KEY })
  await pressOn(page.getByRole('link', { name: 'default', exact: false }).first())
  await goTo(page, 'access/audit')
  await sees(rowWith(page, 'erin'), /^Ann Lee for bob, carol$/)
  await sees(rowWith(page, 'erin'), /^claimed by key /)
  await sees(rowWith(page, 'frank'), 'claimed by the operator key')
  await look(page, 'audit-actors-desktop')
})

test('the list of keys shows the creator and the approximate last use of each key', async () => {
  const client = await startedService()
  const ofTeam = await client.createKey({ name: 'Team' })
  const body = { project_id: 'default', environment_id: 'default', name: 'Shop' }
  await client.done('POST', '/v2/api-key', body, ofTeam.secret)
  const page = await open({ address: client.address, key: ADMIN_KEY })
  await pressOn(page.getByRole('link', { name: 'Keys' }))
  const row = (name: string) => page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) })
  await row('Shop').getByText('by Team').waitFor()
  await row('Shop').getByText('not recorded').waitFor()
  await row('Team').getByText('by operator key').waitFor()
  await sees(row('Team'), /^about \d/)
  await look(page, 'keys-made-by-desktop')
})

test.each(LOOKS)('the filters of the audit log are accessible: $size, $colors, $language', async as => {
  const page = await open('access/audit/about/user/named/carol', as)
  await sees(page, as.language === 'en' ? '3 of 3' : '3 von 3', { exact: true })
  await look(page, 'audit-about', as)
})
