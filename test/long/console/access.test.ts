/** Pages for auditors: permissions of users, users with access to a resource, audit log, CSV exports. */
import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ADMIN_KEY, API_KEY, type Client, FACTS, startedService } from '#testing/processes/running-service.ts'
import { complete, press, pressOn, typeInto, typeKey } from '../../support/console-keys.ts'
import { goTo, look, LOOKS, rowWith, sees, sharedConsole, typeApiKey } from '../../support/console-page.ts'

const MARKUP = '<img src=x onerror=alert(1)>'
/** A key that must be escaped in addresses, and that would be a formula in a spreadsheet. */
const AWKWARD = '=2+2 50%/a?b#c "d", e'
const END = '2031-06-01T08:00:00.000Z'

const { verdict, open } = await sharedConsole()
await arrange(verdict)

/** Creates nested groups, a folder, and more documents than fit on a page. */
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
  await client.groups('company', 'platform')
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

/** Submits the form, even if a list of options is open. */
async function show(page: Page): Promise<void> {
  await pressOn(page.getByRole('button', { name: 'Show', exact: true, includeHidden: true }))
}

/** Lines of the downloaded CSV file, without the byte order mark. */
async function exported(page: Page, list: string): Promise<{ name: string; lines: string[] }> {
  const downloading = page.waitForEvent('download')
  await press(page, `Export CSV: ${list}`)
  const download = await downloading
  const text = await readFile(await download.path(), 'utf8')
  expect(text.startsWith('\uFEFF')).toBe(true)
  expect(text.endsWith('\r\n')).toBe(true)
  return { name: download.suggestedFilename(), lines: text.slice(1).split('\r\n').slice(0, -1) }
}

/** Opens the page of users, and waits for it, because the first page also has a field for a user. */
async function openUsers(options: { readonly refusals?: readonly number[] } = {}): Promise<Page> {
  const page = await open('access', options)
  await page.getByRole('heading', { level: 1, name: 'Permissions of a user' }).waitFor()
  return page
}

function rowOf(page: Page, name: string): Locator {
  return page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })
}

test('the user page, used by keyboard, lists permitted resources and direct roles, and loads a path when it is opened', async () => {
  const page = await openUsers()
  const explained: string[] = []
  page.on('request', request => {
    if (request.url().endsWith('/allowed/explain')) explained.push(request.postData()!)
  })
  await complete(page, 'User', 'caro', 'carol')
  await complete(page, 'Action', 'wri', 'write')
  await show(page)

  await page.getByRole('heading', { name: 'Resources that carol may write' }).waitFor()
  await rowOf(page, 'folder specs').waitFor()
  await rowOf(page, 'document roadmap').waitFor()
  // The membership is the only direct role.
  await rowOf(page, 'member').getByText('platform').waitFor()
  expect(explained).toEqual([])

  await press(page, 'Why? Access to document:roadmap')
  await sees(page, 'carol is a member of the group platform.')
  await sees(
    page,
    'The group platform is nested in the group company, so its members are also members of company.',
  )
  await sees(page, 'Members of the group company have the role editor on folder:specs.')
  await sees(page, 'folder:specs is parent of document:roadmap, so users with the role editor on')
  const nodes = page.getByRole('list', { name: 'Path' }).getByRole('listitem')
  expect(await nodes.allInnerTexts()).toEqual(
    [
      ['user', 'carol'],
      ['is in', 'group', 'platform', 'member'],
      ['is in', 'group', 'company', 'member'],
      ['is granted', 'folder', 'specs', 'editor'],
      ['parent', 'document', 'roadmap', 'editor'],
    ].map(parts => expect.stringMatching(new RegExp(parts.join('\\s+')))),
  )
  expect(explained).toHaveLength(1)
  await look(page, 'access-user-desktop')

  // A resource of the path links to the page of that resource, with the same action.
  await pressOn(page.getByRole('list', { name: 'Path' }).getByRole('link', { name: 'folder specs' }))
  await page.getByRole('heading', { name: 'Users who may write folder:specs' }).waitFor()
})

test('a list is loaded in pages and shows changes by other users, and the address of its page contains no key', async () => {
  const page = await open('access/users/user/dave/action/read/type/document')
  await sees(page, '50 of 63')
  await press(page, 'Show more')
  await sees(page, '63 of 63')
  await verdict.instance('document:zebra')
  await sees(page, '64 of 64')
  expect(page.url()).not.toContain(API_KEY)

  await press(page, 'Why? Access to document:plan-100')
  await sees(page, 'dave has the role auditor in the tenant default.')
  await sees(page, 'auditor allows read on document:plan-100, which belongs to the tenant default.')
})

test('the resource page, used by keyboard, lists permitted users, expiration times and direct grants', async () => {
  const page = await open('access/resources')
  await complete(page, 'Type', 'doc', 'document')
  await complete(page, 'Resource', 'road', 'roadmap')
  await complete(page, 'Action', 'wri', 'write')
  await show(page)

  await sees(page, '4 of 4')
  await press(page, 'Why? Access of erin')
  await sees(page, 'erin has the role editor on folder:specs.')
  expect(await page.getByText('until 1 Jun 2031').first().innerText()).toContain('10:00')
  await rowOf(page, 'folder specs').getByText('parent').waitFor()
  await look(page, 'access-resource-desktop')

  await goTo(page, 'access/resources/type/folder/instance/specs/action/read')
  await rowOf(page, 'group company').waitFor()
  expect(await rowOf(page, 'erin').last().innerText()).toContain('until 1 Jun 2031')
})

test('keys with special characters are escaped in addresses and shown as text', async () => {
  const page = await openUsers()
  for (const key of [AWKWARD, MARKUP]) {
    await typeInto(page, 'User', key)
    await page.getByRole('option').first().waitFor()
    await page.keyboard.press('Escape')
    await page.locator('.options').waitFor({ state: 'detached' })
    await typeKey(page, 'Action', 'write')
    await show(page)
    await page.getByRole('heading', { name: `Resources that ${key} may write` }).waitFor()
    await press(page, 'Why? Access to document:roadmap')
    await sees(page, `${key} has the role editor on folder:specs.`)
    await page.reload()
    await page.getByRole('heading', { name: `Resources that ${key} may write` }).waitFor()
    await pressOn(page.getByRole('link', { name: 'roadmap' }))
    await page.getByRole('heading', { name: 'Users who may write document:roadmap' }).waitFor()
    await pressOn(page.getByRole('link', { name: key, exact: true }))
    await page.getByRole('heading', { name: `Resources that ${key} may write` }).waitFor()
    await press(page, 'Clear')
    await sees(page, 'Choose a user.')
  }
})

test('the user page states that a user does not exist', async () => {
  const page = await openUsers({ refusals: [404] })
  await typeKey(page, 'User', 'nobody')
  await typeKey(page, 'Action', 'read')
  await show(page)

  await sees(page, 'There is no user nobody.')
  await sees(page, 'There are no resources that nobody may read.')
})

test('the audit log, used by keyboard, shows changes, actors, and whether a grant expired or was revoked', async () => {
  const client = await startedService()
  await arrange(client)
  const soon = new Date(Date.now() + 700).toISOString()
  const ending = { user: 'erin', role: 'viewer', resource_instance: 'document:plan-100', expires_at: soon }
  expect((await client.post(`${FACTS}/role_assignments`, ending)).status).toBe(200)
  const removed = { user: 'dave', role: 'auditor', tenant: 'default' }
  const headers = { 'x-request-id': 'the-removal' }
  await client.send('DELETE', `${FACTS}/role_assignments`, { body: removed, headers })
  const page = await open('access/audit', { address: client.address })

  const expired = rowWith(page, 'Grants expired')
  await sees(expired, 'expired', { exact: true })
  await sees(expired, 'erin: viewer on document:plan-100')
  await sees(expired, 'service', { exact: true })
  const revoked = rowWith(page, 'Role revoked')
  await sees(revoked, 'revoked', { exact: true })
  expect(await revoked.locator('time').getAttribute('title')).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)

  await pressOn(revoked.getByRole('button'))
  await sees(page, 'A request revoked this grant.')
  await sees(page, 'the-removal')
  await look(page, 'audit-desktop')

  // Displayed words complete the filter for operations.
  await pressOn(page.getByRole('link', { name: 'All entries of this request' }))
  await sees(page, '1 of 1')
  await press(page, 'Clear')
  await complete(page, 'Operation', 'nested', 'assignGroup')
  await show(page)
  await sees(page, '1 of 1')
  await sees(page, 'Group nested in a group')
  await goTo(page, `access/audit/since/${encodeURIComponent('2031-01-01T00:00:00.000Z')}`)
  await sees(page, 'No changes match these filters.')
  expect(await page.getByLabel('Since').inputValue()).toBe('2031-01-01T01:00')
})

test('a key of the organization reads the audit log and direct roles, but cannot check access', async () => {
  const page = await open({ key: ADMIN_KEY })
  await pressOn(page.getByRole('link', { name: 'default', exact: false }).first())
  await goTo(page, 'access/users/user/erin/action/write')
  await sees(page, 'This key cannot check access.')
  await rowOf(page, 'editor').getByText('until 1 Jun 2031').waitFor()
  await look(page, 'access-of-organization-desktop')

  await verdict.send('POST', `${FACTS}/users`, { body: { key: 'made-by-operator' }, key: ADMIN_KEY })
  await goTo(page, 'access/audit/key/admin')
  await sees(page, '1 of 1')
  await sees(rowWith(page, 'made-by-operator'), 'operator key')
})

test('a key is not used for searches under the address of another environment', async () => {
  const page = await open.signedOut({ refusals: [403, 404] })
  await page.goto(`${verdict.address}/console#/default/elsewhere/access/users/user/anybody/action/read`)
  const asked: string[] = []
  page.on('request', request => asked.push(new URL(request.url()).pathname))
  await typeApiKey(page)
  await sees(page, 'It belongs to another environment.')
  expect(asked.filter(path => path.startsWith('/access/'))).toEqual([])
})

test('a search that stopped early states that it is incomplete, and can be continued', async () => {
  const client = await startedService({ searchScanMax: 10 })
  await client.resource({ key: 'document', actions: { read: {} } })
  await client.user('erin')
  await client.conditionSet({ key: 'everybody', type: 'userset', conditions: {} })
  const conditions = { allOf: [{ 'resource.size': { 'greater-than': 98 } }] }
  await client.conditionSet({ key: 'large', type: 'resourceset', resource_id: 'document', conditions })
  await client.setRule('everybody', 'document:read', 'large')
  const operations = Array.from({ length: 100 }, (_, number) => ({
    resource: 'document',
    key: `plan-${100 + number}`,
    attributes: { size: number },
  }))
  expect((await client.put(`${FACTS}/bulk/resource_instances`, { operations })).status).toBe(200)
  const page = await open('access/users/user/erin/action/read', { address: client.address })
  await sees(page, 'The search stopped before the page was full')
  await sees(page, 'No results so far.')
  await press(page, 'Show more')
  await rowOf(page, 'document plan-199').waitFor()
})

test('each list is exported as a CSV file according to its filters', async () => {
  const page = await open('access/users/user/dave/action/read/type/document')
  const resources = await exported(page, 'Resources that dave may read')
  expect(resources.name).toBe('access-dave-read-document.csv')
  expect(resources.lines[0]).toBe('user,action,asked_tenant,resource_type,resource')
  expect(resources.lines).toContain(`dave,read,,document,"'=2+2 50%/a?b#c ""d"", e"`)
  expect(resources.lines).toContain(`dave,read,,document,${MARKUP}`)
  expect(resources.lines.length).toBeGreaterThanOrEqual(64)
  await sees(page, `${resources.lines.length - 1} rows were exported to access-dave-read-document.csv.`)

  await goTo(page, 'access/resources/type/document/instance/roadmap/action/write')
  expect((await exported(page, 'Users who may write document:roadmap')).lines).toEqual(
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

test('an export can be canceled while it runs', async () => {
  const page = await open('access/users/user/carol/action/read')
  await rowOf(page, 'document roadmap').waitFor()
  const held = Promise.withResolvers<void>()
  await page.route('**/access/v1/search/resource', async route => {
    await held.promise
    await route.continue().catch(() => {})
  })
  let downloads = 0
  page.on('download', () => (downloads += 1))
  await press(page, 'Export CSV: Resources that carol may read')
  await press(page, 'Cancel')
  await sees(page, 'Export canceled. No file was created.')
  held.resolve()
  expect(downloads).toBe(0)
})

test.each(LOOKS)(
  'the pages of users, resources and the audit log are accessible: $size, $colors, $language',
  async as => {
    const [why, path] = as.language === 'en' ? ['Why? Access to', 'Path'] : ['Warum? Zugriff auf', 'Pfad']
    const page = await open('access/users/user/carol/action/read', as)
    await pressOn(page.getByRole('button', { name: `${why} folder:specs` }))
    await page.getByRole('list', { name: path }).waitFor()
    await look(page, 'access-user', as)
    await goTo(page, 'access/resources/type/folder/instance/specs/action/read')
    await pressOn(page.getByRole('button', { name: 'carol' }))
    await page.getByRole('list', { name: path }).waitFor()
    await look(page, 'access-resource', as)
    await goTo(page, 'access/audit')
    await pressOn(page.getByRole('row').getByRole('button').first())
    await page.locator('.entry').waitFor()
    await look(page, 'audit', as)
  },
)
