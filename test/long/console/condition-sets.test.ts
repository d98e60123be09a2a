/** Condition sets by keyboard: editor, samples, rules, concurrent changes, undo; and the model file. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type Client, FACTS, SCHEMA, startedService } from '#testing/processes/running-service.ts'
import { press, pressOn, typeAndPress } from '../../support/console-keys.ts'
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

/** Creates users with attributes, and condition sets for users and documents. */
async function company() {
  const verdict = await startedService()
  await verdict.createDocumentModel()
  const made = (path: string, body: unknown) => verdict.done('POST', path, body)
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

/** Also creates the set `sales` and a rule that uses it. */
async function companyWithSales() {
  const here = await company()
  const conditions = { 'user.department': { equals: 'sales' } }
  await here.made(SETS, { key: 'sales', name: 'Sales', conditions })
  await here.verdict.setRule('sales', 'document:read', 'document')
  return here
}

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

/** Saves after the dialog has listed the rule that uses the set. */
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

/** Replaces the text of the editor, by keyboard. */
async function rewrite(page: Page, text: string): Promise<void> {
  await editor(page).focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(text)
}

/** Waits for these results of the samples. */
async function expectVerdicts(page: Page, ...words: readonly string[]): Promise<void> {
  const samples = page.getByRole('list', { name: 'Samples' }).locator('> li')
  for (const [index, word] of words.entries()) {
    await samples.nth(index).locator('.sample-verdict .badge', { hasText: word }).waitFor()
  }
}

test('a condition set is written with completion, evaluated while typing, created, and used in a rule', async () => {
  const { verdict, open } = await company()
  const page = await open('model/sets')
  await pressOn(page.getByRole('link', { name: 'New condition set' }))
  await page.locator('input:focus').waitFor()
  await typeAndPress(page, 'Senior Sales', 'Tab')
  expect(await page.getByLabel('Key', { exact: true }).inputValue()).toBe('senior_sales')

  // An unknown operator is marked in the text and listed below.
  await rewrite(page, '{\n  "user.department": { "is": "sales" }\n}')
  await sees(page, '1 error')
  await page.locator('.cm-lintRange-error', { hasText: '"is"' }).waitFor()
  await page.getByRole('list').filter({ hasText: 'Line 2' }).waitFor()
  await takePicture(page, 'condition-set-mistake')

  await rewrite(page, '{\n  ')
  await page.keyboard.type('"user.dep')
  await page.locator('.cm-tooltip-autocomplete', { hasText: 'user.department' }).waitFor()
  await takePicture(page, 'condition-set-completion')
  await page.keyboard.press('Enter')
  await page.keyboard.type('"equ')
  await page.locator('.cm-tooltip-autocomplete', { hasText: 'same type and value' }).waitFor()
  await page.keyboard.press('Enter')
  await typeAndPress(page, 'sales', 'Control+End')
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

  await editor(page).focus()
  await page.keyboard.press('Tab')
  await page.locator('input:focus').waitFor()
  // Closes the options of the next field.
  await page.keyboard.press('Escape')
  await takePicture(page, 'condition-set-new')

  await press(page, 'Create')
  await sees(page.getByRole('dialog'), 'user.department equals "sales" and user.level greater-than 2')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Senior Sales' }).waitFor()
  expect(await verdict.get(`${SETS}/senior_sales`)).toMatchObject({
    body: { conditions: { 'user.department': { equals: 'sales' }, 'user.level': { 'greater-than': 2 } } },
  })

  // The dialog shows the rule as a sentence before it is created.
  await press(page, 'Add a rule')
  await page.locator('[role=dialog] input:focus').waitFor()
  await page.keyboard.type('document:read')
  await page.getByRole('option', { name: 'document:read' }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  await typeAndPress(page, 'document', 'Escape')
  await page.getByRole('dialog').getByText('senior_sales may document:read on document.').waitFor()
  await takePicture(page, 'condition-set-add-rule')
  await page.keyboard.press('Enter')
  await sees(page, 'The rule was added.')
  expect(await verdict.allows('ann', 'read', 'document:plan')).toBe(true)
  expect(await verdict.allows('cleo', 'read', 'document:plan')).toBe(false)
})

test('saving a set lists the rules that use it, takes effect immediately, and can be undone', async () => {
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

test('a concurrent change is shown next to the unsaved version, which can still be saved', async () => {
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

test('a set that another user changed before the save is not overwritten', async () => {
  const { verdict, page } = await openedSales({ refusals: [412] })
  // The page cannot receive the change of the other user before it saves.
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
  await page.getByText('not saved', { exact: true }).waitFor({ state: 'detached' })
})

test('a rejected save is reported even if the page shows the current version', async () => {
  const { verdict, page } = await openedSales({ refusals: [412] })
  // A proxy damages the tag although the set has not changed.
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

test('deleting a set deletes its rules, and undo restores both', async () => {
  const { verdict, page } = await openedSales()
  await press(page, 'Delete')
  await page.getByRole('alertdialog').getByText('the rule that uses it').waitFor()
  await page.keyboard.press('Enter')
  await sees(page, 'Sales was deleted.')
  expect(await verdict.allows('ann', 'read', 'document:plan')).toBe(false)
  await page.getByRole('heading', { level: 1, name: 'Condition sets' }).waitFor()
  await undo(page)
  expect(await verdict.allows('ann', 'read', 'document:plan')).toBe(true)

  // Removal and undo of a single rule.
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

test('samples of a resource set use stored and entered attributes, and a rejected creation shows an error', async () => {
  const { made, open } = await company()
  const plan = { resource: 'document', key: 'plan', tenant: 'default', attributes: { classification: 2 } }
  await made(`${FACTS}/resource_instances`, plan)
  const page = await open('model/sets/open_documents', { refusals: [409] })
  // Without a user, the result is unknown.
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

test('the model file page shows and downloads the model file of the API, and follows changes', async () => {
  const { verdict, open } = await companyWithSales()
  const text = await verdict.done<string>('GET', `${SCHEMA}/model`)
  const page = await open('model/file')
  await page.getByRole('textbox', { name: 'Model file, in YAML' }).getByText('condition_sets').waitFor()
  const [download] = await Promise.all([page.waitForEvent('download'), press(page, 'Download')])

  expect(download.suggestedFilename()).toBe('model.yaml')
  expect(readFileSync(await download.path(), 'utf8')).toBe(text)
  await verdict.patch(`${SETS}/sales`, { name: 'All of sales' })
  await page.locator('.cm-content', { hasText: 'All of sales' }).waitFor()
})

test('the pages of condition sets and the model file are accessible in all sizes, colors and languages', async () => {
  const { verdict, open, made } = await companyWithSales()
  await made(SETS, {
    key: 'senior_sales',
    name: 'Senior sales',
    parent_id: 'sales',
    conditions: { 'user.level': { 'greater-than': 2 }, anyOf: [{ 'user.left': { exists: false } }] },
  })
  await verdict.setRule('senior_sales', 'document:update', 'open_documents')
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
