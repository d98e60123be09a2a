/** The auditor: what a user may do and why, who may do it on a resource, what was changed; and all of it as a file. */
import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { writeOperations } from '#management/environment/operations.ts'
import {
  ADMIN_KEY,
  API_KEY,
  type Client,
  FACTS,
  sharedService,
  startedService,
} from '#testing/processes/running-service.ts'
import { csvFile, csvLine, fileName } from '../../../console/src/access/csv.ts'
import { pressOn } from '../../support/console-keys.ts'
import {
  expectAccessible,
  goTo,
  openConsole,
  openSignedIn,
  sharedChromium,
  SIZES,
  type Size,
  takePicture,
} from '../../support/console-page.ts'

const MARKUP = '<img src=x onerror=alert(1)>'
/** In an address it must be escaped, and in a spreadsheet it would be run. */
const AWKWARD = '=2+2 50%/a?b#c "d", e'
const END = '2031-06-01T08:00:00.000Z'

const verdict = await sharedService()
const chromium = sharedChromium()
const at = { address: verdict.address }
await arrange(verdict)

/** A company with a group in a group, folders, and more documents than a page has. */
async function arrange(client: Client): Promise<void> {
  const roles = {
    viewer: { name: 'Viewer', permissions: ['read'] },
    editor: { name: 'Editor', permissions: ['read', 'write'] },
  }
  await client.resource({ key: 'folder', actions: { read: {}, write: {} }, roles })
  const fromFolder = (role: string) => ({
    granted_to: { users_with_role: [{ role, on_resource: 'folder', linked_by_relation: 'parent' }] },
  })
  await client.resource({
    key: 'document',
    actions: { read: {}, write: {} },
    relations: { parent: 'folder' },
    roles: {
      viewer: { ...roles.viewer, ...fromFolder('viewer') },
      editor: { ...roles.editor, ...fromFolder('editor') },
    },
  })
  await client.users('carol', 'dave', 'erin', MARKUP, AWKWARD)
  await client.group('company')
  await client.group('platform')
  await client.nest('platform', { into: 'company' })
  await client.join('platform', 'carol')
  await client.relate('folder:specs', 'parent', 'document:roadmap')
  await client.grant('company', 'editor', 'folder:specs')
  await client.tenantRole('auditor', ['document:read'])
  await client.assign('dave', 'auditor', 'default')
  await client.assign(MARKUP, 'editor', 'folder:specs')
  await client.assign(AWKWARD, 'editor', 'folder:specs')
  const ending = { user: 'erin', role: 'editor', resource_instance: 'folder:specs', expires_at: END }
  expect((await client.post(`${FACTS}/role_assignments`, ending)).status).toBe(200)
  const keys = [AWKWARD, MARKUP, ...Array.from({ length: 60 }, (_, number) => `plan-${100 + number}`)]
  const operations = keys.map(key => ({ resource: 'document', key }))
  expect((await client.put(`${FACTS}/bulk/resource_instances`, { operations })).status).toBe(200)
}

/** Presses the tabulator until that has the focus, as somebody without a mouse does. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  // A list that is open hides the others from who hears, until the next press closes it.
  const element = (await target.elementHandle())!
  for (let presses = 0; presses < 120; presses += 1) {
    if (await element.evaluate(hasFocus)) return
    await page.keyboard.press('Tab')
  }
  throw new Error('the keyboard does not get there')
}

/** Runs in the page. */
function hasFocus(element: unknown): boolean {
  const { document } = globalThis as unknown as { document: { activeElement: unknown } }
  return element === document.activeElement
}

async function type(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, page.getByRole('combobox', { name: label, exact: true, includeHidden: true }))
  await page.keyboard.type(text)
}

/** Of what completes the field, the one option. */
async function complete(page: Page, label: string, text: string, option: string): Promise<void> {
  await type(page, label, text)
  await page.locator(`[role=option][data-key="${option}"]:only-child`).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
}

async function press(page: Page, name: string): Promise<void> {
  await tabTo(page, page.getByRole('button', { name, exact: true, includeHidden: true }))
  await page.keyboard.press('Enter')
}

/** What is downloaded once the button was pressed, without the mark that says it is UTF-8. */
async function exported(page: Page, list: string): Promise<{ name: string; lines: string[] }> {
  const downloading = page.waitForEvent('download')
  await press(page, `Export CSV: ${list}`)
  const download = await downloading
  const text = await readFile(await download.path(), 'utf8')
  expect(text.startsWith('\uFEFF')).toBe(true)
  expect(text.endsWith('\r\n')).toBe(true)
  return { name: download.suggestedFilename(), lines: text.slice(1).split('\r\n').slice(0, -1) }
}

function rowOf(page: Page, name: string): Locator {
  return page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })
}

test('by keyboard: what a user may do in every type, one way to it when it is asked for, and the roles held directly', async () => {
  const page = await openSignedIn(await chromium(), { ...at, path: 'access' })
  const explained: string[] = []
  page.on('request', request => {
    if (request.url().endsWith('/allowed/explain')) explained.push(request.postData()!)
  })
  await complete(page, 'User', 'caro', 'carol')
  await complete(page, 'Action', 'wri', 'write')
  await press(page, 'Show')

  await page.getByRole('heading', { name: 'carol may write' }).waitFor()
  await rowOf(page, 'folder specs').waitFor()
  await rowOf(page, 'document roadmap').waitFor()
  // Held directly: the membership, and nothing else.
  await rowOf(page, 'member').getByText('platform').waitFor()
  expect(explained).toEqual([])

  await press(page, 'Why on document:roadmap?')
  await page.getByText('carol is a member of the group platform.').waitFor()
  await page
    .getByText('The group platform is in the group company: its members are members there, too.')
    .waitFor()
  await page
    .getByText('The group company is granted the role editor on folder:specs: its members hold it.')
    .waitFor()
  await page.getByText('folder:specs is parent of document:roadmap: whoever holds editor on').waitFor()
  const things = page.getByRole('list', { name: 'The way' }).getByRole('listitem')
  expect(await things.allInnerTexts()).toEqual(
    [
      ['user', 'carol'],
      ['is in', 'group', 'platform', 'member'],
      ['is in', 'group', 'company', 'member'],
      ['is granted', 'folder', 'specs', 'editor'],
      ['parent', 'document', 'roadmap', 'editor'],
    ].map(parts => expect.stringMatching(new RegExp(parts.join('\\s+')))),
  )
  expect(explained).toHaveLength(1)
  await expectAccessible(page)
  await takePicture(page, 'access-user-desktop')

  // A thing of the way leads to who may do it there.
  await tabTo(page, page.getByRole('list', { name: 'The way' }).getByRole('link', { name: 'folder specs' }))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Who may write folder:specs' }).waitFor()
})

test('a long list comes in pages, what others change appears by itself, and the address is all that one shares', async () => {
  const page = await openSignedIn(await chromium(), {
    ...at,
    path: 'access/users/user/dave/action/read/type/document',
  })
  await page.getByText('50 of 63').waitFor()
  await press(page, 'Show more')
  await page.getByText('63 of 63').waitFor()
  await verdict.instance('document:zebra')
  await page.getByText('64 of 64').waitFor()
  expect(page.url()).not.toContain(API_KEY)

  await press(page, 'Why on document:plan-100?')
  await page.getByText('dave holds the role auditor in the tenant default.').waitFor()
  await page.getByText('auditor may read document:plan-100, which belongs to the tenant default.').waitFor()
})

test('by keyboard: who may do it on a resource, until when, and what is granted on it directly', async () => {
  const page = await openSignedIn(await chromium(), { ...at, path: 'access/resources' })
  await complete(page, 'Type', 'doc', 'document')
  await complete(page, 'Resource', 'road', 'roadmap')
  await complete(page, 'Action', 'wri', 'write')
  await press(page, 'Show')

  await page.getByText('4 of 4').waitFor()
  await press(page, 'Why erin?')
  await page.getByText('erin holds the role editor on folder:specs.').waitFor()
  expect(await page.getByText('until 1 Jun 2031').first().innerText()).toContain('10:00')
  await rowOf(page, 'folder specs').getByText('parent').waitFor()
  await expectAccessible(page)
  await takePicture(page, 'access-resource-desktop')

  await goTo(page, 'access/resources/type/folder/instance/specs/action/read')
  await rowOf(page, 'group company').waitFor()
  expect(await rowOf(page, 'erin').last().innerText()).toContain('until 1 Jun 2031')
})

test('keys of any characters are texts, in addresses as on the page', async () => {
  const page = await openSignedIn(await chromium(), { ...at, path: 'access/users' })
  for (const key of [AWKWARD, MARKUP]) {
    await type(page, 'User', key)
    await type(page, 'Action', 'write')
    await press(page, 'Show')
    await page.getByRole('heading', { name: `${key} may write` }).waitFor()
    await press(page, 'Why on document:roadmap?')
    await page.getByText(`${key} holds the role editor on folder:specs.`).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: `${key} may write` }).waitFor()
    await tabTo(page, page.getByRole('link', { name: 'roadmap' }))
    await page.keyboard.press('Enter')
    await tabTo(page, page.getByRole('link', { name: key, exact: true }))
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: `${key} may write` }).waitFor()
    await press(page, 'Clear')
    await page.getByText('Choose a user above.').waitFor()
  }
})

test('who is not known is said to be so', async () => {
  const page = await openSignedIn(await chromium(), { ...at, path: 'access', refusals: [404] })
  await type(page, 'User', 'nobody')
  await type(page, 'Action', 'read')
  await press(page, 'Show')

  await page.getByText('There is no user nobody.').waitFor()
  await page.getByText('There is nothing here that nobody may read.').waitFor()
})

test('by keyboard: the log says what was changed, by whom, and whether a grant expired or was revoked', async () => {
  const client = await startedService()
  await arrange(client)
  const soon = new Date(Date.now() + 700).toISOString()
  const ending = { user: 'erin', role: 'viewer', resource_instance: 'document:plan-100', expires_at: soon }
  expect((await client.post(`${FACTS}/role_assignments`, ending)).status).toBe(200)
  const removed = { user: 'dave', role: 'auditor', tenant: 'default' }
  const headers = { 'x-request-id': 'the-removal' }
  await client.send('DELETE', `${FACTS}/role_assignments`, { body: removed, headers })
  const page = await openSignedIn(await chromium(), { address: client.address, path: 'access/audit' })

  const expired = page.getByRole('row').filter({ hasText: 'Grants came to their end' })
  await expired.getByText('expired', { exact: true }).waitFor()
  await expired.getByText('erin: viewer on document:plan-100').waitFor()
  await expired.getByText('the service itself').waitFor()
  const revoked = page.getByRole('row').filter({ hasText: 'Role taken away' })
  await revoked.getByText('revoked', { exact: true }).waitFor()
  expect(await revoked.locator('time').getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)

  await tabTo(page, revoked.getByRole('button'))
  await page.keyboard.press('Enter')
  await page.getByText('A call took this away.').waitFor()
  await page.getByText('the-removal').waitFor()
  await expectAccessible(page)
  await takePicture(page, 'audit-desktop')

  // All of one request; then one operation, completed by its words.
  await tabTo(page, page.getByRole('link', { name: 'All of this request' }))
  await page.keyboard.press('Enter')
  await page.getByText('1 of 1').waitFor()
  await press(page, 'Clear')
  await complete(page, 'Operation', 'put into', 'assignGroup')
  await press(page, 'Show')
  await page.getByText('1 of 1').waitFor()
  await page.getByText('Group put into a group').waitFor()
  await goTo(page, `access/audit/since/${encodeURIComponent('2031-01-01T00:00:00.000Z')}`)
  await page.getByText('Nothing was changed that these filters let through.').waitFor()
  expect(await page.getByLabel('Since').inputValue()).toBe('2031-01-01T01:00')
})

test('the log has words for everything that changes an environment', async () => {
  for (const language of ['en', 'de']) {
    const path = `../../../console/src/texts/access.${language}.ts`
    const texts = Object.values((await import(path)) as Record<string, { operations: object }>)[0]!
    const named = Object.keys(texts.operations).toSorted()
    expect(named).toEqual([...Object.keys(writeOperations), 'expireGrants'].toSorted())
  }
})

test('the key of the organization reads the log with the names of keys, and is told why it does not decide', async () => {
  const page = await openSignedIn(await chromium(), { ...at, key: ADMIN_KEY })
  await pressOn(page.getByRole('link', { name: 'default', exact: false }).first())
  await goTo(page, 'access/users/user/erin/action/write')
  await page.getByText('This key manages and does not decide.').waitFor()
  // What is managed is there.
  await rowOf(page, 'editor').getByText('until 1 Jun 2031').waitFor()
  await expectAccessible(page)
  await takePicture(page, 'access-of-organization-desktop')

  await verdict.send('POST', `${FACTS}/users`, { body: { key: 'made-by-operator' }, key: ADMIN_KEY })
  await goTo(page, 'access/audit/key/admin')
  await page.getByText('1 of 1').waitFor()
  await rowOfText(page, 'made-by-operator').getByText('the key of the operator').waitFor()
})

function rowOfText(page: Page, text: string): Locator {
  return page.getByRole('row').filter({ hasText: text })
}

test('a key decides about its own environment, and nothing of that is shown under the name of another one', async () => {
  const page = await openConsole(await chromium(), { ...at, refusals: [403, 404] })
  await page.goto(`${verdict.address}/console#/default/elsewhere/access/users/user/anybody/action/read`)
  await page.locator('input[type=password]:focus').waitFor()
  const asked: string[] = []
  page.on('request', request => asked.push(new URL(request.url()).pathname))
  await page.keyboard.type(API_KEY)
  await page.keyboard.press('Enter')
  await page.getByText('It does not belong to this environment.').waitFor()
  expect(asked.filter(path => path.startsWith('/access/'))).toEqual([])
})

test('a search that stopped early says so, and goes on', async () => {
  const client = await startedService({ searchScanMax: 10 })
  await client.resource({ key: 'document', actions: { read: {} } })
  await client.user('erin')
  await client.conditionSet({ key: 'everybody', type: 'userset', conditions: {} })
  const conditions = { allOf: [{ 'resource.size': { 'greater-than': 98 } }] }
  await client.conditionSet({ key: 'large', type: 'resourceset', resource_id: 'document', conditions })
  const rule = { user_set: 'everybody', permission: 'document:read', resource_set: 'large' }
  expect((await client.post('/v2/facts/default/default/set_rules', rule)).status).toBe(200)
  const operations = Array.from({ length: 100 }, (_, number) => ({
    resource: 'document',
    key: `plan-${100 + number}`,
    attributes: { size: number },
  }))
  expect((await client.put(`${FACTS}/bulk/resource_instances`, { operations })).status).toBe(200)
  const page = await openSignedIn(await chromium(), {
    address: client.address,
    path: 'access/users/user/erin/action/read',
  })
  await page.getByText('The search stopped before the page was full').waitFor()
  await page.getByText('Nothing found so far.').waitFor()
  // The rest is one page more.
  await press(page, 'Show more')
  await rowOf(page, 'document plan-199').waitFor()
})

test('each list is a file, as its filters say', async () => {
  const page = await openSignedIn(await chromium(), {
    ...at,
    path: 'access/users/user/dave/action/read/type/document',
  })
  const resources = await exported(page, 'dave may read')
  expect(resources.name).toBe('access-dave-read-document.csv')
  expect(resources.lines[0]).toBe('user,action,asked_tenant,resource_type,resource')
  expect(resources.lines).toContain(`dave,read,,document,"'=2+2 50%/a?b#c ""d"", e"`)
  expect(resources.lines).toContain(`dave,read,,document,${MARKUP}`)
  expect(resources.lines.length).toBeGreaterThanOrEqual(64)
  await page.getByText(`${resources.lines.length - 1} rows are in access-dave-read-document.csv.`).waitFor()

  await goTo(page, 'access/resources/type/document/instance/roadmap/action/write')
  expect((await exported(page, 'Who may write document:roadmap')).lines).toEqual(
    ['resource_type,resource,action,user', MARKUP, `"'=2+2 50%/a?b#c ""d"", e"`, 'carol', 'erin'].map(
      (line, index) => (index === 0 ? line : `document,roadmap,write,${line}`),
    ),
  )

  await goTo(page, 'access/audit/operation/assignGroup')
  const audit = await exported(page, 'Audit log')
  expect(audit.name).toBe('audit-log-assignGroup.csv')
  expect(audit.lines).toHaveLength(2)
  expect(audit.lines[1]).toMatch(
    /^\d{4}-.*Z,assignGroup,call,[0-9a-f-]{36},[^,]+,\d+,"\{""group_instance_key"":""company"",/,
  )
})

test('a file that is being written can be given up', async () => {
  const page = await openSignedIn(await chromium(), { ...at, path: 'access/users/user/carol/action/read' })
  await rowOf(page, 'document roadmap').waitFor()
  const held = Promise.withResolvers<void>()
  await page.route('**/access/v1/search/resource', async route => {
    await held.promise
    await route.continue().catch(() => {})
  })
  let downloads = 0
  page.on('download', () => (downloads += 1))
  await press(page, 'Export CSV: carol may read')
  await press(page, 'Cancel')
  await page.getByText('Cancelled: there is no file.').waitFor()
  held.resolve()
  expect(downloads).toBe(0)
})

for (const [language, colors] of [
  ['en', 'light'],
  ['de', 'dark'],
] as const) {
  for (const size of Object.keys(SIZES) as Size[]) {
    test(`every page can be read and used (${language}, ${colors}, ${size})`, async () => {
      const opened = { ...at, language, colors, size }
      const why = language === 'en' ? 'Why on folder:specs?' : 'Warum auf folder:specs?'
      const page = await openSignedIn(await chromium(), {
        ...opened,
        path: 'access/users/user/carol/action/read',
      })
      await pressOn(page.getByRole('button', { name: why }))
      await page.getByRole('list', { name: language === 'en' ? 'The way' : 'Der Weg' }).waitFor()
      await expectAccessible(page)
      await takePicture(page, `access-user-${size}-${language}-${colors}`)
      await goTo(page, 'access/resources/type/folder/instance/specs/action/read')
      await pressOn(page.getByRole('button', { name: 'carol' }))
      await page.getByRole('list', { name: language === 'en' ? 'The way' : 'Der Weg' }).waitFor()
      await expectAccessible(page)
      await takePicture(page, `access-resource-${size}-${language}-${colors}`)
      await goTo(page, 'access/audit')
      await pressOn(page.getByRole('row').getByRole('button').first())
      await page.locator('.entry').waitFor()
      await expectAccessible(page)
      await takePicture(page, `audit-${size}-${language}-${colors}`)
    })
  }
}

test('cells are quoted as CSV wants, and none is a formula', () => {
  expect(csvLine(['plain', 7, null, 'a,b', 'say "no"', 'two\nlines', ' spaced'])).toBe(
    'plain,7,,"a,b","say ""no""","two\nlines"," spaced"\r\n',
  )
  expect(csvLine(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '1=1'])).toBe(
    `'=1+1,'+1,'-1,'@SUM(A1),'\tx,"'\rx",1=1\r\n`,
  )
})

test('a file ends at its ceiling, and says whether there was more', async () => {
  async function* pages() {
    yield [['a'], ['b']]
    yield [['c'], ['d']]
  }
  const cut = await csvFile(['key'], pages(), { rowsMax: 3 })
  expect(await cut.file.text()).toBe('key\r\na\r\nb\r\nc\r\n')
  expect([cut.rows, cut.isCut]).toEqual([3, true])
  const whole = await csvFile(['key'], pages(), { rowsMax: 4 })
  expect([whole.rows, whole.isCut]).toEqual([4, false])
})

test('a file is named by what it is about, without what a disk may not take', () => {
  expect(fileName('access', '../../etc/passwd', '', 'Bücher')).toBe('access-..-..-etc-passwd-Bücher.csv')
})
