/** Groups by keyboard: nesting, members, granted roles, expiration times and undo. */
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type Envelope, fresh, groupPath, memberPath } from '#testing/processes/running-service.ts'
import {
  choose,
  complete,
  dialog,
  dialogClosed,
  press,
  pressOn,
  typeKey,
} from '../../support/console-keys.ts'
import { goTo, look, LOOKS, sees, sharedConsole } from '../../support/console-page.ts'

const { verdict, open } = await sharedConsole()

await verdict.createDocumentModel()

interface Listed {
  readonly key?: string
  readonly group_instance_key?: string
  readonly expires_at?: string
}

async function listed(group: string, part: 'users' | 'children' | 'roles'): Promise<string[]> {
  const { body } = await verdict.get<Envelope<Listed>>(`${groupPath(group)}/${part}`)
  return body.data.map(({ key, group_instance_key: child }) => child ?? key!)
}

async function endOf(group: string): Promise<string | undefined> {
  const { body } = await verdict.get<Envelope<Listed>>(`${groupPath(group)}/users`)
  return body.data[0]!.expires_at
}

/** Creates three nested groups: outer and inner have a member, outer and middle have a role. */
async function company() {
  const [outer, middle, inner] = fresh('company', 'engineering', 'platform')
  const [alice, bob, carol] = fresh('alice', 'bob', 'carol')
  await verdict.groups(outer, middle, inner)
  await verdict.users(alice, bob, carol)
  await verdict.nest(middle, { into: outer })
  await verdict.nest(inner, { into: middle })
  await verdict.join(outer, alice)
  await verdict.join(inner, bob)
  await verdict.grant(outer, 'viewer', `document:handbook-of-${outer}`)
  await verdict.grant(middle, 'editor', `document:specs-of-${outer}`)
  return { outer, middle, inner, alice, bob, carol }
}

/** Undoes a change through its message, by keyboard. */
async function undo(page: Page, message: string | RegExp): Promise<void> {
  await page.getByText(message).last().waitFor()
  await dialogClosed(page)
  await page.keyboard.press('F6')
  const focused = (): Promise<unknown> => page.evaluate('document.activeElement.textContent')
  for (let steps = 0; steps < 12 && (await focused()) !== 'Undo'; steps += 1) await page.keyboard.press('Tab')
  expect(await focused()).toBe('Undo')
  await page.keyboard.press('Enter')
  // Removes the message so that the next call does not find it.
  const undone = page.locator('.toast', { hasText: 'Change undone.' })
  await pressOn(undone.getByRole('button', { name: 'Dismiss' }))
  await undone.waitFor({ state: 'detached' })
}

const row = (page: Page, name: string): Locator => page.getByRole('row', { name })

/** Waits for an error next to a field. */
function seesProblem(page: Page, text: string, label?: string): Promise<void> {
  const field = label === undefined ? '.field' : `.field:has(label:text("${label}"))`
  return page.locator(`${field} .problem`, { hasText: text }).waitFor()
}

test('arrow keys expand the group tree, and Enter shows a group with its parents and inherited roles', async () => {
  const { outer, middle, inner } = await company()
  const page = await open('groups')
  await row(page, outer).focus()
  expect(await row(page, middle).count()).toBe(0)
  await page.keyboard.press('ArrowRight')
  await row(page, middle).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowRight')
  await row(page, inner).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')

  await page.getByRole('heading', { level: 1, name: inner }).waitFor()
  await sees(page, `document:specs-of-${outer}`)
  expect(await page.locator('.crumbs').innerText()).toBe([outer, middle, inner].join('\n'))
  expect(await page.locator('.gained').innerText()).toBe(
    `editor on document:specs-of-${outer} through ${middle}\nviewer on document:handbook-of-${outer} through ${outer}`,
  )
  await look(page, 'groups-desktop')

  // The link to the parent group also selects it in the tree.
  await pressOn(page.locator('.crumbs').getByRole('link', { name: middle }))
  await page.getByRole('heading', { level: 1, name: middle }).waitFor()
  await page.locator('[role=row][aria-selected=true]', { hasText: middle }).waitFor()
})

test('a user key that looks percent-encoded links to the page of that user', async () => {
  const [user] = fresh('half')
  const { outer } = await company()
  await verdict.users(`${user}%41`)
  await verdict.join(outer, `${user}%41`)
  const page = await open(`groups/${outer}`)
  await pressOn(page.getByRole('link', { name: `${user}%41` }))
  await page.getByRole('heading', { level: 1, name: `${user}%41`, exact: true }).waitFor()
  await page.getByRole('link', { name: outer }).waitFor()
})

test('adding a member, changing its expiration, and removing it can each be undone', async () => {
  const { inner, bob, carol } = await company()
  const page = await open(`groups/${inner}`)
  await press(page, 'Add member')
  await complete(page, 'User', carol, carol)
  await choose(dialog(page), /Expires/, 'in 1 day')
  await dialog(page).getByText(`${carol} becomes a member of ${inner} until`).waitFor()
  await look(page, 'groups-add-member')
  await press(dialog(page), 'Add')
  await page.getByRole('row', { name: new RegExp(`${carol}.*until`) }).waitFor()
  await look(page, 'groups-member-added')
  expect(await listed(inner, 'users')).toEqual([bob, carol])
  await undo(page, `${carol} is a member of ${inner} until`)
  expect(await listed(inner, 'users')).toEqual([bob])

  await press(page, `Change expiration: the membership of ${bob}`)
  await choose(dialog(page), /Expires/, 'in 7 days')
  await press(dialog(page), 'Change')
  await page.getByRole('row', { name: new RegExp(`${bob}.*until`) }).waitFor()
  expect(await endOf(inner)).toBeDefined()
  await undo(page, /^Expiration changed: the membership of .* is valid until/)
  expect(await endOf(inner)).toBeUndefined()

  await press(page, `Remove ${bob}`)
  await dialog(page).getByText(`Removes ${bob} from ${inner}. The user immediately loses`).waitFor()
  await press(dialog(page), 'Remove')
  await sees(page, 'This group has no direct members.')
  // The removed row contained the button, so the focus moves to the heading of the list.
  await page.locator('h2:focus', { hasText: 'Members' }).waitFor()
  expect(await listed(inner, 'users')).toEqual([])
  await undo(page, `${bob} is no longer a member of ${inner}.`)
  await row(page, bob).waitFor()
  expect(await listed(inner, 'users')).toEqual([bob])
})

test('an unknown user and a past expiration are reported next to their fields', async () => {
  const { inner, bob, carol } = await company()
  const page = await open(`groups/${inner}`, { refusals: [404, 422] })
  await press(page, 'Add member')
  await typeKey(page, 'User', 'nobody-at-all')
  await press(dialog(page), 'Add')
  await seesProblem(page, 'there is no user "nobody-at-all"', 'User')
  await look(page, 'groups-refused')

  const field = page.getByRole('combobox', { name: 'User' })
  await field.fill('')
  await complete(page, 'User', carol, carol)
  await choose(dialog(page), /Expires/, /^at a specific time/)
  await dialog(page).getByLabel('Expiration time', { exact: true }).fill('2020-01-01T00:00')
  await press(dialog(page), 'Add')
  await seesProblem(page, 'must be in the future', 'Expiration time')
  expect(await page.locator('.dialog [role=alert]').count()).toBe(0)
  expect(await listed(inner, 'users')).toEqual([bob])
})

test('a group is moved and moved back by undo, and a cycle is rejected next to the field', async () => {
  const { outer, middle, inner } = await company()
  const [sales] = fresh('sales')
  await verdict.group(sales)
  const page = await open(`groups/${middle}/inside`, { refusals: [400] })
  await press(page, `Move ${inner}`)
  await complete(page, 'New parent group', sales, sales)
  await dialog(page).getByText(`Moves ${inner} from ${middle} to ${sales}.`).waitFor()
  await look(page, 'groups-move')
  await press(dialog(page), 'Move')
  await sees(page, 'This group has no nested groups.')
  expect([await listed(middle, 'children'), await listed(sales, 'children')]).toEqual([[], [inner]])
  await undo(page, `${inner} was moved from ${middle} to ${sales}.`)
  await row(page, inner).last().waitFor()
  expect([await listed(middle, 'children'), await listed(sales, 'children')]).toEqual([[inner], []])

  await press(page, 'Add group')
  await complete(page, 'Group', outer, outer)
  await press(dialog(page), 'Add')
  await seesProblem(page, `"group:${outer}", directly or through other groups`)
})

test('granting a role to a group and removing it can each be undone', async () => {
  const { inner } = await company()
  const [plan] = fresh('plan')
  await verdict.instance(`document:${plan}`)
  const page = await open(`groups/${inner}/roles`, { refusals: [404] })
  await press(page, 'Grant role')
  await complete(page, 'Type', 'docu', 'document')
  await complete(page, 'Role', 'edi', 'editor')
  await typeKey(page, 'Instance', 'no-such-plan')
  await press(dialog(page), 'Grant')
  await seesProblem(page, 'no-such-plan')
  await page.getByRole('combobox', { name: 'Instance' }).fill('')
  await complete(page, 'Instance', plan, plan)
  await dialog(page).getByText(`Members of ${inner} receive editor on document:${plan}.`).waitFor()
  expect(await page.locator('.dialog [role=alert]').count()).toBe(0)
  await look(page, 'groups-grant')
  await press(dialog(page), 'Grant')
  await row(page, `editor document:${plan}`).waitFor()
  await undo(page, `Members of ${inner} have editor on document:${plan}.`)
  expect(await listed(inner, 'roles')).toEqual([])

  await verdict.grant(inner, 'viewer', `document:${plan}`)
  await press(page, `Remove viewer on document:${plan}`)
  await press(dialog(page), 'Remove')
  await page.locator('h1:focus, h2:focus').waitFor()
  await undo(page, `The group ${inner} no longer has viewer on document:${plan}.`)
  expect(await listed(inner, 'roles')).toEqual(['viewer'])
})

test('a group is created, and its deletion lists what is deleted with it', async () => {
  const { outer } = await company()
  const [made] = fresh('marketing')
  const page = await open('groups', { refusals: [409, 422] })
  await press(page, 'New group')
  await page.getByRole('textbox', { name: 'Key' }).pressSequentially('not a key')
  await press(dialog(page), 'Create group')
  await page.locator('.field:has(label:text("Key")) .problem').waitFor()
  await page.getByRole('textbox', { name: 'Key' }).fill(made)
  await press(dialog(page), 'Create group')
  await page.getByRole('heading', { level: 1, name: made }).waitFor()
  await row(page, made).waitFor()
  await undo(page, `The group ${made} was created.`)
  await row(page, made).waitFor({ state: 'detached' })

  await pressOn(row(page, outer))
  await page.getByRole('link', { name: 'Members 1' }).waitFor()
  await press(page, 'Delete…')
  const warning = dialog(page)
  await sees(
    warning,
    '1 membership and 1 granted role. Groups that are kept: 1 nested group, 0 parent groups.',
  )
  await sees(warning, 'This cannot be undone.')
  await look(page, 'groups-delete')
  await press(dialog(page), 'Delete permanently')
  await sees(page, `The group ${outer} was deleted.`)
  await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor()
  await row(page, outer).waitFor({ state: 'detached' })
})

test('a member that another administrator adds appears automatically', async () => {
  const { inner, alice } = await company()
  const page = await open(`groups/${inner}`)
  await page.locator('.live-mark.live').waitFor()
  await page.getByRole('link', { name: 'Members 1' }).waitFor()
  await verdict.join(inner, alice)

  await row(page, alice).waitFor()
  await page.getByRole('link', { name: 'Members 2' }).waitFor()
})

test('the page of a user shows groups, expiration times and assigned roles', async () => {
  const { outer, inner, bob } = await company()
  await verdict.put(memberPath(outer, bob), { tenant: 'default', expires_at: '2090-01-01T00:00:00Z' })
  await verdict.tenantRole(`auditor-of-${outer}`, ['document:read'])
  await verdict.assign(bob, `auditor-of-${outer}`, 'default')
  const page = await open(`groups/~users/${bob}`)
  await page.getByRole('row', { name: new RegExp(`auditor-of-${outer} tenant default`) }).waitFor()
  const groups = page.getByRole('table', { name: 'Groups', exact: true })
  await groups.getByRole('row', { name: new RegExp(`${inner} does not expire`) }).waitFor()
  await groups.getByRole('row', { name: new RegExp(`${outer} until 1 Jan 2090`) }).waitFor()
  await press(page, `Remove ${bob} from ${inner}`)
  await press(dialog(page), 'Remove')
  await page.locator('h1:focus, h2:focus').waitFor()
  await undo(page, `${bob} is no longer a member of ${inner}.`)
  expect(await listed(inner, 'users')).toEqual([bob])
})

test('groups are loaded in pages, and the service executes searches', async () => {
  const [many] = fresh('many')
  const [first, second] = fresh(`of-${many}-a`, `of-${many}-b`)
  await verdict.group(many)
  for (let index = 0; index < 55; index += 1) {
    await verdict.group(`${many}-${index}`)
    await verdict.nest(`${many}-${index}`, { into: many })
  }
  await verdict.groups(first, second)
  const page = await open('groups')
  await page.getByRole('searchbox').fill(`of-${many}-`)
  await sees(page, '2 of 2')
  await page.getByRole('searchbox').fill(`${many}`)
  await row(page, many).first().waitFor()
  await sees(page, /^50 of 5\d$/)
  await pressOn(row(page, 'Show more'))
  await sees(page, /^(5\d) of \1$/)
  await page.getByRole('searchbox').fill(first)
  await pressOn(row(page, first))
  await page.getByRole('heading', { level: 1, name: first }).waitFor()
  await page.getByRole('searchbox').fill('nothing-like-that')
  await sees(page, 'No groups match.')
})

test('on a phone, the tree is a separate page, and each group links back to it', async () => {
  const { outer } = await company()
  const page = await open('groups', { size: 'phone' })
  await row(page, outer).focus()
  await page.keyboard.press('ArrowRight')
  await look(page, 'groups-phone-tree')
  await pressOn(row(page, outer))
  await page.locator('h1:focus', { hasText: outer }).waitFor()
  expect(await page.getByRole('treegrid').count()).toBe(0)
  await pressOn(page.getByRole('link', { name: 'All groups' }))
  await page.locator('h1:focus', { hasText: 'Groups' }).waitFor()
  await pressOn(row(page, outer))
  await page.getByRole('heading', { level: 1, name: outer }).waitFor()
})

test.each(LOOKS)('the pages of groups and users are accessible: $size, $colors, $language', async as => {
  const { middle, inner, bob } = await company()
  await verdict.put(memberPath(middle, bob), { tenant: 'default', expires_at: '2090-01-01T00:00:00Z' })
  const page = await open(`groups/${middle}`, as)
  await page.getByRole('link', { name: bob }).waitFor()
  await look(page, 'groups-group', as)
  for (const part of ['inside', 'roles', 'around']) {
    await goTo(page, `groups/${middle}/${part}`)
    await page.locator(`.tabs [aria-current][href$="/${part}"]`).waitFor()
    await look(page, `groups-${part}`, as)
  }
  await goTo(page, `groups/~users/${bob}`)
  await page.getByRole('row', { name: inner }).first().waitFor()
  await look(page, 'groups-user', as)
})
