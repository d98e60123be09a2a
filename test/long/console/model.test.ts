/** The owner of a model reads it as a picture, at ten types and at a hundred, and changes it: all of it by keyboard. */
import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import {
  type Client,
  neighbourOf,
  RESOURCES,
  SCHEMA,
  sharedService,
} from '#testing/processes/running-service.ts'
import { openDialog, pressOn } from '../../support/console-keys.ts'
import {
  expectAccessible,
  goTo,
  openSignedIn,
  sharedChromium,
  SIZES,
  takePicture,
} from '../../support/console-page.ts'
import { createTypes, hundredTypes, TEN_TYPES } from '../../support/drawn-models.ts'

const verdict = await sharedService()
const chromium = sharedChromium()
await createTypes(TEN_TYPES, type => verdict.resource(type))

/** The key of an environment with a hundred types. */
let large: Promise<string> | null = null
function keyOfLarge(): Promise<string> {
  large ??= (async () => {
    const key = await neighbourOf(verdict, 'large')
    await createTypes(hundredTypes(), async body => {
      const { status } = await verdict.send('POST', '/v2/schema/default/large/resources', { key, body })
      expect(status).toBe(200)
    })
    return key
  })()
  return large
}

function opened(path: string, options: Partial<Parameters<typeof openSignedIn>[1]> = {}): Promise<Page> {
  return chromium().then(browser => openSignedIn(browser, { address: verdict.address, path, ...options }))
}

/** A type in the picture. */
function node(page: Page, name: RegExp) {
  return page.getByRole('group', { name: 'Types and what joins them' }).getByRole('button', { name })
}

/** Presses Tab until what is asked for has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 80; presses += 1) {
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`the Tab key does not come to ${selector}`)
}

/** What of boxes and labels of lines lies over one another, on the screen. */
function overlaps(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const things = [...document.querySelectorAll('.graph-type .frame-line, .graph-link > rect')]
      .map(element => ({ of: element.parentNode.textContent, at: element.getBoundingClientRect() }))
      .filter(({ at }) => at.width > 0)
    const found = []
    for (const [index, one] of things.entries())
      for (const other of things.slice(index + 1))
        if (one.at.left < other.at.right - 1 && other.at.left < one.at.right - 1
          && one.at.top < other.at.bottom - 1 && other.at.top < one.at.bottom - 1)
          found.push(one.of + ' / ' + other.of)
    return found
  })()`)
}

test('at ten types the picture has every role, relation and derivation, and nothing lies over another', async () => {
  const page = await opened('model')
  await node(page, /^Document/).waitFor()

  expect(await page.locator('.graph-type').count()).toBe(10)
  // Relations between two types, and one line a derivation between them.
  expect(await page.locator('.graph-link:not(svg) > .relation').count()).toBe(11)
  expect(await page.locator('.graph-link:not(svg) > .derived').count()).toBe(13)
  expect(await overlaps(page)).toEqual([])
})

test('at a hundred types the whole is on the screen, by name, and nothing lies over another', async () => {
  const page = await opened('model', { key: await keyOfLarge() })
  await page.getByText('100 types').waitFor()
  await node(page, /^sales_area/).waitFor()

  await expect.poll(() => page.locator('.graph-type').count()).toBe(100)
  expect(await overlaps(page)).toEqual([])
  await node(page, /^sales_area/).focus()
  for (const key of ['+', '+', '+', '+']) await page.keyboard.press(key)
  expect(await overlaps(page)).toEqual([])
})

test('arrow keys go from type to type, Enter chooses one, and what is not joined to it steps back', async () => {
  const page = await opened('model')
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
  await panel.getByText('maintainer of project gives writer of repository along project.').waitFor()
  expect(await node(page, /^Project/).getAttribute('aria-pressed')).toBe('true')
  expect(await node(page, /^Comment/).getAttribute('class')).toContain('dim')
  expect(await node(page, /^Folder/).getAttribute('class')).not.toContain('dim')
  expect(page.url()).toMatch(/\/model\/types\/project$/)
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
})

test('a search brings a type of a hundred into the middle of the picture, with what there is to say of it', async () => {
  const page = await opened('model', { key: await keyOfLarge() })
  await node(page, /^sales_area/).waitFor()
  await tabTo(page, '.model-search input')
  await page.keyboard.type('finance_not')
  await expect.poll(() => page.getByRole('option').count()).toBe(1)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')

  await page.getByRole('complementary', { name: 'The type finance_note' }).waitFor()
  const box = (await page.locator('.graph-box').boundingBox())!
  await expect
    .poll(async () => {
      const at = (await node(page, /^finance_note/).boundingBox())!
      return Math.abs(
        at.x + at.width / 2 - box.x - (await page.locator('.graph-box').boundingBox())!.width / 2,
      )
    })
    .toBeLessThan(3)
})

test('a type is added with an action, a role, a relation and a derivation, and taken away again', async () => {
  const page = await opened('model')
  await openDialog(page.getByRole('button', { name: 'Add type' }))
  await page.keyboard.type('chapter')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.type('read')
  await page.getByText('Adds the type chapter with what can be done: read.').waitFor()
  await page.keyboard.press('Enter')

  const panel = page.getByRole('complementary', { name: 'The type chapter' })
  await openDialog(panel.getByRole('button', { name: 'Add action', exact: true }))
  await page.keyboard.type('print')
  await page.keyboard.press('Enter')
  await panel.getByRole('button', { name: 'Delete the action print' }).waitFor()

  await openDialog(panel.getByRole('button', { name: 'Add role' }))
  await page.keyboard.type('reader')
  await pressOn(page.getByRole('checkbox', { name: 'read', exact: true }), 'Space')
  await page.getByText('Adds the role reader of chapter, which may read.').waitFor()
  await pressOn(page.getByRole('button', { name: 'Add', exact: true }))
  await panel.getByRole('button', { name: 'Delete the role reader' }).waitFor()

  await openDialog(panel.getByRole('button', { name: 'Add relation' }))
  await page.keyboard.type('book')
  await page.keyboard.press('Tab')
  await page.keyboard.type('document')
  await page.keyboard.press('Tab')
  await page.getByText('document may then be book of chapter.').waitFor()
  await pressOn(page.getByRole('button', { name: 'Add', exact: true }))
  await panel.getByRole('button', { name: 'Delete the relation book' }).waitFor()

  await openDialog(panel.getByRole('button', { name: 'Add derivation' }), '.dialog:focus-within')
  const fromRole = page.getByRole('button', { name: 'Who has this role of document' })
  await pressOn(fromRole)
  await page.getByRole('option', { name: 'editor' }).waitFor()
  await page.keyboard.type('ed')
  await page.keyboard.press('Enter')
  await page
    .getByText('Everybody who is editor of document is then reader of each chapter that it is book of.')
    .waitFor()
  await pressOn(page.getByRole('button', { name: 'Add', exact: true }))
  await panel.getByText('editor of document gives reader of chapter along book.').waitFor()
  const { body } = await verdict.get<{ roles: { reader: { granted_to: { users_with_role: object[] } } } }>(
    `${RESOURCES}/chapter`,
  )
  expect(body.roles.reader.granted_to.users_with_role).toMatchObject([
    { role: 'editor', on_resource: 'document', linked_by_relation: 'book' },
  ])

  await openDialog(panel.getByRole('button', { name: /^Delete: editor of document/ }))
  await page.getByText('Who was granted reader directly keeps it.').waitFor()
  await page.keyboard.press('Enter')
  await panel.getByText('editor of document gives reader').waitFor({ state: 'detached' })
  for (const part of ['the relation book', 'the role reader', 'the action print', 'the type chapter']) {
    await openDialog(panel.getByRole('button', { name: `Delete ${part}` }))
    await page.getByRole('alertdialog').getByText('There is no way back.').waitFor()
    await page.keyboard.press('Enter')
    await panel.getByRole('button', { name: `Delete ${part}` }).waitFor({ state: 'detached' })
  }
  expect((await verdict.get(`${RESOURCES}/chapter`)).status).toBe(404)
})

test('what is refused is said beside its field, and the dialog stays', async () => {
  const page = await opened('model/types/document', { refusals: [409, 422] })
  const panel = page.getByRole('complementary', { name: 'The type document' })
  await openDialog(panel.getByRole('button', { name: 'Add action', exact: true }))
  await page.keyboard.type('not a key')
  await page.keyboard.press('Enter')

  const field = page.getByRole('dialog').getByRole('textbox', { name: 'Key' })
  await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
  await field.fill('read')
  await page.keyboard.press('Enter')
  await page
    .getByRole('dialog')
    .getByText(/already|exists/i)
    .first()
    .waitFor()
})

test('who edits a type that another one changed meanwhile sees what is there now, and overwrites nothing', async () => {
  onTestFinished(async () => {
    await verdict.patch(`${RESOURCES}/invoice`, { name: 'Invoice' })
  })
  const page = await opened('model/types/invoice', { refusals: [412] })
  await openDialog(page.getByRole('button', { name: 'Edit the type invoice' }))
  const name = page.getByRole('dialog').getByRole('textbox', { name: 'Name' })
  await expect.poll(() => name.inputValue()).toBe('Invoice')
  await verdict.patch(`${RESOURCES}/invoice`, { name: 'Bill of another one' })
  await name.fill('Bill')
  await page.keyboard.press('Enter')

  await page.getByText('There now: Bill of another one').waitFor()
  expect(await name.inputValue()).toBe('Bill')
  expect((await verdict.get<{ name: string }>(`${RESOURCES}/invoice`)).body.name).toBe('Bill of another one')
  // Now that it was seen.
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect((await verdict.get<{ name: string }>(`${RESOURCES}/invoice`)).body.name).toBe('Bill')
})

test('what others change in the model appears', async () => {
  const page = await opened('model/types/announcement')
  await page.getByText('Nobody can be given a role on it yet.').waitFor()
  await page.getByRole('img', { name: 'Changes of others appear by themselves.' }).waitFor()
  await verdict.post(`${RESOURCES}/announcement/roles`, { key: 'reporter', name: 'Reporter' })

  await page.getByRole('button', { name: 'Delete the role reporter' }).waitFor()
  await verdict.delete(`${RESOURCES}/announcement/roles/reporter`)
  await page.getByText('Nobody can be given a role on it yet.').waitFor()
})

async function permissionsOf(client: Client, role: string): Promise<readonly string[]> {
  return (await client.get<{ permissions: string[] }>(role)).body.permissions
}

test('a permission is given and taken in the matrix, said in a sentence, and undone', async () => {
  const page = await opened('model/matrix/document')
  const grid = page.getByRole('grid', { name: 'Permissions of the roles of document' })
  await grid.waitFor()
  await tabTo(page, '.cell')
  // From viewer's read to the editor's delete.
  for (const key of ['ArrowDown', 'ArrowDown', 'End']) await page.keyboard.press(key)
  await page.getByText('Pressing lets everybody who has editor delete.').waitFor()
  await page.keyboard.press('Space')

  await grid.getByRole('checkbox', { name: 'editor may delete' }).waitFor()
  expect(await permissionsOf(verdict, `${RESOURCES}/document/roles/editor`)).toContain('delete')
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('editor may delete')
  await pressOn(page.getByRole('button', { name: 'Undo' }))
  await grid.getByRole('checkbox', { name: 'editor may not delete' }).waitFor()
  expect(await permissionsOf(verdict, `${RESOURCES}/document/roles/editor`)).not.toContain('delete')
})

test('a permission that a role has through another one is told apart, and may be given beside', async () => {
  const page = await opened('model/matrix/document')
  const grid = page.getByRole('grid')
  const inherited = grid.getByRole('checkbox', { name: 'commenter may read through viewer' })
  await inherited.focus()
  await page.getByText('Pressing gives read to commenter itself. It has it through viewer already.').waitFor()
  await page.keyboard.press('Space')

  await grid.getByRole('checkbox', { name: 'commenter may read, and may through viewer, too' }).waitFor()
  await page.keyboard.press('Space')
  await inherited.waitFor()
})

test('what the interface refuses of a permission is said in its cell', async () => {
  await verdict.post(`${RESOURCES}/document/actions`, { key: 'print', name: 'print' })
  const page = await opened('model/matrix/document', { refusals: [404] })
  const cell = page.getByRole('grid').getByRole('checkbox', { name: 'viewer may not print' })
  await cell.waitFor()
  await page.route('**/roles/viewer/permissions', async route => {
    // Another one is faster.
    await verdict.delete(`${RESOURCES}/document/actions/print`)
    await route.continue()
  })
  await pressOn(cell, 'Space')

  await page.getByRole('grid').getByRole('alert').waitFor()
})

test('tenant roles are given what can be done with all types, page by page', async () => {
  const key = await keyOfLarge()
  for (const role of ['auditor', 'clerk'])
    await verdict.send('POST', '/v2/schema/default/large/roles', {
      key,
      body: { key: role, name: role, permissions: ['sales_area:read'] },
    })
  const page = await opened('model/matrix', { key })
  const grid = page.getByRole('grid', { name: 'Permissions of tenant roles' })
  await grid.getByRole('checkbox', { name: 'auditor may sales_area:read' }).waitFor()
  await page.getByText('50 of 100').waitFor()
  await pressOn(page.getByRole('button', { name: 'Show more types' }))
  await page.getByText('100 of 100').waitFor()
  await page.getByRole('searchbox', { name: 'Find types' }).fill('single_99')
  await page.getByText('1 of 1').waitFor()
  await pressOn(grid.getByRole('checkbox', { name: 'clerk may not single_99:delete' }), 'Space')

  await grid.getByRole('checkbox', { name: 'clerk may single_99:delete' }).waitFor()
  const answer = await verdict.send<{ permissions: string[] }>(
    'GET',
    '/v2/schema/default/large/roles/clerk',
    {
      key,
    },
  )
  expect(answer.body.permissions).toContain('single_99:delete')
})

for (const size of Object.keys(SIZES) as (keyof typeof SIZES)[]) {
  for (const colors of ['light', 'dark'] as const) {
    test(`every page of the model can be read and heard (${size}, ${colors})`, async () => {
      await verdict.tenantRole(`auditor-${size}-${colors}`, ['document:read', 'folder:read'])
      onTestFinished(async () => {
        await verdict.delete(`${SCHEMA}/roles/auditor-${size}-${colors}`)
      })
      const page = await opened('model', { size, colors, language: colors === 'dark' ? 'de' : 'en' })
      const look = async (name: string): Promise<void> => {
        await expectAccessible(page)
        await takePicture(page, `model-${name}-${size}-${colors}`)
      }
      const types = page.locator('.graph-type')
      await types.nth(9).waitFor()
      await look('graph-10')
      await pressOn(page.locator('details > summary'))
      await look('list')
      await goTo(page, 'model/types/folder')
      await page.locator('.graph-panel .panel-section').first().waitFor()
      await look('type')
      await goTo(page, 'model/matrix/document')
      await page.locator('.cell').first().waitFor()
      await look('matrix')
      await goTo(page, 'model/matrix')
      await page.locator('.group-name').first().waitFor()
      await look('tenant-matrix')

      const largePage = await opened('model', { size, colors, key: await keyOfLarge() })
      await largePage.locator('.graph-type').nth(99).waitFor()
      await expectAccessible(largePage)
      await takePicture(largePage, `model-graph-100-${size}-${colors}`)
      await goTo(largePage, 'model/types/people_note')
      await largePage.locator('.graph-panel .panel-section').first().waitFor()
      await expectAccessible(largePage)
      await takePicture(largePage, `model-type-of-100-${size}-${colors}`)
    })
  }
}
