/** Model graph with 10 and 100 types, model changes, and the permission matrix, by keyboard. */
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { type Client, neighbourOf, RESOURCES, SCHEMA } from '#testing/processes/running-service.ts'
import { openDialog, pressOn, typeAndPress } from '../../support/console-keys.ts'
import { goTo, look, LOOKS, sees, sharedConsole } from '../../support/console-page.ts'
import { createTypes, hundredTypes, overlaps, TEN_TYPES } from '../../support/drawn-models.ts'

const { verdict, open } = await sharedConsole()
await createTypes(TEN_TYPES, type => verdict.resource(type))

/** Returns the key of an environment with 100 types, which the first call creates. */
let large: Promise<string> | null = null
function keyOfLarge(): Promise<string> {
  large ??= (async () => {
    const key = await neighbourOf(verdict, 'large')
    await createTypes(hundredTypes(), body =>
      verdict.done('POST', '/v2/schema/default/large/resources', body, key),
    )
    return key
  })()
  return large
}

function node(page: Page, name: RegExp) {
  return page.getByRole('group', { name: 'Types and their relations' }).getByRole('button', { name })
}

/** Presses Tab until an element that matches the selector has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the Tab key does not reach ${selector}`)
}

test('the graph of 10 types shows all roles, relations and derivations without overlaps', async () => {
  const page = await open('model')
  await node(page, /^Document/).waitFor()

  expect(await page.locator('.graph-type').count()).toBe(10)
  expect(await page.locator('.graph-link:not(svg) > .relation').count()).toBe(11)
  expect(await page.locator('.graph-link:not(svg) > .derived').count()).toBe(13)
  expect(await overlaps(page)).toEqual([])
})

test('the graph of 100 types shows all types by name without overlaps, including after zooming in', async () => {
  const page = await open('model', { key: await keyOfLarge() })
  await sees(page, '100 types')
  await node(page, /^sales_area/).waitFor()

  await expect.poll(() => page.locator('.graph-type').count()).toBe(100)
  expect(await overlaps(page)).toEqual([])
  await node(page, /^sales_area/).focus()
  for (const key of ['+', '+', '+', '+']) await page.keyboard.press(key)
  expect(await overlaps(page)).toEqual([])
})

test('arrow keys move between types, and Enter selects a type and dims the types without a connection', async () => {
  const page = await open('model')
  await node(page, /^Document/).waitFor()
  await tabTo(page, '.graph-type')
  await page.keyboard.press('End')
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowRight')
  const first = await page.evaluate('document.activeElement.querySelector("title").textContent')
  expect(first).toMatch(/^(Team|Invoice)/)
  await page.keyboard.press('ArrowRight')
  expect(await page.evaluate('document.activeElement.querySelector("title").textContent')).toMatch(/^Project/)
  await page.keyboard.press('Enter')

  const panel = page.getByRole('complementary', { name: 'The type project' })
  await sees(panel, 'maintainer of project gives writer of repository through project.')
  expect(await node(page, /^Project/).getAttribute('aria-pressed')).toBe('true')
  expect(await node(page, /^Comment/).getAttribute('class')).toContain('dim')
  expect(await node(page, /^Folder/).getAttribute('class')).not.toContain('dim')
  expect(page.url()).toMatch(/\/model\/types\/project$/)
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
})

test('a type with an action, a role, a relation and a derivation is added and deleted', async () => {
  // The event of the deletion can arrive before its response. The page then asks for the deleted type.
  const page = await open('model', { refusals: [404] })
  await openDialog(page.getByRole('button', { name: 'Add type' }))
  await typeAndPress(page, 'chapter', 'Tab', 'Tab')
  await page.keyboard.type('read')
  await sees(page, 'Adds the type chapter with the actions read.')
  await page.keyboard.press('Enter')

  const panel = page.getByRole('complementary', { name: 'The type chapter' })
  await openDialog(panel.getByRole('button', { name: 'Add action', exact: true }))
  await typeAndPress(page, 'print', 'Enter')
  await panel.getByRole('button', { name: 'Delete the action print' }).waitFor()

  await openDialog(panel.getByRole('button', { name: 'Add role' }))
  await page.keyboard.type('reader')
  await pressOn(page.getByRole('checkbox', { name: 'read', exact: true }), 'Space')
  await sees(page, 'Adds the role reader to chapter, with the permissions read.')
  await pressOn(page.getByRole('button', { name: 'Add', exact: true }))
  await panel.getByRole('button', { name: 'Delete the role reader' }).waitFor()

  await openDialog(panel.getByRole('button', { name: 'Add relation' }))
  await typeAndPress(page, 'book', 'Tab')
  await typeAndPress(page, 'document', 'Tab')
  await sees(page, 'document can then be book of chapter.')
  await pressOn(page.getByRole('button', { name: 'Add', exact: true }))
  await panel.getByRole('button', { name: 'Delete the relation book' }).waitFor()

  await openDialog(panel.getByRole('button', { name: 'Add derivation' }), '.dialog:focus-within')
  const fromRole = page.getByRole('button', { name: 'From the role of document' })
  await pressOn(fromRole)
  await page.getByRole('option', { name: 'editor' }).waitFor()
  await typeAndPress(page, 'ed', 'Enter')
  await sees(
    page,
    'Users with the role editor on an instance of document receive reader on each instance of chapter of which it is book.',
  )
  await pressOn(page.getByRole('button', { name: 'Add', exact: true }))
  await sees(panel, 'editor of document gives reader of chapter through book.')
  const { body } = await verdict.get<{ roles: { reader: { granted_to: { users_with_role: object[] } } } }>(
    `${RESOURCES}/chapter`,
  )
  expect(body.roles.reader.granted_to.users_with_role).toMatchObject([
    { role: 'editor', on_resource: 'document', linked_by_relation: 'book' },
  ])

  await openDialog(panel.getByRole('button', { name: /^Delete: editor of document/ }))
  await sees(page, 'Direct grants of reader are kept.')
  await page.keyboard.press('Enter')
  await panel.getByText('editor of document gives reader').waitFor({ state: 'detached' })
  for (const part of ['the relation book', 'the role reader', 'the action print', 'the type chapter']) {
    await openDialog(panel.getByRole('button', { name: `Delete ${part}` }))
    await page.getByRole('alertdialog').getByText('This cannot be undone.').waitFor()
    await page.keyboard.press('Enter')
    await panel.getByRole('button', { name: `Delete ${part}` }).waitFor({ state: 'detached' })
  }
  expect((await verdict.get(`${RESOURCES}/chapter`)).status).toBe(404)
})

test('changes to the model by other users appear automatically', async () => {
  const page = await open('model/types/announcement')
  await sees(page, 'This type has no roles yet.')
  await page.getByRole('img', { name: 'Changes by other users appear automatically.' }).waitFor()
  await verdict.post(`${RESOURCES}/announcement/roles`, { key: 'reporter', name: 'Reporter' })

  await page.getByRole('button', { name: 'Delete the role reporter' }).waitFor()
  await verdict.delete(`${RESOURCES}/announcement/roles/reporter`)
  await sees(page, 'This type has no roles yet.')
})

async function permissionsOf(client: Client, role: string): Promise<readonly string[]> {
  return (await client.get<{ permissions: string[] }>(role)).body.permissions
}

test('a permission is granted in the matrix after a sentence states the effect, and can be undone', async () => {
  const page = await open('model/matrix/document')
  const grid = page.getByRole('grid', { name: 'Permissions of the roles of document' })
  await grid.waitFor()
  await tabTo(page, '.cell')
  // Moves from the action read of viewer to the action delete of editor.
  for (const key of ['ArrowDown', 'ArrowDown', 'End']) await page.keyboard.press(key)
  await sees(page, 'Select to grant delete to the role editor.')
  await page.keyboard.press('Space')

  await grid.getByRole('checkbox', { name: 'editor may delete' }).waitFor()
  expect(await permissionsOf(verdict, `${RESOURCES}/document/roles/editor`)).toContain('delete')
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('editor may delete')
  await pressOn(page.getByRole('button', { name: 'Undo' }))
  await grid.getByRole('checkbox', { name: 'editor may not delete' }).waitFor()
  expect(await permissionsOf(verdict, `${RESOURCES}/document/roles/editor`)).not.toContain('delete')
})

test('an inherited permission is marked, and can also be granted directly', async () => {
  const page = await open('model/matrix/document')
  const grid = page.getByRole('grid')
  const inherited = grid.getByRole('checkbox', { name: 'commenter may read through viewer' })
  await inherited.focus()
  await sees(
    page,
    'Select to grant read directly to the role commenter, which already has it through viewer.',
  )
  await page.keyboard.press('Space')

  await grid.getByRole('checkbox', { name: 'commenter may read, also through viewer' }).waitFor()
  await page.keyboard.press('Space')
  await inherited.waitFor()
})

test('a rejected permission change shows an error in its cell', async () => {
  await verdict.post(`${RESOURCES}/document/actions`, { key: 'print', name: 'print' })
  const page = await open('model/matrix/document', { refusals: [404] })
  const cell = page.getByRole('grid').getByRole('checkbox', { name: 'viewer may not print' })
  await cell.waitFor()
  await page.route('**/roles/viewer/permissions', async route => {
    // Another user deletes the action first.
    await verdict.delete(`${RESOURCES}/document/actions/print`)
    await route.continue()
  })
  await pressOn(cell, 'Space')

  await page.getByRole('grid').getByRole('alert').waitFor()
})

test('tenant roles are granted permissions on all types, which are loaded in pages and can be searched', async () => {
  const key = await keyOfLarge()
  for (const role of ['auditor', 'clerk'])
    await verdict.send('POST', '/v2/schema/default/large/roles', {
      key,
      body: { key: role, name: role, permissions: ['sales_area:read'] },
    })
  const page = await open('model/matrix', { key })
  const grid = page.getByRole('grid', { name: 'Permissions of tenant roles' })
  await grid.getByRole('checkbox', { name: 'auditor may sales_area:read' }).waitFor()
  await sees(page, '50 of 100')
  await pressOn(page.getByRole('button', { name: 'Show more types' }))
  await sees(page, '100 of 100')
  await page.getByRole('searchbox', { name: 'Find types' }).fill('single_99')
  await sees(page, '1 of 1')
  await pressOn(grid.getByRole('checkbox', { name: 'clerk may not single_99:delete' }), 'Space')

  await grid.getByRole('checkbox', { name: 'clerk may single_99:delete' }).waitFor()
  const clerk = '/v2/schema/default/large/roles/clerk'
  const answer = await verdict.send<{ permissions: string[] }>('GET', clerk, { key })
  expect(answer.body.permissions).toContain('single_99:delete')
})

test.each(LOOKS)('the pages of the model are accessible: $size, $colors, $language', async as => {
  const role = `auditor-${as.size}-${as.colors}`
  await verdict.tenantRole(role, ['document:read', 'folder:read'])
  onTestFinished(async () => void (await verdict.delete(`${SCHEMA}/roles/${role}`)))
  const page = await open('model', as)
  await page.locator('.graph-type').nth(9).waitFor()
  await look(page, 'model-graph-10', as)
  await pressOn(page.locator('details > summary'))
  await look(page, 'model-list', as)
  for (const [name, path, shown] of [
    ['type', 'model/types/folder', '.graph-panel .panel-section'],
    ['matrix', 'model/matrix/document', '.cell'],
    ['tenant-matrix', 'model/matrix', '.group-name'],
  ] as const) {
    await goTo(page, path)
    await page.locator(shown).first().waitFor()
    await look(page, `model-${name}`, as)
  }

  const largePage = await open('model', { ...as, key: await keyOfLarge() })
  await largePage.locator('.graph-type').nth(99).waitFor()
  await look(largePage, 'model-graph-100', as)
  await goTo(largePage, 'model/types/people_note')
  await largePage.locator('.graph-panel .panel-section').first().waitFor()
  await look(largePage, 'model-type-of-100', as)
})
