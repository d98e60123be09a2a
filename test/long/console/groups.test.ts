/** The administrator of a customer: groups in groups, who is in them and until when, what they are granted. By keyboard. */
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  type Envelope,
  fresh,
  groupPath,
  memberPath,
  sharedService,
} from '#testing/processes/running-service.ts'
import { pressOn } from '../../support/console-keys.ts'
import { expectAccessible, openSignedIn, sharedChromium, takePicture } from '../../support/console-page.ts'

const verdict = await sharedService()
const chromium = sharedChromium()
const at = { address: verdict.address }

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

/** A company with engineering in it, and platform in that; each has a member, and the outer two are granted roles. */
async function company() {
  const [outer, middle, inner, alice, bob, carol] = fresh(
    'company',
    'engineering',
    'platform',
    'alice',
    'bob',
    'carol',
  )
  for (const group of [outer, middle, inner]) await verdict.group(group)
  await verdict.users(alice, bob, carol)
  await verdict.nest(middle, { into: outer })
  await verdict.nest(inner, { into: middle })
  await verdict.join(outer, alice)
  await verdict.join(inner, bob)
  await verdict.grant(outer, 'viewer', `document:handbook-of-${outer}`)
  await verdict.grant(middle, 'editor', `document:specs-of-${outer}`)
  return { outer, middle, inner, alice, bob, carol }
}

const button = (within: Page | Locator, name: string): Locator =>
  within.getByRole('button', { name, exact: true })

/** The dialog that is open. */
const dialog = (page: Page): Locator => page.locator('[role=dialog], [role=alertdialog]').last()

/** Types a key into a field that completes it, and takes the first that is offered. */
async function complete(page: Page, label: string, typed: string, chosen: string): Promise<void> {
  const field = page.getByRole('combobox', { name: label })
  await field.pressSequentially(typed)
  // What is offered before the typing pauses is another list.
  await page.locator('.options .option:first-child', { hasText: chosen }).waitFor()
  await pressOn(field, 'ArrowDown')
  await pressOn(field)
  await expect.poll(() => field.inputValue()).toBe(chosen)
  await page.keyboard.press('Tab')
}

/** Types a key that nobody offers. */
async function typeKey(page: Page, label: string, typed: string): Promise<void> {
  await page.getByRole('combobox', { name: label }).pressSequentially(typed)
  await page.keyboard.press('Tab')
}

async function chooseEnd(page: Page, text: string): Promise<void> {
  await pressOn(dialog(page).getByRole('button', { name: /Ends/ }))
  await pressOn(page.getByRole('option', { name: text }))
  await page.locator('.options').waitFor({ state: 'detached' })
}

async function submit(page: Page, name: string): Promise<void> {
  await pressOn(button(dialog(page), name))
}

/** Takes back what the message at the lower edge says was done. */
async function undo(page: Page, said: string | RegExp): Promise<void> {
  await page.getByText(said).last().waitFor()
  await dialogGone(page)
  await page.keyboard.press('F6')
  const focused = (): Promise<unknown> => page.evaluate('document.activeElement.textContent')
  for (let steps = 0; steps < 12 && (await focused()) !== 'Undo'; steps += 1) await page.keyboard.press('Tab')
  expect(await focused()).toBe('Undo')
  await page.keyboard.press('Enter')
  // One message for one press: the next one waits for its own.
  const undone = page.locator('.toast', { hasText: 'Undone: it is as it was.' })
  await pressOn(undone.getByRole('button', { name: 'Dismiss' }))
  await undone.waitFor({ state: 'detached' })
}

async function dialogGone(page: Page): Promise<void> {
  await page.locator('.dialog').waitFor({ state: 'detached' })
}

const row = (page: Page, name: string): Locator => page.getByRole('row', { name })

test('arrows open the tree, which loads what is inside; Enter shows a group, where it is, and what its members get by that', async () => {
  const { outer, middle, inner } = await company()
  const page = await openSignedIn(await chromium(), { ...at, path: 'groups' })
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
  await page.getByText(`document:specs-of-${outer}`).waitFor()
  expect(await page.locator('.crumbs').innerText()).toBe([outer, middle, inner].join('\n'))
  expect(await page.locator('.gained').innerText()).toBe(
    `editor on document:specs-of-${outer} by ${middle}\nviewer on document:handbook-of-${outer} by ${outer}`,
  )
  await expectAccessible(page)
  await takePicture(page, 'groups-desktop')

  // Who follows the link to the group above finds it in the tree.
  await pressOn(page.locator('.crumbs').getByRole('link', { name: middle }))
  await page.getByRole('heading', { level: 1, name: middle }).waitFor()
  await page.locator('[role=row][aria-selected=true]', { hasText: middle }).waitFor()
})

test('a key that looks escaped leads to its own page', async () => {
  const [user] = fresh('half')
  const { outer } = await company()
  await verdict.users(`${user}%41`)
  await verdict.join(outer, `${user}%41`)
  const page = await openSignedIn(await chromium(), { ...at, path: `groups/${outer}` })
  await pressOn(page.getByRole('link', { name: `${user}%41` }))
  await page.getByRole('heading', { level: 1, name: `${user}%41`, exact: true }).waitFor()
  await page.getByRole('link', { name: outer }).waitFor()
})

test('a member is added with an end, and taken back; one is removed, and taken back', async () => {
  const { inner, bob, carol } = await company()
  const page = await openSignedIn(await chromium(), { ...at, path: `groups/${inner}` })
  await pressOn(button(page, 'Add member'))
  await complete(page, 'User', carol, carol)
  await chooseEnd(page, 'in a day')
  await dialog(page).getByText(`${carol} becomes a member of ${inner}, until`).waitFor()
  await expectAccessible(page)
  await takePicture(page, 'groups-add-member')
  await submit(page, 'Add')
  await page.getByRole('row', { name: new RegExp(`${carol}.*until`) }).waitFor()
  await expectAccessible(page)
  await takePicture(page, 'groups-member-added')
  expect(await listed(inner, 'users')).toEqual([bob, carol])
  await undo(page, `${carol} is a member of ${inner}, until`)
  expect(await listed(inner, 'users')).toEqual([bob])

  await pressOn(button(page, `Remove ${bob}`))
  await dialog(page).getByText(`${bob} is no member of ${inner} any more, and loses`).waitFor()
  await submit(page, 'Remove')
  await page.getByText('Nobody is in this group itself.').waitFor()
  // The row is gone with its button: reading goes on at the list.
  await page.locator('h2:focus', { hasText: 'Members' }).waitFor()
  expect(await listed(inner, 'users')).toEqual([])
  await undo(page, `${bob} is no member of ${inner} any more.`)
  await row(page, bob).waitFor()
  expect(await listed(inner, 'users')).toEqual([bob])
})

test('when a membership ends is changed, and taken back; who adds a member once more sees when it ends and may change that, and the way back knows', async () => {
  const { inner, bob } = await company()
  const page = await openSignedIn(await chromium(), { ...at, path: `groups/${inner}`, refusals: [412] })
  await pressOn(button(page, `Change end: the membership of ${bob}`))
  await chooseEnd(page, 'in a week')
  await submit(page, 'Change')
  await page.getByRole('row', { name: new RegExp(`${bob}.*until`) }).waitFor()
  const end = await endOf(inner)
  expect(Date.parse(end!)).toBeGreaterThan(Date.now())
  await undo(page, /^Now the membership of .* lasts, until/)
  expect(await endOf(inner)).toBeUndefined()

  await verdict.put(memberPath(inner, bob), { tenant: 'default', expires_at: end })
  await page.getByRole('row', { name: new RegExp(`${bob}.*until`) }).waitFor()
  await pressOn(button(page, 'Add member'))
  await complete(page, 'User', bob, bob)
  await submit(page, 'Add')
  await dialog(page).getByText(`By now the membership of ${bob} lasts, until`).waitFor()
  await submit(page, 'Add')
  await undo(page, `Now the membership of ${bob} lasts.`)
  expect(await endOf(inner)).toBe(end)
})

test('where two change the same end, the later one sees what the other did before anything is overwritten', async () => {
  const { inner, bob } = await company()
  const page = await openSignedIn(await chromium(), { ...at, path: `groups/${inner}`, refusals: [412] })
  await pressOn(button(page, `Change end: the membership of ${bob}`))
  await chooseEnd(page, 'in a week')
  await verdict.put(memberPath(inner, bob), { tenant: 'default', expires_at: '2090-01-01T00:00:00Z' })
  await submit(page, 'Change')
  await dialog(page).getByText('Somebody else changed this meanwhile.').waitFor()
  await dialog(page).getByText(`By now the membership of ${bob} lasts, until 1 Jan 2090`).waitFor()
  await expectAccessible(page)
  await takePicture(page, 'groups-end-changed')
  expect(await endOf(inner)).toBe('2090-01-01T00:00:00.000Z')

  await submit(page, 'Change')
  await undo(page, /^Now the membership of .* lasts, until/)
  expect(await endOf(inner)).toBe('2090-01-01T00:00:00.000Z')
})

test('what the interface refuses is said beside its field: an unknown user, an end that is past', async () => {
  const { inner, bob, carol } = await company()
  const page = await openSignedIn(await chromium(), { ...at, path: `groups/${inner}`, refusals: [404, 422] })
  await pressOn(button(page, 'Add member'))
  await typeKey(page, 'User', 'nobody-at-all')
  await submit(page, 'Add')
  await page
    .locator('.field:has(label:text("User")) .problem', { hasText: 'there is no user "nobody-at-all"' })
    .waitFor()
  await expectAccessible(page)
  await takePicture(page, 'groups-refused')

  const field = page.getByRole('combobox', { name: 'User' })
  await field.fill('')
  await complete(page, 'User', carol, carol)
  await chooseEnd(page, 'at a moment')
  await dialog(page).getByLabel('On', { exact: true }).fill('2020-01-01T00:00')
  await submit(page, 'Add')
  await page.locator('.field:has(label:text("On")) .problem', { hasText: 'must lie ahead' }).waitFor()
  expect(await page.locator('.dialog [role=alert]').count()).toBe(0)
  expect(await listed(inner, 'users')).toEqual([bob])
})

test('a group is moved into another one, and back with one press; what would be a circle is refused beside the field', async () => {
  const { outer, middle, inner } = await company()
  const [sales] = fresh('sales')
  await verdict.group(sales)
  const page = await openSignedIn(await chromium(), {
    ...at,
    path: `groups/${middle}/inside`,
    refusals: [400],
  })
  await pressOn(button(page, `Move ${inner}`))
  await complete(page, 'Into group', sales, sales)
  await dialog(page).getByText(`${inner} goes out of ${middle} and into ${sales}`).waitFor()
  await expectAccessible(page)
  await takePicture(page, 'groups-move')
  await submit(page, 'Move')
  await page.getByText('No group is in this one.').waitFor()
  expect([await listed(middle, 'children'), await listed(sales, 'children')]).toEqual([[], [inner]])
  await undo(page, `${inner} is in ${sales} now, and no more in ${middle}.`)
  await row(page, inner).last().waitFor()
  expect([await listed(middle, 'children'), await listed(sales, 'children')]).toEqual([[inner], []])

  await pressOn(button(page, 'Add group'))
  await complete(page, 'Group', outer, outer)
  await submit(page, 'Add')
  await page
    .locator('.field .problem', { hasText: `"group:${outer}" already, or is the same group` })
    .waitFor()
})

test('a role is granted to a group: type, then role, then instance; taken back, removed, and taken back', async () => {
  const { inner } = await company()
  const [plan] = fresh('plan')
  await verdict.instance(`document:${plan}`)
  const page = await openSignedIn(await chromium(), { ...at, path: `groups/${inner}/roles`, refusals: [404] })
  await pressOn(button(page, 'Grant role'))
  await complete(page, 'Type', 'docu', 'document')
  await complete(page, 'Role', 'edi', 'editor')
  await typeKey(page, 'Instance', 'no-such-plan')
  await submit(page, 'Grant')
  await page.locator('.field .problem', { hasText: 'no-such-plan' }).waitFor()
  await page.getByRole('combobox', { name: 'Instance' }).fill('')
  await complete(page, 'Instance', plan, plan)
  await dialog(page).getByText(`Members of ${inner} get editor on document:${plan}.`).waitFor()
  expect(await page.locator('.dialog [role=alert]').count()).toBe(0)
  await expectAccessible(page)
  await takePicture(page, 'groups-grant')
  await submit(page, 'Grant')
  await row(page, `editor document:${plan}`).waitFor()
  await undo(page, `Members of ${inner} have editor on document:${plan}.`)
  expect(await listed(inner, 'roles')).toEqual([])

  await verdict.grant(inner, 'viewer', `document:${plan}`)
  await pressOn(button(page, `Remove viewer on document:${plan}`))
  await submit(page, 'Remove')
  await page.locator('h1:focus, h2:focus').waitFor()
  await undo(page, `Members of ${inner} do not have viewer on document:${plan} by it any more.`)
  expect(await listed(inner, 'roles')).toEqual(['viewer'])
})

test('a group is made, and deleted with a warning that says what goes with it', async () => {
  const { outer } = await company()
  const [made] = fresh('marketing')
  const page = await openSignedIn(await chromium(), { ...at, path: 'groups', refusals: [409, 422] })
  await pressOn(button(page, 'New group'))
  await page.getByRole('textbox', { name: 'Key' }).pressSequentially('not a key')
  await submit(page, 'Make group')
  await page.locator('.field:has(label:text("Key")) .problem').waitFor()
  await page.getByRole('textbox', { name: 'Key' }).fill(made)
  await submit(page, 'Make group')
  await page.getByRole('heading', { level: 1, name: made }).waitFor()
  await row(page, made).waitFor()
  await undo(page, `The group ${made} is made.`)
  await row(page, made).waitFor({ state: 'detached' })

  await pressOn(row(page, outer))
  await page.getByRole('link', { name: 'Members 1' }).waitFor()
  await pressOn(button(page, 'Delete…'))
  const warning = dialog(page)
  await warning
    .getByText('1 membership and 1 granted role; 1 group in it and 0 groups around it stay')
    .waitFor()
  await warning.getByText('This cannot be undone.').waitFor()
  await expectAccessible(page)
  await takePicture(page, 'groups-delete')
  await submit(page, 'Delete for good')
  await page.getByText(`The group ${outer} is deleted.`).waitFor()
  await page.getByRole('heading', { level: 1, name: 'Groups' }).waitFor()
  await row(page, outer).waitFor({ state: 'detached' })
})

test('what another administrator does appears by itself', async () => {
  const { inner, alice } = await company()
  const page = await openSignedIn(await chromium(), { ...at, path: `groups/${inner}` })
  await page.locator('.live-mark.live').waitFor()
  await page.getByRole('link', { name: 'Members 1' }).waitFor()
  await verdict.join(inner, alice)

  await row(page, alice).waitFor()
  await page.getByRole('link', { name: 'Members 2' }).waitFor()
})

test('keys full of markup are text, wherever they are shown', async () => {
  const { inner } = await company()
  const markup = `<img src=x onerror=alert(${fresh('1')[0].slice(2)})>`
  await verdict.user(markup)
  await verdict.join(inner, markup)
  await verdict.instance(`document:${markup}`)
  await verdict.grant(inner, 'viewer', `document:${markup}`)
  const page = await openSignedIn(await chromium(), { ...at, path: `groups/${inner}` })
  await pressOn(button(page, `Remove ${markup}`))
  await dialog(page).getByText(`${markup} is no member of`).waitFor()
  await page.keyboard.press('Escape')
  await dialogGone(page)
  await pressOn(page.getByRole('link', { name: 'Roles 1' }))
  await page.getByText(`document:${markup}`).waitFor()
  await pressOn(page.getByRole('link', { name: 'Members' }))
  await pressOn(page.getByRole('link', { name: markup }))

  await page.getByRole('heading', { level: 1, name: markup }).waitFor()
  await row(page, inner).first().waitFor()
  expect(await page.locator('img').count()).toBe(0)
})

test('the page of a user has its groups, until when, and what it is assigned', async () => {
  const { outer, inner, bob } = await company()
  await verdict.put(memberPath(outer, bob), { tenant: 'default', expires_at: '2090-01-01T00:00:00Z' })
  await verdict.tenantRole(`auditor-of-${outer}`, ['document:read'])
  await verdict.assign(bob, `auditor-of-${outer}`, 'default')
  const page = await openSignedIn(await chromium(), { ...at, path: `groups/~users/${bob}` })
  await page.getByRole('row', { name: new RegExp(`auditor-of-${outer} tenant default`) }).waitFor()
  const groups = page.getByRole('table', { name: 'Groups', exact: true })
  await groups.getByRole('row', { name: new RegExp(`${inner} lasts`) }).waitFor()
  await groups.getByRole('row', { name: new RegExp(`${outer} until 1 Jan 2090`) }).waitFor()
  await expectAccessible(page)
  await takePicture(page, 'groups-user')
  await pressOn(button(page, `Remove ${bob} from ${inner}`))
  await submit(page, 'Remove')
  await page.locator('h1:focus, h2:focus').waitFor()
  await undo(page, `${bob} is no member of ${inner} any more.`)
  expect(await listed(inner, 'users')).toEqual([bob])
})

test('a hundred groups come in pages, and a search asks the service', async () => {
  const [many] = fresh('many')
  const [first, second] = fresh(`of-${many}-a`, `of-${many}-b`)
  await verdict.group(many)
  for (let index = 0; index < 55; index += 1) {
    await verdict.group(`${many}-${index}`)
    await verdict.nest(`${many}-${index}`, { into: many })
  }
  for (const group of [first, second]) await verdict.group(group)
  const page = await openSignedIn(await chromium(), { ...at, path: 'groups' })
  await page.getByRole('searchbox').fill(`of-${many}-`)
  await page.getByText('2 of 2').waitFor()
  await page.getByRole('searchbox').fill(`${many}`)
  await row(page, many).first().waitFor()
  await page.getByText(/^50 of 5\d$/).waitFor()
  await pressOn(row(page, 'Show more'))
  await page.getByText(/^(5\d) of \1$/).waitFor()
  await page.getByRole('searchbox').fill(first)
  await pressOn(row(page, first))
  await page.getByRole('heading', { level: 1, name: first }).waitFor()
  await page.getByRole('searchbox').fill('nothing-like-that')
  await page.getByText('No group matches.').waitFor()
})

for (const colors of ['light', 'dark'] as const) {
  test(`on a telephone the tree comes first, then the group with a way back (${colors})`, async () => {
    const { outer, inner, bob } = await company()
    await verdict.put(memberPath(outer, bob), { tenant: 'default', expires_at: '2090-01-01T00:00:00Z' })
    const page = await openSignedIn(await chromium(), { ...at, path: 'groups', size: 'phone', colors })
    await row(page, outer).focus()
    await page.keyboard.press('ArrowRight')
    await expectAccessible(page)
    await takePicture(page, `groups-phone-${colors}`)
    await pressOn(row(page, outer))
    await page.locator('h1:focus', { hasText: outer }).waitFor()
    expect(await page.getByRole('treegrid').count()).toBe(0)
    await page.getByRole('link', { name: bob }).waitFor()
    await expectAccessible(page)
    await takePicture(page, `groups-phone-group-${colors}`)
    for (const part of ['inside', 'roles', 'around']) {
      await page.evaluate(`location.hash = [...location.hash.split('/').slice(0, 5), '${part}'].join('/')`)
      await page.locator('.tabs [aria-current]', { hasText: /inside|Roles|Is in/ }).waitFor()
      await expectAccessible(page)
    }
    await pressOn(page.getByRole('link', { name: 'All groups' }))
    await page.locator('h1:focus', { hasText: 'Groups' }).waitFor()
    await pressOn(row(page, outer))
    await page.getByRole('heading', { level: 1, name: outer }).waitFor()
    expect(inner).not.toBe(outer)
  })
}

test('all of it in German and in the dark', async () => {
  const { middle, inner, bob } = await company()
  const page = await openSignedIn(await chromium(), {
    ...at,
    path: `groups/${middle}/inside`,
    language: 'de',
    colors: 'dark',
  })
  await page.getByRole('row', { name: inner }).last().waitFor()
  await expectAccessible(page)
  await takePicture(page, 'groups-german-dark')
  for (const part of ['', '/roles', '/around']) {
    await page.evaluate(`location.hash = [...location.hash.split('/').slice(0, 5)].join('/') + '${part}'`)
    await expectAccessible(page)
  }
  await page.evaluate(
    `location.hash = [...location.hash.split('/').slice(0, 4), '~users', '${bob}'].join('/')`,
  )
  await page.getByRole('heading', { level: 1, name: bob }).waitFor()
  await expectAccessible(page)
})
