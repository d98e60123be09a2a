/** Parts of a model are edited, put back and taken away by keyboard; who comes second overwrites nothing; large models are right, too. */
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import {
  ADMIN_KEY,
  API_KEY,
  neighbourOf,
  RESOURCES,
  SCHEMA,
  sharedService,
} from '#testing/processes/running-service.ts'
import { button, choose, openDialog as openBy, pressInToast, pressOn } from '../../support/console-keys.ts'
import { consoleOf, look, LOOKS, sees, takePicture } from '../../support/console-page.ts'
import { content, importInto } from '../../support/content.ts'
import { createTypes, overlaps, sixHundredTypes, TEN_TYPES } from '../../support/drawn-models.ts'

const verdict = await sharedService()
const open = consoleOf(verdict.address)
await createTypes(TEN_TYPES, type => verdict.resource(type))

const DOCUMENT = `${RESOURCES}/document`

interface Described {
  readonly name: string
  readonly description: string | null
  readonly attributes: object | null
}

async function read<Thing = Described>(path: string): Promise<Thing> {
  const { status, body } = await verdict.get<Thing>(path)
  expect(status, path).toBe(200)
  return body
}

/** Opens a dialog by the button with that name, and waits until something in it has the focus. */
function openDialog(page: Page, name: string | RegExp): Promise<void> {
  return openBy(button(page, name), '.dialog:focus-within')
}

/** Opens a dialog in which something is edited, and waits until it was read. */
async function openEdit(page: Page, name: string): Promise<void> {
  await openDialog(page, name)
  await page.locator('.dialog button[type=submit]:not([disabled])').waitFor()
}

/** Presses the last button of the dialog, and waits until it is closed. */
async function submit(page: Page): Promise<void> {
  await pressOn(page.locator('.dialog button[type=submit]'))
  await page.locator('.dialog').waitFor({ state: 'detached' })
}

function field(page: Page, name: string) {
  return page.locator('.dialog').getByRole('textbox', { name, exact: true })
}

test('an action is edited: name, description and what programs keep with it; one press puts it back', async () => {
  const page = await open('model/types/document')
  await openEdit(page, 'Edit the action read')
  await field(page, 'Name').fill('Look at')
  await field(page, 'Description').fill('Shows the text')
  await field(page, 'Attributes').fill('{"icon": "eye"}')
  await sees(page, 'Changes the name and description of the action read of document.')
  await submit(page)

  await sees(page, 'Look at')
  expect(await read(`${DOCUMENT}/actions/read`)).toMatchObject({
    name: 'Look at',
    description: 'Shows the text',
    attributes: { icon: 'eye' },
  })
  await pressInToast(page, 'The action read of document was changed.')
  await page.getByText('Look at').waitFor({ state: 'detached' })
  expect(await read(`${DOCUMENT}/actions/read`)).toMatchObject({
    name: 'read',
    description: null,
    attributes: null,
  })
})

test('a change of the name keeps integers beyond 2^53 in the attributes', async () => {
  const path = `${RESOURCES}/document/actions/share`
  const attributes = '{"account":9007199254740993,"of":[-123456789012345678901234567890]}'
  const written = await verdict.send('PATCH', path, { text: `{"attributes":${attributes}}` })
  expect(written.status).toBe(200)
  const page = await open('model/types/document')
  await openEdit(page, 'Edit the action share')
  expect((await field(page, 'Attributes').inputValue()).replaceAll(/\s/g, '')).toBe(attributes)
  await field(page, 'Name').fill('Hand on')
  await submit(page)

  await sees(page, 'Hand on')
  const headers = { authorization: `Bearer ${API_KEY}` }
  const stored = await fetch(`${verdict.address}${path}`, { headers })
  expect(await stored.text()).toContain(`"attributes":${attributes}`)
})

test('attributes that are no JSON object are said beside their field, and nothing can be saved', async () => {
  const page = await open('model/types/document')
  await openEdit(page, 'Edit the action comment')
  await field(page, 'Attributes').fill('["no", "object"]')

  await sees(page, 'This is not a JSON object.')
  expect(await page.locator('.dialog button[type=submit]').isDisabled()).toBe(true)
  await field(page, 'Attributes').fill('')
  await page.locator('.dialog button[type=submit]:not([disabled])').waitFor()
})

const FOLDER = `${RESOURCES}/folder`
const EDITED = [
  ['the type invoice', 'model/types/invoice', `${RESOURCES}/invoice`, false],
  ['the action share', 'model/types/folder', `${FOLDER}/actions/share`, true],
  ['the role editor', 'model/types/folder', `${FOLDER}/roles/editor`, true],
  ['the role guest', 'model/matrix', `${SCHEMA}/roles/guest`, true],
  ['the action group writing', 'model/types/folder', `${FOLDER}/action_groups/writing`, true],
] as const
await verdict.tenantRole('guest', ['folder:read'])
await verdict.post(`${FOLDER}/action_groups`, { key: 'writing', name: 'Writing', actions: ['update'] })

test.each(EDITED)(
  'who edits %s that another one changed meanwhile sees what is there now, and overwrites nothing',
  async (what, at, path, hasAttributes) => {
    const page = await open(at, { refusals: [412] })
    await openEdit(page, `Edit ${what}`)
    await verdict.patch(path, {
      name: 'Of another one',
      ...(hasAttributes && { attributes: { by: 'another' } }),
    })
    await field(page, 'Name').fill('Mine')
    await page.keyboard.press('Enter')

    await sees(page, 'Current value: Of another one')
    if (hasAttributes) await sees(page, /Current value: \{\s*"by": "another"\s*\}/)
    expect(await field(page, 'Name').inputValue()).toBe('Mine')
    expect((await read(path)).name).toBe('Of another one')
    // Now that it was seen.
    await submit(page)
    expect((await read(path)).name).toBe('Mine')
  },
)

test('an edit that another one went on from is not taken back over their head', async () => {
  const page = await open('model/types/project', { refusals: [412] })
  await openEdit(page, 'Edit the role viewer')
  await field(page, 'Description').fill('Looks on')
  await submit(page)
  await verdict.patch(`${RESOURCES}/project/roles/viewer`, { name: 'Onlooker' })
  await pressInToast(page, 'The role viewer was changed.')

  await sees(page, 'Another user changed this')
  expect(await read(`${RESOURCES}/project/roles/viewer`)).toMatchObject({
    name: 'Onlooker',
    description: 'Looks on',
  })
})

interface GrantedTo {
  readonly granted_to: {
    readonly when: { readonly no_direct_roles_on_object: boolean }
    readonly users_with_role: readonly { readonly when: { readonly no_direct_roles_on_object: boolean } }[]
  }
}

test('the guard of a role is shown and changed as a whole, and its derivations stay what they are', async () => {
  const path = `${RESOURCES}/repository/roles/reader`
  const page = await open('model/types/repository')
  await openEdit(page, 'Guard of reader')
  const guard = page.getByRole('checkbox', {
    name: 'Only for users without a direct role on the repository',
  })
  expect(await guard.isChecked()).toBe(false)
  await pressOn(guard, 'Space')
  await sees(page, 'will no longer receive reader there from derivations.')
  await submit(page)

  await sees(page, 'Derived only for users without a direct role on the repository.')
  const panel = page.getByRole('complementary', { name: 'The type repository' })
  await sees(
    panel,
    'viewer of project gives reader of repository through project, for users without a direct role',
  )
  const { granted_to: guarded } = await read<GrantedTo>(path)
  expect([guarded.when, guarded.users_with_role[0]!.when]).toEqual([
    { no_direct_roles_on_object: true },
    { no_direct_roles_on_object: false },
  ])
  // A derivation that is taken away and put back does not get the guard of its role for its own.
  await openDialog(page, /^Delete: viewer of project gives reader/)
  await submit(page)
  await pressInToast(page, 'viewer of project no longer gives reader of repository.')
  await sees(panel, 'viewer of project gives reader of repository through project')
  expect((await read<GrantedTo>(path)).granted_to.users_with_role).toMatchObject([
    { when: { no_direct_roles_on_object: false } },
  ])
  await openEdit(page, 'Guard of reader')
  await pressOn(guard, 'Space')
  await submit(page)
  await page.getByText('Derived only for users').waitFor({ state: 'detached' })
  expect((await read<GrantedTo>(path)).granted_to.when).toEqual({ no_direct_roles_on_object: false })
})

test('a guard that another one set meanwhile is seen before it is overwritten', async () => {
  const path = `${RESOURCES}/comment/roles/reader`
  const page = await open('model/types/comment', { refusals: [412] })
  await openEdit(page, 'Guard of reader')
  await verdict.put(`${path}/implicit_grants/conditions`, { no_direct_roles_on_object: true })
  await pressOn(page.locator('.dialog button[type=submit]'))

  await sees(page, 'Current value: only for users without a direct role')
  expect((await read<GrantedTo>(path)).granted_to.when.no_direct_roles_on_object).toBe(true)
})

test('an action group is added with its actions, given others, taken away and put back', async () => {
  const path = `${DOCUMENT}/action_groups/looking`
  const page = await open('model/types/document')
  await openDialog(page, 'Add action group')
  await page.keyboard.type('looking')
  await pressOn(page.getByRole('checkbox', { name: 'comment', exact: true }), 'Space')
  await pressOn(page.getByRole('checkbox', { name: 'read', exact: true }), 'Space')
  await sees(page, 'Adds the action group looking to document, with the actions read, comment.')
  await submit(page)
  await button(page, 'Edit the action group looking').waitFor()
  expect(await read(path)).toMatchObject({ name: 'looking', actions: ['read', 'comment'] })

  await openEdit(page, 'Edit the action group looking')
  await field(page, 'Name').fill('Looking')
  await pressOn(page.getByRole('checkbox', { name: 'comment', exact: true }), 'Space')
  await sees(page, 'looking will include the actions read.')
  await submit(page)
  expect(await read(path)).toMatchObject({ name: 'Looking', actions: ['read'] })

  await openDialog(page, 'Delete the action group looking')
  await submit(page)
  await button(page, 'Edit the action group looking').waitFor({ state: 'detached' })
  await pressInToast(page, 'The action group looking of document was deleted.')
  await button(page, 'Edit the action group looking').waitFor()
  expect(await read(path)).toMatchObject({ name: 'Looking', actions: ['read'] })
})

test('an attribute of a type is declared, changed, taken away and put back', async () => {
  const path = `${DOCUMENT}/attributes/pages`
  const page = await open('model/types/document')
  await openDialog(page, 'Add attribute')
  await page.keyboard.type('pages')
  await pressOn(page.getByRole('button', { name: /Value type$/ }))
  await pressOn(page.getByRole('option', { name: 'number' }))
  await sees(page, 'Declares the attribute pages of document')
  await submit(page)
  await button(page, 'Edit the attribute pages').waitFor()
  expect(await read(path)).toMatchObject({ type: 'number', description: null })

  await openEdit(page, 'Edit the attribute pages')
  await field(page, 'Description').fill('How long it is')
  await submit(page)
  await sees(page, 'How long it is')
  expect(await read(path)).toMatchObject({ type: 'number', description: 'How long it is' })

  await openDialog(page, 'Delete the attribute pages')
  await submit(page)
  await button(page, 'Edit the attribute pages').waitFor({ state: 'detached' })
  await pressInToast(page, 'The attribute pages of document is no longer declared.')
  await button(page, 'Edit the attribute pages').waitFor()
  expect(await read(path)).toMatchObject({ type: 'number', description: 'How long it is' })
})

test('what was added is taken back, but not when another one has made something of it', async () => {
  const page = await open('model/types/invoice', { refusals: [412] })
  const INVOICE = `${RESOURCES}/invoice`
  const addAction = async (): Promise<void> => {
    await openDialog(page, 'Add action')
    await page.keyboard.type('cancel')
    await submit(page)
    await button(page, 'Delete the action cancel').waitFor()
  }
  const addRelation = async (): Promise<void> => {
    await openDialog(page, 'Add relation')
    await page.keyboard.type('sender')
    await page.keyboard.press('Tab')
    await page.keyboard.type('team')
    await page.keyboard.press('Tab')
    await sees(page, 'team can then be sender of invoice.')
    await submit(page)
    await button(page, 'Delete the relation sender').waitFor()
  }
  await addAction()
  await pressInToast(page, 'The action cancel of invoice was added.')
  await button(page, 'Delete the action cancel').waitFor({ state: 'detached' })
  await addRelation()
  await pressInToast(page, 'team can now be sender of invoice.')
  await button(page, 'Delete the relation sender').waitFor({ state: 'detached' })

  // Another one makes them again, as something else.
  await addAction()
  await verdict.patch(`${INVOICE}/actions/cancel`, { description: 'With a reason' })
  await pressInToast(page, 'The action cancel of invoice was added.')
  await expect.poll(() => page.locator('.toast.problem').count()).toBe(1)
  expect((await verdict.get(`${INVOICE}/actions/cancel`)).status).toBe(200)
  await addRelation()
  await verdict.delete(`${INVOICE}/relations/sender`)
  await verdict.relation('invoice', 'sender', 'project')
  await pressInToast(page, 'team can now be sender of invoice.')
  await expect.poll(() => page.locator('.toast.problem').count()).toBe(2)
  expect((await verdict.get(`${INVOICE}/relations/sender`)).status).toBe(200)
})

test('a derivation that was added is taken back, but not when another one has changed its role', async () => {
  const page = await open('model/types/pipeline', { refusals: [412] })
  const panel = page.getByRole('complementary', { name: 'The type pipeline' })
  const path = `${RESOURCES}/pipeline/roles/observer`
  const sentence = 'viewer of project gives observer of pipeline through environment_of_the_release.'
  const add = async (): Promise<void> => {
    await openDialog(page, 'Add derivation')
    await choose(page.locator('.dialog'), /Through the relation$/, /environment_of_the_release/)
    await choose(page.locator('.dialog'), /From the role of project$/, /viewer/)
    await choose(page.locator('.dialog'), /To the role of pipeline$/, /observer/)
    await submit(page)
    await sees(panel, sentence)
  }
  await add()
  await pressInToast(page, 'viewer of project now gives observer of pipeline.')
  await panel.getByText(sentence).waitFor({ state: 'detached' })
  await add()
  await verdict.patch(path, { description: 'Another one goes on' })
  await pressInToast(page, 'viewer of project now gives observer of pipeline.')

  await page.locator('.toast.problem').waitFor()
  expect((await read<GrantedTo>(path)).granted_to.users_with_role).toHaveLength(2)
})

test('a tenant role extends another one, is told of, and is taken away', async () => {
  await verdict.tenantRole('clerk', [])
  const page = await open('model/matrix')
  await openDialog(page, 'Roles that clerk extends')
  await page.keyboard.type('guest')
  await sees(page, 'clerk will include all permissions of guest.')
  await page.keyboard.press('Escape')
  await submit(page)
  const grid = page.getByRole('grid', { name: 'Permissions of tenant roles' })
  await grid.getByRole('checkbox', { name: 'clerk may folder:read through guest' }).waitFor()
  await sees(page, '⊇ includes all permissions of guest')

  await openDialog(page, 'Delete the role clerk')
  await sees(page, 'Deletes the tenant role clerk. All users lose it')
  await submit(page)
  await button(page, 'Delete the role clerk').waitFor({ state: 'detached' })
  expect((await verdict.get(`${SCHEMA}/roles/clerk`)).status).toBe(404)
})

test('what a tenant role may through roles on later pages is not said to be forbidden', async () => {
  const key = await neighbourOf(verdict, 'many-roles')
  const base = '/v2/schema/default/many-roles'
  await verdict.send('POST', `${base}/resources`, {
    key,
    body: {
      key: 'file',
      name: 'File',
      actions: { read: {}, write: {}, erase: {} },
      roles: {},
      relations: {},
    },
  })
  const roles = Array.from({ length: 120 }, (_, index) => ({
    key: `r${index}`,
    name: `r${index}`,
    // The one at the end may read; what is between passes it on.
    permissions: index === 119 ? ['file:read'] : index === 80 ? ['file:write'] : [],
    extends: index === 0 || index === 1 ? ['r80'] : index === 80 ? ['r119'] : [],
  }))
  await verdict.send('PUT', `${base}/bulk/roles`, { key, body: { operations: roles } })
  const page = await open('model/matrix', { key })
  const asked: string[] = []
  page.on('request', request => asked.push(request.url()))
  const grid = page.getByRole('grid', { name: 'Permissions of tenant roles' })
  await grid.getByRole('checkbox', { name: 'r0 may file:read through r119' }).waitFor()

  for (const cell of [
    'r0 may file:write through r80',
    'r1 may file:read through r119',
    'r1 may not file:erase',
  ])
    expect(await grid.getByRole('checkbox', { name: cell, exact: true }).count(), cell).toBe(1)
  // One question for both of them, and none for those that extend nothing.
  expect(asked.filter(url => url.endsWith('/ancestors')).length).toBeLessThanOrEqual(2)
  await pressOn(button(page, 'Show more roles'))
  await grid.getByRole('checkbox', { name: 'r80 may file:read through r119' }).waitFor()
})

test('the permissions of a type are right with more roles than a page has', async () => {
  await verdict.resource({
    key: 'ledger',
    name: 'Ledger',
    actions: { read: {} },
    relations: {},
    roles: Object.fromEntries(
      Array.from({ length: 130 }, (_, index) => [
        `r${index}`,
        {
          name: `r${index}`,
          ...(index === 0 ? { extends: ['r129'] } : {}),
          permissions: index === 129 ? ['read'] : [],
        },
      ]),
    ),
  })
  onTestFinished(async () => {
    await verdict.delete(`${RESOURCES}/ledger`)
  })
  const page = await open('model/matrix/ledger')
  const grid = page.getByRole('grid', { name: 'Permissions of the roles of ledger' })
  await grid.getByRole('checkbox', { name: 'r0 may read through r129' }).waitFor()
  expect(await grid.getByRole('checkbox').count()).toBe(130)
})

/** Where the picture is, and how large. */
async function viewOf(page: Page): Promise<{ x: number; y: number; scale: number }> {
  const text = await page.locator('.graph-box svg > g').getAttribute('transform')
  const [x, y, scale] = text!.match(/-?[\d.]+/g)!.map(Number)
  return { x: x!, y: y!, scale: scale! }
}

test('the picture is moved by dragging and made larger with the wheel where the mouse is, and a drag chooses nothing', async () => {
  const page = await open('model')
  const type = page.getByRole('button', { name: /^Folder/ })
  await type.waitFor()
  const at = (await type.boundingBox())!
  const middle = { x: at.x + at.width / 2, y: at.y + 20 }
  const before = await viewOf(page)
  await page.mouse.move(middle.x, middle.y)
  await page.mouse.down()
  await page.mouse.move(middle.x + 60, middle.y + 40, { steps: 5 })
  await page.mouse.up()

  const dragged = await viewOf(page)
  expect([dragged.x - before.x, dragged.y - before.y, dragged.scale]).toEqual([60, 40, before.scale])
  expect(page.url()).toMatch(/\/model$/)
  await page.keyboard.down('Control')
  await page.mouse.wheel(0, -80)
  await page.keyboard.up('Control')
  await expect.poll(async () => (await viewOf(page)).scale).toBeGreaterThan(before.scale * 1.3)
  // What is below the mouse stays there.
  const larger = (await type.boundingBox())!
  expect(larger.x).toBeLessThan(middle.x + 60)
  expect(larger.x + larger.width).toBeGreaterThan(middle.x + 60)
  // Without Ctrl the wheel scrolls the page.
  const { scale } = await viewOf(page)
  await page.mouse.wheel(0, 40)
  await page.mouse.click(middle.x + 60, middle.y + 40)
  await page.getByRole('complementary', { name: 'The type folder' }).waitFor()
  expect((await viewOf(page)).scale).toBe(scale)
})

test('two fingers make the picture larger', async () => {
  const page = await open('model', { size: 'phone' })
  await page.getByRole('button', { name: /^Folder/ }).waitFor()
  const before = await viewOf(page)
  const box = (await page.locator('.graph-box').boundingBox())!
  const session = await page.context().newCDPSession(page)
  const fingers = (apart: number) => [
    { x: box.x + box.width / 2 - apart, y: box.y + 80, id: 1 },
    { x: box.x + box.width / 2 + apart, y: box.y + 80, id: 2 },
  ]
  await session.send('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 2 })
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: fingers(20) })
  for (let apart = 25; apart <= 60; apart += 5)
    await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: fingers(apart) })
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })

  await expect.poll(async () => (await viewOf(page)).scale).toBeGreaterThan(before.scale * 1.5)
})

test('of six hundred types the first five hundred are drawn, none over another, and a search draws each other one', async () => {
  const key = await neighbourOf(verdict, 'huge')
  const lines = sixHundredTypes().map(type => ({ kind: 'resource', ...type }))
  await importInto(verdict, 'huge', content(...lines), ADMIN_KEY)
  const page = await open('model', { key })
  await sees(page, 'The graph shows the first 500 of 600 types. Use the search to find the others.')
  await page.locator('.graph-type').nth(499).waitFor()
  expect(await overlaps(page)).toEqual([])

  const search = page.locator('.model-search input')
  await search.focus()
  await page.keyboard.type('media5_report')
  await expect
    .poll(() => page.locator('.popover').getByRole('option').allInnerTexts())
    .toEqual(['media5_report'])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('complementary', { name: 'The type media5_report' }).waitFor()
  const found = page.getByRole('button', { name: /^media5_report/ })
  await found.waitFor()
  await expect
    .poll(async () => {
      const [at, box] = [(await found.boundingBox())!, (await page.locator('.graph-box').boundingBox())!]
      return Math.abs(at.x + at.width / 2 - box.x - box.width / 2)
    })
    .toBeLessThan(3)
  expect(await overlaps(page)).toEqual([])
  await takePicture(page, 'model-graph-600')
})

test.each(LOOKS.filter(({ language }) => language === 'en'))(
  'what is edited can be read and heard: $size, $colors',
  async as => {
    const page = await open('model/types/folder', as)
    await button(page, 'Edit the action group writing').waitFor()
    await look(page, 'model-edits-panel', as)
    for (const [name, picture] of [
      ['Edit the action group writing', 'action-group'],
      ['Guard of viewer', 'guard'],
    ] as const) {
      await openEdit(page, name)
      await look(page, `model-edits-${picture}`, as)
      await page.keyboard.press('Escape')
      await page.locator('.dialog').waitFor({ state: 'detached' })
    }
  },
)
