/**
 * The owner of the model, by keyboard: writes a condition set that is tried as it is written, rests a rule on it, changes it knowing what
 * rests on it, meets another one who changes it, too, takes all of it back; and has the model as a file.
 */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { API_KEY, FACTS, SCHEMA, startedService } from '#testing/processes/running-service.ts'
import { pressOn } from '../../support/console-keys.ts'
import {
  expectAccessible,
  goTo,
  openSignedIn,
  sharedChromium,
  takePicture,
} from '../../support/console-page.ts'

const chromium = sharedChromium()

const MARKUP = '<img src=x onerror=alert(1)> & <b>bold</b>'
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
  return { verdict, made, at: { address: verdict.address } }
}

/** A set on which a rule rests. */
async function sales({ made }: Pick<Awaited<ReturnType<typeof company>>, 'made'>) {
  await made(SETS, { key: 'sales', name: 'Sales', conditions: { 'user.department': { equals: 'sales' } } })
  await made(`${FACTS}/set_rules`, {
    user_set: 'sales',
    permission: 'document:read',
    resource_set: 'document',
  })
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
  const { verdict, at } = await company()
  const page = await openSignedIn(await chromium(), { ...at, path: 'model/sets' })
  await pressOn(page.getByRole('link', { name: 'New condition set' }))
  await page.locator('input:focus').waitFor()
  await page.keyboard.type('Senior Sales')
  await page.keyboard.press('Tab')
  expect(await page.getByLabel('Key', { exact: true }).inputValue()).toBe('senior_sales')

  // An operator that there is not: said at its place, in the list, and in no verdict.
  await rewrite(page, '{\n  "user.department": { "is": "sales" }\n}')
  await page.getByText('One mistake').waitFor()
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
  await page.locator('.cm-tooltip-autocomplete', { hasText: 'same kind, same value' }).waitFor()
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
  await page.getByRole('list', { name: 'Tests of sample 3' }).getByText('is missing').waitFor()

  // Tab leaves the editor.
  await editor(page).focus()
  await page.keyboard.press('Tab')
  await page.locator('input:focus').waitFor()
  // The next field offers users.
  await page.keyboard.press('Escape')
  await takePicture(page, 'condition-set-new')

  await pressOn(page.getByRole('button', { name: 'Create' }))
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
  await pressOn(page.getByRole('button', { name: 'Add a rule' }))
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
  await page.getByText('The rule is in force.').waitFor()
  expect(await verdict.allows('ann', 'read', 'document:plan')).toBe(true)
  expect(await verdict.allows('cleo', 'read', 'document:plan')).toBe(false)
})

test('a change says which rules rest on the set, counts at once, and is taken back with one press', async () => {
  const here = await company()
  await sales(here)
  const { verdict, at } = here
  const page = await openSignedIn(await chromium(), { ...at, path: 'model/sets/sales' })
  await editor(page).waitFor()
  await rewrite(page, '{ "user.department": { "equals": "law" } }')
  await expectVerdicts(page, 'does not match', 'matches', 'does not match')
  await pressOn(page.getByRole('button', { name: 'Save' }))
  await page.getByRole('dialog').getByText('1 rule rests on Sales').waitFor()
  await page.getByRole('dialog').getByText('sales may document:read on all of document.').waitFor()
  await takePicture(page, 'condition-set-save')
  await page.keyboard.press('Enter')
  await page.getByText('Sales is saved.').waitFor()
  expect(await verdict.allows('bob', 'read', 'document:plan')).toBe(true)

  await pressOn(page.getByRole('button', { name: 'Undo' }))
  await page.getByText('Undone: it is as it was.').waitFor()
  expect(await verdict.allows('bob', 'read', 'document:plan')).toBe(false)
  await expectVerdicts(page, 'matches', 'does not match', 'matches')
})

test('what two people change at once is shown to the later one, who goes on from either', async () => {
  const here = await company()
  await sales(here)
  const { verdict, at } = here
  const page = await openSignedIn(await chromium(), { ...at, path: 'model/sets/sales' })
  await editor(page).waitFor()
  await rewrite(page, '{ "user.department": { "equals": "mine" } }')
  await page.getByText('not saved').waitFor()
  await verdict.patch(`${SETS}/sales`, { conditions: { 'user.department': { equals: 'theirs' } } })

  await page.getByRole('heading', { name: 'Somebody else changed this set meanwhile' }).waitFor()
  expect(await page.getByRole('region', { name: 'There now: Conditions' }).innerText()).toContain('theirs')
  expect(await page.getByRole('region', { name: 'Yours: Conditions' }).innerText()).toContain('mine')
  expect(await page.getByRole('button', { name: 'Save' }).count()).toBe(0)
  await expectAccessible(page)
  await takePicture(page, 'condition-set-conflict')
  await pressOn(page.getByRole('button', { name: 'Go on with mine' }))
  await pressOn(page.getByRole('button', { name: 'Save' }))
  await page.getByRole('dialog').getByText('1 rule rests on Sales').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('Sales is saved.').waitFor()
  expect(await verdict.get(`${SETS}/sales`)).toMatchObject({
    body: { conditions: { 'user.department': { equals: 'mine' } } },
  })
})

test('a change that comes between the look and the save is not overwritten', async () => {
  const here = await company()
  await sales(here)
  const { verdict, at } = here
  const page = await openSignedIn(await chromium(), { ...at, path: 'model/sets/sales', refusals: [412] })
  await editor(page).waitFor()
  // Nothing tells the page of the other change before it saves.
  await page.route('**/condition_sets/sales', async route => {
    if (route.request().method() === 'PATCH') {
      await verdict.patch(`${SETS}/sales`, { conditions: { 'user.department': { equals: 'theirs' } } })
    }
    await route.continue()
  })
  await rewrite(page, '{ "user.department": { "equals": "mine" } }')
  await pressOn(page.getByRole('button', { name: 'Save' }))
  await page.getByRole('dialog').getByText('1 rule rests on Sales').waitFor()
  await page.keyboard.press('Enter')

  await page.getByRole('heading', { name: 'Somebody else changed this set meanwhile' }).waitFor()
  expect(await verdict.get(`${SETS}/sales`)).toMatchObject({
    body: { conditions: { 'user.department': { equals: 'theirs' } } },
  })
  await pressOn(page.getByRole('button', { name: 'Take what is there' }))
  await page.locator('.cm-content', { hasText: 'theirs' }).waitFor()
  await page.getByText('not saved').waitFor({ state: 'detached' })
})

test('a refused save is reported even if the page shows the set as it is', async () => {
  const here = await company()
  await sales(here)
  const { verdict, at } = here
  const page = await openSignedIn(await chromium(), { ...at, path: 'model/sets/sales', refusals: [412] })
  await editor(page).waitFor()
  // A proxy that damages the tag: the set has not changed.
  await page.route('**/condition_sets/sales', async route => {
    const request = route.request()
    if (request.method() !== 'PATCH') return route.continue()
    return route.continue({ headers: { ...request.headers(), 'if-match': '"damaged"' } })
  })
  await rewrite(page, '{ "user.department": { "equals": "mine" } }')
  await pressOn(page.getByRole('button', { name: 'Save' }))
  await page.getByRole('dialog').getByText('1 rule rests on Sales').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('Nothing of yours was written').waitFor()
  await page.getByText('not saved').waitFor()
  expect(await verdict.get(`${SETS}/sales`)).toMatchObject({
    body: { conditions: { 'user.department': { equals: 'sales' } } },
  })
})

test('a set that is deleted takes its rules along, and both are there again when that is undone', async () => {
  const here = await company()
  await sales(here)
  const { verdict, at } = here
  const page = await openSignedIn(await chromium(), { ...at, path: 'model/sets/sales' })
  await pressOn(page.getByRole('button', { name: 'Delete' }))
  await page.getByRole('alertdialog').getByText('the rule that rests on it').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('Sales is deleted.').waitFor()
  expect(await verdict.allows('ann', 'read', 'document:plan')).toBe(false)
  await page.getByRole('heading', { level: 1, name: 'Condition sets' }).waitFor()
  await pressOn(page.getByRole('button', { name: 'Undo' }))
  await page.getByText('Undone: it is as it was.').waitFor()
  expect(await verdict.allows('ann', 'read', 'document:plan')).toBe(true)

  // A rule alone, too.
  await goTo(page, 'model/sets/sales')
  await page.reload()
  await pressOn(page.getByRole('button', { name: /^Remove the rule/ }))
  await page.getByRole('alertdialog').getByText('sales may document:read on all of document.').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('The rule is removed.').waitFor()
  expect(await verdict.allows('ann', 'read', 'document:plan')).toBe(false)
  await pressOn(page.getByRole('button', { name: 'Undo' }))
  await page.getByText('Undone: it is as it was.').waitFor()
  expect(await verdict.allows('ann', 'read', 'document:plan')).toBe(true)
})

test('a resource set is tried on instances and on what one writes of them; what is refused is said beside its field', async () => {
  const { verdict, at } = await company()
  expect(
    (
      await verdict.post(`${FACTS}/resource_instances`, {
        resource: 'document',
        key: 'plan',
        tenant: 'default',
        attributes: { classification: 2 },
      })
    ).status,
  ).toBe(200)
  const page = await openSignedIn(await chromium(), {
    ...at,
    path: 'model/sets/open_documents',
    refusals: [409],
  })
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
  await pressOn(page.getByRole('button', { name: 'Create' }))
  await page.getByRole('dialog').getByText('always').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByRole('alert').waitFor()
})

test('the model is shown as the file that the interface gives, and is downloaded as that', async () => {
  const here = await company()
  await sales(here)
  const { verdict, at } = here
  const response = await fetch(`${verdict.address}${SCHEMA}/model`, {
    headers: { authorization: `Bearer ${API_KEY}` },
  })
  const text = await response.text()
  const page = await openSignedIn(await chromium(), { ...at, path: 'model/file' })
  await page.getByRole('textbox', { name: 'Model file, in YAML' }).getByText('condition_sets').waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    pressOn(page.getByRole('button', { name: 'Download' })),
  ])

  expect(download.suggestedFilename()).toBe('model.yaml')
  expect(readFileSync(await download.path(), 'utf8')).toBe(text)
  // What others change appears.
  await verdict.patch(`${SETS}/sales`, { name: 'All of sales' })
  await page.locator('.cm-content', { hasText: 'All of sales' }).waitFor()
})

test('markup in names is text everywhere', async () => {
  const { made, at } = await company()
  await made(SETS, {
    key: 'odd',
    name: MARKUP,
    description: MARKUP,
    conditions: { 'user.name': { in: ['<script>alert(1)</script>'] } },
  })
  await made(`${FACTS}/set_rules`, { user_set: 'odd', permission: 'document:read', resource_set: 'document' })
  const page = await openSignedIn(await chromium(), { ...at, path: 'model/sets' })
  await pressOn(page.getByRole('link', { name: MARKUP }))
  await page.getByRole('heading', { level: 1, name: MARKUP }).waitFor()
  await editor(page).getByText('<script>alert(1)</script>').waitFor()
  await pressOn(page.getByRole('button', { name: 'Delete' }))
  await page.getByRole('alertdialog').getByText(MARKUP, { exact: false }).first().waitFor()
  await page.keyboard.press('Escape')
  await goTo(page, 'model/file')
  await page.locator('.cm-content', { hasText: '<script>alert(1)</script>' }).waitFor()
  expect(await page.locator('img, script:not([src])').count()).toBe(0)
})

test('each page can be read, heard and typed, light and dark, on a telephone, in both languages', async () => {
  const here = await company()
  await sales(here)
  const { at, made } = here
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
  for (const [size, colors, language] of [
    ['desktop', 'light', 'en'],
    ['desktop', 'dark', 'de'],
    ['phone', 'light', 'de'],
    ['phone', 'dark', 'en'],
  ] as const) {
    const page = await openSignedIn(await chromium(), { ...at, size, colors, language, path: 'model/sets' })
    const look = async (name: string) => {
      await expectAccessible(page)
      await takePicture(page, `${name}-${size}-${language}-${colors}`)
    }
    await page.getByRole('link', { name: 'Senior sales' }).waitFor()
    await look('condition-sets')
    await pressOn(page.getByRole('link', { name: 'Senior sales' }))
    await page.locator('.tried-tests').first().waitFor()
    await page.getByRole('table').waitFor()
    await look('condition-set')
    await goTo(page, 'model/file')
    await page.locator('.cm-content', { hasText: 'condition_sets' }).waitFor()
    await look('model-file')
  }
})
