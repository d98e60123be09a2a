/** Edits of the model by keyboard with undo, concurrent changes, large models, and zooming of the graph. */
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { ADMIN_KEY, API_KEY, neighbourOf, RESOURCES, SCHEMA } from '#testing/processes/running-service.ts'
import {
  button,
  choose,
  openDialog as openBy,
  pressInToast,
  pressOn,
  typeAndPress,
} from '../../support/console-keys.ts'
import { look, LOOKS, sees, sharedConsole, takePicture } from '../../support/console-page.ts'
import { content, importInto } from '../../support/content.ts'
import { createTypes, overlaps, sixHundredTypes, TEN_TYPES } from '../../support/drawn-models.ts'

const { verdict, open } = await sharedConsole()
await createTypes(TEN_TYPES, type => verdict.resource(type))

const DOCUMENT = `${RESOURCES}/document`

interface Described {
  readonly name: string
  readonly description: string | null
  readonly attributes: object | null
}

const read = <Thing = Described>(path: string) => verdict.done<Thing>('GET', path)

/** Opens a dialog, and waits until it has the focus. */
function openDialog(page: Page, name: string | RegExp): Promise<void> {
  return openBy(button(page, name), '.dialog:focus-within')
}

/** Opens a dialog, and waits until it has loaded the current values. */
async function openEdit(page: Page, name: string): Promise<void> {
  await openDialog(page, name)
  await page.locator('.dialog button[type=submit]:not([disabled])').waitFor()
}

async function submit(page: Page): Promise<void> {
  await pressOn(page.locator('.dialog button[type=submit]'))
  await page.locator('.dialog').waitFor({ state: 'detached' })
}

function field(page: Page, name: string) {
  return page.locator('.dialog').getByRole('textbox', { name, exact: true })
}

test('editing the name, description and attributes of an action can be undone', async () => {
  const page = await open('model/types/document')
  await openEdit(page, 'Edit the action read')
  await field(page, 'Name').fill('Look at')
  await field(page, 'Description').fill('Shows the text')
  await field(page, 'Attributes').fill('{"icon": "eye"}')
  await sees(page, 'Changes the name, description and attributes of the action read of document.')
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

test('changing the name of an action keeps integers beyond 2^53 in its attributes', async () => {
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

test('attributes that are not a JSON object show an error and cannot be saved', async () => {
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
  'editing %s shows a concurrent change before overwriting it',
  async (what, at, path, hasAttributes) => {
    const page = await open(at, { refusals: [412] })
    await openEdit(page, `Edit ${what}`)
    await verdict.patch(path, {
      name: 'Concurrent',
      ...(hasAttributes && { attributes: { by: 'another' } }),
    })
    await field(page, 'Name').fill('Mine')
    await page.keyboard.press('Enter')

    await sees(page, 'Current value: Concurrent')
    if (hasAttributes) await sees(page, /Current value: \{\s*"by": "another"\s*\}/)
    expect(await field(page, 'Name').inputValue()).toBe('Mine')
    expect((await read(path)).name).toBe('Concurrent')
    // A second submit overwrites the displayed value.
    await submit(page)
    expect((await read(path)).name).toBe('Mine')
  },
)

test('an edit cannot be undone after another user has changed the same role', async () => {
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

test('changing the guard of a role does not change the guards of its derivations', async () => {
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
  // A derivation that is deleted and restored does not receive the guard of its role.
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

test('a guard that another user changed is shown before it is overwritten', async () => {
  const path = `${RESOURCES}/comment/roles/reader`
  const page = await open('model/types/comment', { refusals: [412] })
  await openEdit(page, 'Guard of reader')
  await verdict.put(`${path}/implicit_grants/conditions`, { no_direct_roles_on_object: true })
  await pressOn(page.locator('.dialog button[type=submit]'))

  await sees(page, 'Current value: only for users without a direct role')
  expect((await read<GrantedTo>(path)).granted_to.when.no_direct_roles_on_object).toBe(true)
})

test('an action group is added, edited and deleted, and the deletion can be undone', async () => {
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

test('an attribute is declared, edited and deleted, and the deletion can be undone', async () => {
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

test('adding an action or relation can be undone, unless another user has changed it', async () => {
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
    await typeAndPress(page, 'sender', 'Tab')
    await typeAndPress(page, 'team', 'Tab')
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

  // Another user changes the action and replaces the relation.
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

test('adding a derivation can be undone, unless another user has changed its role', async () => {
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
  await verdict.patch(path, { description: 'Concurrent' })
  await pressInToast(page, 'viewer of project now gives observer of pipeline.')

  await page.locator('.toast.problem').waitFor()
  expect((await read<GrantedTo>(path)).granted_to.users_with_role).toHaveLength(2)
})

test('a tenant role is extended, shows inherited permissions, and is deleted', async () => {
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

test('permissions that a tenant role inherits from roles on later pages are shown', async () => {
  const key = await neighbourOf(verdict, 'many-roles')
  const base = '/v2/schema/default/many-roles'
  const file = { key: 'file', name: 'File', actions: { read: {}, write: {}, erase: {} } }
  await verdict.send('POST', `${base}/resources`, { key, body: file })
  const roles = Array.from({ length: 120 }, (_, index) => ({
    key: `r${index}`,
    name: `r${index}`,
    // The last role has the permission, and role r80 inherits it.
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
  // The page sends at most one request for each of the two roles that extend another role.
  expect(asked.filter(url => url.endsWith('/ancestors')).length).toBeLessThanOrEqual(2)
  await pressOn(button(page, 'Show more roles'))
  await grid.getByRole('checkbox', { name: 'r80 may file:read through r119' }).waitFor()
})

test('the matrix of a type shows inherited permissions for more roles than fit on a page', async () => {
  const roles = Array.from({ length: 130 }, (_, index) => [`r${index}`, { name: `r${index}` }] as const)
  const inheriting = { r0: { name: 'r0', extends: ['r129'] }, r129: { name: 'r129', permissions: ['read'] } }
  await verdict.resource({
    key: 'ledger',
    actions: { read: {} },
    roles: { ...Object.fromEntries(roles), ...inheriting },
  })
  onTestFinished(async () => void (await verdict.delete(`${RESOURCES}/ledger`)))
  const page = await open('model/matrix/ledger')
  const grid = page.getByRole('grid', { name: 'Permissions of the roles of ledger' })
  await grid.getByRole('checkbox', { name: 'r0 may read through r129' }).waitFor()
  expect(await grid.getByRole('checkbox').count()).toBe(130)
})

/** Position and zoom of the graph. */
async function viewOf(page: Page): Promise<{ x: number; y: number; scale: number }> {
  const text = await page.locator('.graph-box svg > g').getAttribute('transform')
  const [x, y, scale] = text!.match(/-?[\d.]+/g)!.map(Number)
  return { x: x!, y: y!, scale: scale! }
}

test('dragging moves the graph without a selection, and Ctrl with the wheel zooms at the mouse', async () => {
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
  // The type under the mouse keeps its position.
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

test('a pinch gesture zooms in', async () => {
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

test('the first 500 of 600 types are drawn without overlaps, and a search adds a type', async () => {
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
  'the dialogs of the model are accessible: $size, $colors',
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
