/** Confirmation before unsaved changes are discarded, and keys that equal reserved words of addresses. */
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { ADMIN_KEY, SCHEMA } from '#testing/processes/running-service.ts'
import { goTo, goToAddress, look, LOOKS, sees, sharedConsole } from '../../support/console-page.ts'

const SETS = `${SCHEMA}/condition_sets`
const TYPED = 'mine'

const { verdict, open } = await sharedConsole()

beforeAll(async () => {
  await verdict.createDocumentModel()
  for (const key of ['sales', 'new', 'law'])
    expect((await verdict.post(SETS, { key, name: `Set ${key}`, conditions: {} })).status).toBe(200)
})

const title = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true })
const question = (page: Page) => page.getByRole('alertdialog', { name: 'Leave without saving?' })

/** Opens a set and changes it. The previous page in the history is the list of sets. */
async function openEdited(path = 'model/sets/sales', key?: string): Promise<Page> {
  const page = await open({ ...(key && { key }) })
  if (key === ADMIN_KEY) await goToAddress(page, '#/default/default/model/sets')
  else await goTo(page, 'model/sets')
  await title(page, 'Condition sets').waitFor()
  await goTo(page, path)
  await title(page, path.endsWith('new') ? 'New condition set' : 'Set sales').waitFor()
  await write(page)
  return page
}

async function write(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Description' }).focus()
  await page.keyboard.type(TYPED)
}

const typed = (page: Page): Promise<string> =>
  page.getByRole('textbox', { name: 'Description', includeHidden: true }).inputValue()

/** Answers the confirmation by keyboard after it has received the focus. */
async function answer(page: Page, button: 'Stay here' | 'Discard and leave'): Promise<void> {
  await question(page).getByRole('button', { name: 'Stay here' }).and(page.locator(':focus')).waitFor()
  if (button === 'Discard and leave') await page.keyboard.press('Shift+Tab')
  await question(page).getByRole('button', { name: button }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Enter')
  await question(page).waitFor({ state: 'detached' })
}

const WAYS: readonly {
  readonly by: string
  readonly leave: (page: Page) => Promise<unknown>
  readonly leadsTo: (page: Page) => Promise<unknown>
  readonly key?: string
}[] = [
  {
    by: 'a link',
    leave: page => page.getByRole('link', { name: 'Groups' }).press('Enter'),
    leadsTo: page => title(page, 'Groups').waitFor(),
  },
  {
    by: 'Back',
    leave: page => page.evaluate('history.back()'),
    leadsTo: page => title(page, 'Condition sets').waitFor(),
  },
  {
    by: 'a changed address',
    leave: page => goTo(page, 'model/sets/law'),
    leadsTo: page => title(page, 'Set law').waitFor(),
  },
  {
    by: 'the link to the environments',
    leave: page => page.getByRole('link', { name: 'Verdict' }).press('Enter'),
    leadsTo: page => title(page, 'Choose an environment').waitFor(),
    key: ADMIN_KEY,
  },
  {
    by: 'a sign-out',
    leave: page => page.getByRole('button', { name: 'Sign out' }).press('Enter'),
    leadsTo: page => page.locator('input[type=password]').waitFor(),
  },
]

test.for(WAYS)('leaving a set with unsaved changes by $by requires a confirmation', async way => {
  const page = await openEdited('model/sets/sales', way.key)
  const before = page.url()
  await way.leave(page)
  await answer(page, 'Stay here')
  expect([page.url(), await typed(page)]).toEqual([before, TYPED])

  await way.leave(page)
  await answer(page, 'Discard and leave')
  await way.leadsTo(page)
  expect(await verdict.get(`${SETS}/sales`)).toMatchObject({ body: { description: null } })
})

test('Back and Forward open the right pages after the user has stayed, and after the user has left', async () => {
  const page = await openEdited()
  await page.evaluate('history.back()')
  await answer(page, 'Stay here')
  await page.getByRole('button', { name: 'Discard' }).press('Enter')
  await page.getByText('not saved').waitFor({ state: 'detached' })
  await page.evaluate('history.back()')
  await title(page, 'Condition sets').waitFor()
  await page.evaluate('history.forward()')
  await title(page, 'Set sales').waitFor()
  await write(page)
  await page.evaluate('history.go(-2)')
  await answer(page, 'Discard and leave')
  await page.waitForURL('**/questions')
  await page.evaluate('history.go(2)')
  await title(page, 'Set sales').waitFor()
  expect(await typed(page)).toBe('')
})

test('Escape keeps the page open and returns the focus', async () => {
  const page = await openEdited()
  const link = page.getByRole('link', { name: 'Groups' })
  await link.press('Enter')
  await question(page).waitFor()
  await page.keyboard.press('Escape')
  await question(page).waitFor({ state: 'detached' })
  await link.and(page.locator(':focus')).waitFor()
  expect(await typed(page)).toBe(TYPED)
})

test('a reload shows the confirmation of the browser only with unsaved changes', async () => {
  const page = await openEdited()
  const reload = async (isAccepted: boolean): Promise<string> => {
    const asked = page.waitForEvent('dialog')
    await page.evaluate('void requestAnimationFrame(() => location.reload())')
    const dialog = await asked
    await (isAccepted ? dialog.accept() : dialog.dismiss())
    return dialog.type()
  }
  expect(await reload(false)).toBe('beforeunload')
  expect(await typed(page)).toBe(TYPED)
  expect(await reload(true)).toBe('beforeunload')
  await title(page, 'Set sales').waitFor()
  await expect.poll(() => typed(page)).toBe('')
  // A confirmation would block this reload.
  await page.reload()
  await title(page, 'Set sales').waitFor()
})

test('leaving a new set requires a confirmation only until the set is created', async () => {
  const page = await openEdited('model/sets/~new')
  await page.getByRole('link', { name: 'Groups' }).press('Enter')
  await answer(page, 'Stay here')
  await page.getByRole('textbox', { name: 'Name' }).focus()
  await page.keyboard.type('Made here')
  await page.getByRole('textbox', { name: /^Conditions/ }).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText('{}')
  await page.getByRole('button', { name: 'Create' }).press('Enter')
  await page.locator('[role=dialog] button:focus', { hasText: 'Create' }).waitFor()
  await page.keyboard.press('Enter')
  await title(page, 'Made here').waitFor()
  await page.getByRole('link', { name: 'Groups' }).press('Enter')
  await title(page, 'Groups').waitFor()
})

test('deleting a set with unsaved changes requires no second confirmation', async () => {
  await verdict.post(SETS, { key: 'doomed', name: 'Set doomed', conditions: {} })
  const page = await openEdited()
  await page.getByRole('button', { name: 'Discard' }).press('Enter')
  await goTo(page, 'model/sets/doomed')
  await title(page, 'Set doomed').waitFor()
  await write(page)
  await page.getByRole('button', { name: 'Delete' }).press('Enter')
  await page.locator('[role=alertdialog] button:focus', { hasText: 'Delete' }).waitFor()
  await page.keyboard.press('Enter')
  await title(page, 'Condition sets').waitFor()
})

test.each(LOOKS)('the confirmation is accessible: $size, $colors, $language', async as => {
  const page = await open('model/sets/sales', as)
  await page.getByRole('textbox', { name: /^(?:Description|Beschreibung)$/ }).focus()
  await page.keyboard.type(TYPED)
  await page.getByRole('link', { name: /^(?:Groups|Gruppen)$/ }).press('Enter')
  await page.getByRole('alertdialog').waitFor()
  await look(page, 'unsaved', as)
})

test('entities whose keys equal reserved words of addresses have pages', async () => {
  const page = await open('model/sets', { refusals: [404] })
  await page.getByRole('link', { name: 'Set new' }).press('Enter')
  await title(page, 'Set new').waitFor()

  // A user with the reserved key of the list of users.
  await verdict.user('~users')
  await verdict.group('users')
  await verdict.join('users', '~users')
  await goTo(page, 'groups/users')
  await page.getByRole('link', { name: '~users' }).press('Enter')
  await title(page, '~users').waitFor()
  expect(page.url()).toContain('/groups/~users/%7Eusers')
  // An escaped key is the key of a group.
  await goTo(page, 'groups/%7Eusers')
  await sees(page, 'there is no group')
})
