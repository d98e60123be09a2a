/** Keys and names that contain markup are shown as text on every page, and no script in them runs. */
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ADMIN_KEY, FACTS, RESOURCES, SCHEMA } from '#testing/processes/running-service.ts'
import { pressOn } from '../../support/console-keys.ts'
import { goTo, sees, sharedConsole } from '../../support/console-page.ts'

const MARKUP = `"'><img src=x onerror="window.acted=1"><script>window.acted=1</script><svg onload="window.acted=1">{{7*7}}`
/** The markup, shortened for keys with a length limit. */
const KEY = MARKUP.slice(0, 60)

const { verdict, open } = await sharedConsole()
await fill()

/** Creates entities whose names contain markup. Keys of users and instances can have any characters. */
async function fill(): Promise<void> {
  const named = { name: MARKUP, description: MARKUP }
  const made = async (path: string, body: unknown, key?: string) => {
    const { status } = await verdict.send('POST', path, { body, ...(key !== undefined && { key }) })
    expect([path, status < 300]).toEqual([path, true])
  }
  await made(RESOURCES, {
    key: 'paper',
    ...named,
    actions: { read: named },
    attributes: { level: { type: 'string', description: MARKUP } },
    roles: { reader: { ...named, permissions: ['read'] } },
  })
  await made(RESOURCES, {
    key: 'sheet',
    ...named,
    actions: { read: named },
    relations: { parent: 'paper' },
    roles: { reader: { ...named, permissions: ['read'] } },
  })
  await made(`${SCHEMA}/roles`, { key: 'guest', ...named, permissions: ['paper:read'] })
  await made(`${FACTS}/tenants`, { key: 'acme', ...named, attributes: { note: MARKUP } })
  const person = { first_name: MARKUP, last_name: MARKUP, attributes: { note: MARKUP } }
  await made(`${FACTS}/users`, { key: KEY, ...person })
  await made(`${FACTS}/resource_instances`, { key: KEY, resource: 'paper', tenant: 'acme' })
  await made(`${FACTS}/role_assignments`, { user: KEY, role: 'guest', tenant: 'acme' })
  const held = { user: KEY, role: 'reader', resource_instance: `paper:${KEY}`, tenant: 'acme' }
  await made(`${FACTS}/role_assignments`, held)
  await verdict.group('team', 'acme')
  await verdict.join('team', KEY, 'acme')
  await verdict.grant('team', 'reader', `paper:${KEY}`, 'acme')
  const conditions = { allOf: [{ 'user.note': { equals: MARKUP } }] }
  await made(`${SCHEMA}/condition_sets`, { key: 'insiders', type: 'userset', ...named, conditions })
  await verdict.setRule('insiders', 'paper:read', 'paper')
  await made('/v2/api-key', { name: MARKUP, project_id: 'default', environment_id: 'default' }, ADMIN_KEY)
}

/** Fails if markup was rendered as an element, or if a script ran. */
async function expectOnlyText(page: Page, where: string): Promise<void> {
  const found = await page.evaluate(
    `[window.acted ?? null, document.querySelectorAll('img[src=x], svg[onload], body script:not([src]), [onerror]').length]`,
  )
  expect([where, found]).toEqual([where, [null, 0]])
}

const question = { user: KEY, action: 'read', type: 'paper', key: KEY }
const unknownUser = { ...question, user: 'nobody', userAttributes: JSON.stringify({ note: `${MARKUP}?` }) }
const PATHS: readonly (readonly [path: string, shows: string])[] = [
  [`questions/${new URLSearchParams(question)}`, KEY],
  [`questions/${new URLSearchParams(unknownUser)}`, `found: ${JSON.stringify(`${MARKUP}?`)}`],
  ['groups', 'team'],
  ['groups/team', KEY],
  ['groups/team/roles', KEY],
  [`groups/~users/${encodeURIComponent(KEY)}`, KEY],
  ['model', 'paper'],
  ['model/matrix', 'paper'],
  ['model/sets', 'insiders'],
  ['model/sets/insiders', 'insiders'],
  ['model/file', 'onerror'],
  ['access/audit', 'acme'],
]

test.each(['desktop', 'phone'] as const)(
  'markup in keys and names is shown as text on every page (%s)',
  async size => {
    const page = await open({ size, refusals: [403, 404] })
    for (const [path, shows] of PATHS) {
      await goTo(page, path)
      await page.getByText(shows, { exact: false }).first().waitFor({ state: 'attached' })
      await expectOnlyText(page, path)
    }
  },
)

test('markup in the names of API keys is shown as text', async () => {
  const page = await open({ key: ADMIN_KEY, refusals: [403] })
  await pressOn(page.getByRole('link', { name: 'default', exact: false }).first())
  await goTo(page, 'operations/keys')
  await sees(page, MARKUP)
  await expectOnlyText(page, 'operations/keys')
})
