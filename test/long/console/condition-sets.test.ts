/**
 * The owner of the model, by keyboard: writes a condition set that is tried as it is written, rests a rule on it, changes it knowing what
 * rests on it, meets another one who changes it, too, takes all of it back; and has the model as a file.
 */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { API_KEY, type Client, FACTS, SCHEMA, startedService } from '#testing/processes/running-service.ts'
import { press, pressOn } from '../../support/console-keys.ts'
import {
  consoleOf,
  goTo,
  look,
  LOOKS,
  sees,
  sharedChromium,
  takePicture,
} from '../../support/console-page.ts'

const chromium = sharedChromium()

const SETS = `${SCHEMA}/condition_sets`

/** Users of whom something is known, and documents that may be open to them. */
async function company() {
  const verdict = await startedService()
  await verdict.createDocumentModel()
  const made = async (path: string, body: unknown) =>
    expect([path, (await verdict.post(path, body)).status]).toEqual([path, expect.toBeOneOf([200, 201])])
  await made(`${SCHEMA}/users/attributes`, { key: 'department', type: 'string' })
  await made(`${SCHEMA}/users/attributes`, { key: 'level', type: 'number' })
  await made(`${SCHEMA}/resources/document/attributes`, { key: 'classification', type: 'number' })
  await made(`${FACTS}/users`, { key: 'ann', attributes: { department: 'sales', level: 3 } })
  await made(`${FACTS}/users`, { key: 'bob', attributes: { department: 'law', level: 1 } })
  await made(`${FACTS}/users`, { key: 'cleo', attributes: { department: 'sales' } })
  await made(SETS, { key: 'active', name: 'Active users', conditions: { 'user.left': { exists: false } } })
  await made(SETS, {
    key: 'open_documents',
    name: 'Open documents',
    type: 'resourceset',
    resource_id: 'document',
    conditions: { 'resource.classification': { 'less-than-equals': { ref: 'user.level' } } },
  })
  return { verdict, made, open: consoleOf(verdict.address, chromium) }
}

/** The same with a set on which a rule rests. */
async function companyWithSales() {
  const here = await company()
  const conditions = { 'user.department': { equals: 'sales' } }
  await here.made(SETS, { key: 'sales', name: 'Sales', conditions })
  const rule = { user_set: 'sales', permission: 'document:read', resource_set: 'document' }
  await here.made(`${FACTS}/set_rules`, rule)
  return here
}

/** The page of that set. */
async function openedSales(options: { readonly refusals?: readonly number[] } = {}) {
  const { verdict, open } = await companyWithSales()
  const page = await open('model/sets/sales', options)
  await editor(page).waitFor()
  return { verdict, page }
}

const departmentIs = (name: string) => ({ 'user.department': { equals: name } })

function changeSales(verdict: Client, name: string): Promise<unknown> {
  return verdict.patch(`${SETS}/sales`, { conditions: departmentIs(name) })
}

async function expectSales(verdict: Client, name: string): Promise<void> {
  expect(await verdict.get(`${SETS}/sales`)).toMatchObject({ body: { conditions: departmentIs(name) } })
}

/** Saves, once the rule that rests on the set was told. */
async function save(page: Page): Promise<void> {
  await press(page, 'Save')
  await sees(page.getByRole('dialog'), '1 rule uses Sales')
  await page.keyboard.press('Enter')
}

async function undo(page: Page): Promise<void> {
  await press(page, 'Undo')
  await sees(page, 'Change undone.')
}

const editor = (page: Page) => page.getByRole('textbox', { name: /^(?:Conditions|Bedingungen)/ })

/** Puts a text in place of what stands in the editor, by keyboard. */
async function rewrite(page: Page, text: string): Promise<void> {
  await editor(page).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

/** The verdict on a sample, as it is read. */
async function expectVerdicts(page: Page, ...words: readonly string[]): Promise<void> {
  const samples = page.getByRole('list', { name: 'Samples' }).locator('> li')
  for (const [index, word] of words.entries()) {
    await samples.nth(index).locator('.sample-verdict .badge', { hasText: word }).waitFor()
  }
}

test('a set is written with completion, tried as it is written, and created with the rule on it', async () => {
  const { verdict, open } = await company()
  const page = await open('model/sets')
  await pressOn(page.getByRole('link', { name: 'New condition set' }))
  await page.locator('input:focus').waitFor()
  await page.keyboard.type('Senior Sales')
  await page.keyboard.press('Tab')
  expect(await page.getByLabel('Key', { exact: true }).inputValue()).toBe('senior_sales')

  // An operator that there is not: said at its place, in the list, and in no verdict.
  await rewrite(page, '{\n  "user.department": { "is": "sales" }\n}')
  await sees(page, '1 error')
  await page.locator('.cm-lintRange-error', { hasText: '"is"' }).waitFor()
  await page.getByRole('list').filter({ hasText: 'Line 2' }).waitFor()
  await takePicture(page, 'condition-set-mistake')

  // Attributes and operators are offered where they may stand.
  await rewrite(page, '{\n  ')
  await page.keyboard.type('"user.dep')
  await page.locator('.cm-tooltip-autocomplete', { hasText: 'user.department' }).waitFor()
  await takePicture(page, 'condition-set-completion')
  await page.keyboard.press('Enter')
  await page.keyboard.type('"equ')
  await page.locator('.cm-tooltip-autocomplete', { hasText: 'same type and value' }).waitFor()
  await page.keyboard.press('Enter')
  await page.keyboard.type('sales')
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText('\n}')
  await expectVerdicts(page, 'matches', 'does not match', 'matches')
  expect(JSON.parse((await editor(page).innerText()).replaceAll(/\n+/g, '\n'))).toEqual({
    'user.department': { equals: 'sales' },
  })
  await rewrite(
    page,
    '{\n  "user.department": { "equals": "sales" },\n  "user.level": { "greater-than": 2 }\n}',
  )
  await expectVerdicts(page, 'matches', 'does not match', 'unknown')
  await page.getByRole('list', { name: 'Conditions of sample 3' }).getByText('is missing').waitFor()

  // Tab leaves the editor.
  await editor(page).focus()
  await page.keyboard.press('Tab')
  await page.locator('input:focus').waitFor()
  // The next field offers users.
  await page.keyboard.press('Escape')
  await takePicture(page, 'condition-set-new')

  await press(page, 'Create')
  await page
    .getByRole('dialog')
    .getByText('user.department equals "sales" and user.level greater-than 2')
    .waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Senior Sales' }).waitFor()
  expect(await verdict.get(`${SETS}/senior_sales`)).toMatchObject({
    body: { conditions: { 'user.department': { equals: 'sales' }, 'user.level': { 'greater-than': 2 } } },
  })

  // A rule on it, read as a sentence before it is there.
  await press(page, 'Add a rule')
  await page.locator('[role=dialog] input:focus').waitFor()
  await page.keyboard.type('document:read')
  await page.getByRole('option', { name: 'document:read' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  await page.keyboard.type('document')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').getByText('senior_sales may document:read on document.').waitFor()
  await takePicture(page, 'condition-set-add-rule')
  await page.keyboard.press('Enter')
  await sees(page, 'The rule was added.')
  expect(await verdict.allows('ann', 'read', 'document:plan')).toBe(true)
  expect(await verdict.allows('cleo', 'read', 'document:plan')).toBe(false)
})

test('a change says which rules rest on the set, counts at once, and is taken back with one press', async () => {
  const { verdict, page } = await openedSales()
  await rewrite(page, '{ "user.department": { "equals": "law" } }')
  await expectVerdicts(page, 'does not match', 'matches', 'does not match')
  await press(page, 'Save')
  await page.getByRole('dialog').getByText('1 rule uses Sales').waitFor()
  await page.getByRole('dialog').getByText('sales may document:read on every document.').waitFor()
  await takePicture(page, 'condition-set-save')
  await page.keyboard.press('Enter')
  await sees(page, 'Sales was saved.')
  expect(await verdict.allows('bob', 'read', 'document:plan')).toBe(true)

  await undo(page)
  expect(await verdict.allows('bob', 'read', 'document:plan')).toBe(false)
  await expectVerdicts(page, 'matches', 'does not match', 'matches')
})

test('what two people change at once is shown to the later one, who goes on from either', async () => {
  const { verdict, page } = await openedSales()
  await rewrite(page, '{ "user.department": { "equals": "mine" } }')
  await sees(page, 'not saved')
  await changeSales(verdict, 'theirs')

  await page.getByRole('heading', { name: 'Another user changed this set in the meantime' }).waitFor()
  expect(await page.getByRole('region', { name: 'Current version: Conditions' }).innerText()).toContain(
    'theirs',
  )
  expect(await page.getByRole('region', { name: 'Your version: Conditions' }).innerText()).toContain('mine')
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
  await look(page, 'condition-set-conflict')
  await press(page, 'Continue with your version')
  await save(page)
  await sees(page, 'Sales was saved.')
  await expectSales(verdict, 'mine')
})

test('a change that comes between the look and the save is not overwritten', async () => {
  const { verdict, page } = await openedSales({ refusals: [412] })
  // Nothing tells the page of the other change before it saves.
  await page.route('**/condition_sets/sales', async route => {
    if (route.request().method() === 'PATCH') {
      await changeSales(verdict, 'theirs')
    }
    await route.continue()
  })
  await rewrite(page, '{ "user.department": { "equals": "mine" } }')
  await save(page)

  await page.getByRole('heading', { name: 'Another user changed this set in the meantime' }).waitFor()
  await expectSales(verdict, 'theirs')
  await press(page, 'Use the current version')
  await page.locator('.cm-content', { hasText: 'theirs' }).waitFor()
  await page.getByText('not saved').waitFor({ state: 'detached' })
})

test('a refused save is reported even if the page shows the set as it is', async () => {
  const { verdict, page } = await openedSales({ refusals: [412] })
  // A proxy that damages the tag: the set has not changed.
  await page.route('**/condition_sets/sales', async route => {
    const request = route.request()
    if (request.method() !== 'PATCH') return route.continue()
    return route.continue({ headers: { ...request.headers(), 'if-match': '"damaged"' } })
  })
  await rewrite(page, '{ "user.department": { "equals": "mine" } }')
  await save(page)
  await sees(page, 'Your changes were not saved.')
  await sees(page, 'not saved', { exact: true })
  await expectSales(verdict, 'sales')
})

test('a set that is deleted takes its rules along, and both are there again when that is undone', async () => {
  const { verdict, page } = await openedSales()
  await press(page, 'Delete')
  await page.getByRole('alertdialog').getByText('the rule that uses it').waitFor()
  await page.keyboard.press('Enter')
  await sees(page, 'Sales was deleted.')
  expect(await verdict.allows('ann', 'read', 'document:plan')).toBe(false)
  await page.getByRole('heading', { level: 1, name: 'Condition sets' }).waitFor()
  await undo(page)
  expect(await verdict.allows('ann', 'read', 'document:plan')).toBe(true)

  // A rule alone, too.
  await goTo(page, 'model/sets/sales')
  await page.reload()
  await pressOn(page.getByRole('button', { name: /^Remove the rule/ }))
  await page.getByRole('alertdialog').getByText('sales may document:read on every document.').waitFor()
  await page.keyboard.press('Enter')
  await sees(page, 'The rule was removed.')
  expect(await verdict.allows('ann', 'read', 'document:plan')).toBe(false)
  await undo(page)
  expect(await verdict.allows('ann', 'read', 'document:plan')).toBe(true)
})

test('a resource set is tried on instances and on what one writes of them; what is refused is said beside its field', async () => {
  const { made, open } = await company()
  const plan = { resource: 'document', key: 'plan', tenant: 'default', attributes: { classification: 2 } }
  await made(`${FACTS}/resource_instances`, plan)
  const page = await open('model/sets/open_documents', { refusals: [409] })
  // Nobody is known who asks.
  await expectVerdicts(page, 'unknown')
  await pressOn(page.getByText('Attributes and user'))
  await page.getByRole('combobox', { name: 'User of sample 1' }).fill('ann')
  await page.keyboard.press('Escape')
  await expectVerdicts(page, 'matches')
  await page.getByLabel('Attributes of the instance of sample 1').fill('{ "classification": 9 }')
  await expectVerdicts(page, 'does not match')
  await takePicture(page, 'condition-set-resource')

  await goTo(page, 'model/sets/~new')
  await page.locator('input:focus').waitFor()
  await page.keyboard.type('active')
  await rewrite(page, '{}')
  await press(page, 'Create')
  await page.getByRole('dialog').getByText('always').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('alert').waitFor()
})

test('the model is shown as the file that the interface gives, and is downloaded as that', async () => {
  const { verdict, open } = await companyWithSales()
  const response = await fetch(`${verdict.address}${SCHEMA}/model`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  const text = await response.text()
  const page = await open('model/file')
  await page.getByRole('textbox', { name: 'Model file, in YAML' }).getByText('condition_sets').waitFor()
  const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Download')])

  expect(download.suggestedFilename()).toBe('model.yaml')
  expect(readFileSync(await download.path(), 'utf8')).toBe(text)
  // What others change appears.
  await verdict.patch(`${SETS}/sales`, { name: 'All of sales' })
  await page.locator('.cm-content', { hasText: 'All of sales' }).waitFor()
})

test('each page can be read, heard and typed, light and dark, on a telephone, in both languages', async () => {
  const { open, made } = await companyWithSales()
  await made(SETS, {
    key: 'senior_sales',
    name: 'Senior sales',
    parent_id: 'sales',
    conditions: { 'user.level': { 'greater-than': 2 }, anyOf: [{ 'user.left': { exists: false } }] },
  })
  await made(`${FACTS}/set_rules`, {
    user_set: 'senior_sales',
    permission: 'document:update',
    resource_set: 'open_documents',
  })
  for (const as of LOOKS) {
    const page = await open('model/sets', as)
    await page.getByRole('link', { name: 'Senior sales' }).waitFor()
    await look(page, 'condition-sets', as)
    await pressOn(page.getByRole('link', { name: 'Senior sales' }))
    await page.locator('.tried-tests').first().waitFor()
    await page.getByRole('table').waitFor()
    await look(page, 'condition-set', as)
    await goTo(page, 'model/file')
    await page.locator('.cm-content', { hasText: 'condition_sets' }).waitFor()
    await look(page, 'model-file', as)
  }
})
