/** Pages about members and groups of the issuer, and the pages of a key whose grant is limited to tenants. */
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { freePort } from '#testing/processes/free-port.ts'
import { REAL_CLIENT, startRealIssuer } from '#testing/issuer/real-issuer.ts'
import { ADMIN_KEY, FACTS, sharedService } from '#testing/processes/running-service.ts'
import { choose, dialog, dialogClosed, press, pressOn, typeKey } from '../../support/console-keys.ts'
import { consoleOf, goToAddress, look, LOOKS, rowWith, sees, typeApiKey } from '../../support/console-page.ts'

const port = await freePort()
const publicUrl = `http://127.0.0.1:${port}`
const issuer = await startRealIssuer([publicUrl], {})
afterAll(() => issuer.close())
const verdict = await sharedService({
  port,
  publicUrl,
  oidcIssuer: issuer.origin,
  oidcClientId: REAL_CLIENT.id,
  oidcClientSecret: REAL_CLIENT.secret,
  oidcName: 'Example ID',
})
const open = consoleOf(verdict.address)
await verdict.tenant('acme')
await verdict.tenant('globex')
await verdict.tenantRole('clerk', [])
await verdict.tenantRole('boss', [])
await verdict.users('alice', 'bob')
await verdict.group('team', 'acme')

/** Signs in with a key. The request for the session of a member was rejected before. */
async function openAt(hash: string, key = ADMIN_KEY, options: Parameters<typeof open.signedOut>[0] = {}) {
  const page = await open.signedOut({ ...options, refusals: [401, 404, ...(options.refusals ?? [])] })
  await page.locator('input[type=password]').focus()
  await typeApiKey(page, key)
  await page.getByRole('banner').waitFor()
  if (hash !== '') await goToAddress(page, hash)
  return page
}

async function grantOnEnvironment(page: Page): Promise<void> {
  await choose(dialog(page), /On$/, 'an environment')
  await typeKey(page, 'Project', 'default')
  await typeKey(page, 'Environment', 'default')
}

test('the link of an invitation is shown once, and grants are added and revoked', async () => {
  const page = await openAt('#/~/members', ADMIN_KEY, { refusals: [404, 422] })
  await press(page, 'Invite member')
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('bob')
  await grantOnEnvironment(page)
  await press(dialog(page), 'Invite')
  await dialog(page).locator('[aria-invalid=true]').waitFor()
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('bob@example.com')
  await press(dialog(page), 'Invite')
  await page.getByRole('heading', { name: 'Invitation created' }).waitFor()
  await look(page, 'members-invitation')
  const link = await dialog(page).locator('.secret code').innerText()
  expect(link).toMatch(new RegExp(`^${publicUrl}/console#/invite/[\\w-]{43}$`))
  await press(dialog(page), 'I have copied the link')
  await dialogClosed(page)
  await rowWith(page, 'bob@example.com').getByText('invited until').waitFor()
  expect(await page.content()).not.toContain(link)

  await pressOn(page.getByRole('button', { name: 'Details of bob@example.com' }))
  await press(page, 'New link for bob@example.com')
  await press(dialog(page), 'New link')
  await page.getByRole('heading', { name: 'Invitation created' }).waitFor()
  expect(await dialog(page).locator('.secret code').innerText()).not.toBe(link)
  await press(dialog(page), 'I have copied the link')
  await dialogClosed(page)
  await press(page, 'Grant bob@example.com a level')
  await choose(dialog(page), /On$/, 'a project')
  await typeKey(page, 'Project', 'unknown')
  await press(dialog(page), 'Grant')
  await dialog(page).locator('[aria-invalid=true]').waitFor()
  await page.getByRole('combobox', { name: 'Project' }).fill('default')
  await page.keyboard.press('Tab')
  await press(dialog(page), 'Grant')
  await dialogClosed(page)
  await look(page, 'members-details')
  await press(page, 'Revoke “viewer · Default project” from bob@example.com')
  await press(dialog(page), 'Revoke')
  await sees(page, 'A grant of bob@example.com was revoked.')
  await press(page, 'Remove bob@example.com')
  await press(dialog(page), 'Remove')
  await sees(page, 'There are no members yet.')
  await page.locator('h1:focus').waitFor()
})

test('grants that another user changed are shown before they are replaced or removed', async () => {
  const onProject = (access_level: string) => [
    { object_type: 'project', project_id: 'default', access_level },
  ]
  const made = async (path: string, who: object): Promise<{ readonly id: string }> =>
    (await verdict.admin<{ id: string }>('POST', path, { ...who, permissions: onProject('read') })).body
  const member = await made('/v2/members', { subject: 'zoe' })
  const group = await made('/v2/member_groups', { group: 'staff' })
  const permissions = onProject('write')
  const page = await openAt('#/~/members')
  for (const [name, list, change] of [
    ['zoe', '#/~/members', () => verdict.admin('POST', '/v2/members', { id: member.id, permissions })],
    [
      'staff',
      '#/~/members/groups',
      () => verdict.admin('PUT', `/v2/member_groups/${group.id}`, { group: 'staff', permissions }),
    ],
  ] as const) {
    await goToAddress(page, list)
    await rowWith(page, name).getByText('viewer').waitFor()
    if (name === 'zoe') await pressOn(page.getByRole('button', { name: 'Details of zoe' }))
    await page.getByRole('button', { name: `Remove ${name}` }).waitFor()
    await change()
    await press(page, `Remove ${name}`)
    await press(dialog(page), 'Remove')
    await sees(dialog(page), 'Another user changed this in the meantime.')
    await press(dialog(page), 'Cancel')
    await page.getByText('editor of the model').first().waitFor()
    await press(page, `Remove ${name}`)
    await press(dialog(page), 'Remove')
    await rowWith(page, name).first().waitFor({ state: 'detached' })
  }
})

test('a list of more members than fit on a page is loaded in pages and can be searched', async () => {
  const permissions = [{ object_type: 'org', access_level: 'read' }]
  for (let count = 0; count < 60; count += 1)
    await verdict.admin('POST', '/v2/members', { subject: `person-${count}`, permissions })
  const page = await openAt('#/~/members')
  await sees(page, '50 shown')
  await press(page, 'Show more')
  await sees(page, '60 shown')
  await page.getByRole('searchbox', { name: 'Search members by name or e-mail' }).fill('nobody')
  await sees(page, 'No members match.')
})

test('a group of the issuer gets grants, also limited to tenants, and loses them', async () => {
  const page = await openAt('#/~/members/groups', ADMIN_KEY, { refusals: [404] })
  await press(page, 'Add group')
  await page.getByRole('textbox', { name: 'Group' }).fill('staff')
  await grantOnEnvironment(page)
  await choose(dialog(page), /Level$/, 'viewer of some tenants')
  await page.getByRole('textbox', { name: 'Tenants' }).fill('acme, unknown')
  await press(dialog(page), 'Add group')
  await dialog(page).locator('[aria-invalid=true]').waitFor()
  await page.getByRole('textbox', { name: 'Tenants' }).fill('acme')
  await press(dialog(page), 'Add group')
  await dialogClosed(page)
  await rowWith(page, 'staff').getByText('in the tenants acme').waitFor()
  await press(page, 'Grant staff a level')
  await press(dialog(page), 'Grant')
  await dialogClosed(page)
  await rowWith(page, 'staff').getByText('organization').waitFor()
  await look(page, 'members-groups')
  await press(page, 'Remove staff')
  await press(dialog(page), 'Remove')
  await sees(page, 'No group of the issuer has grants yet.')
})

test('an administrator of a project revokes only grants on the project, and others stay', async () => {
  const permission = (object: object) => ({ ...object, access_level: 'read' })
  const permissions = [
    permission({ object_type: 'org' }),
    permission({ object_type: 'project', project_id: 'default' }),
  ]
  const { body: made } = await verdict.admin<{ readonly id: string }>('POST', '/v2/member_groups', {
    group: 'both',
    permissions,
  })
  const { secret } = await verdict.createKey({ project_id: 'default', object_type: 'project' })
  const page = await openAt('#/~/members/groups', secret)
  const row = rowWith(page, 'both')
  await row.getByText('Default project').waitFor()
  expect(await row.getByRole('button', { name: /^Revoke/ }).count()).toBe(1)
  await press(page, 'Revoke “viewer · Default project” from both')
  await press(dialog(page), 'Revoke')
  await row.getByText('Default project').waitFor({ state: 'detached' })
  await row.getByText('organization').waitFor()
  expect(await row.getByRole('button', { name: /^Remove/ }).count()).toBe(0)
  await verdict.admin('DELETE', `/v2/member_groups/${made.id}`)
})

test('a key that is limited to tenants gives and takes the listed roles, and is offered nothing else', async () => {
  const page = await openAt('#/~/operations/keys')
  await press(page, 'Create key')
  await choose(dialog(page), /Level$/, 'editor of some tenants')
  await page.getByRole('textbox', { name: 'Tenants' }).fill('acme, globex')
  await page.getByRole('textbox', { name: 'Roles' }).fill('clerk, group#member')
  await typeKey(page, 'Project', 'default')
  await typeKey(page, 'Environment', 'default')
  await press(dialog(page), 'Create key')
  await page.getByRole('heading', { name: 'Key created' }).waitFor()
  const secret = await dialog(page).locator('.secret code').innerText()
  await press(dialog(page), 'I have stored the secret')
  await dialogClosed(page)
  await rowWith(page, '2 tenants: clerk, group#member').waitFor()

  await verdict.post(`${FACTS}/role_assignments`, { user: 'bob', role: 'boss', tenant: 'acme' })
  const delegate = await openAt('', secret)
  await delegate.getByRole('heading', { level: 1, name: 'Roles' }).waitFor()
  const links = delegate.getByRole('navigation', { name: 'Pages' }).getByRole('link')
  expect(await links.allInnerTexts()).toEqual(['Roles', 'Groups'])
  await press(delegate, 'Assign role')
  await delegate.getByRole('textbox', { name: 'User' }).fill('alice')
  await press(dialog(delegate), 'Assign role')
  await dialogClosed(delegate)
  await delegate.getByRole('row', { name: 'alice clerk' }).waitFor()
  await look(delegate, 'members-delegate')
  // The grant does not list this role, so its removal is not offered.
  expect(await rowWith(delegate, 'boss').getByRole('button').count()).toBe(0)
  await press(delegate, /^Remove the role clerk on acme from alice/)
  await press(dialog(delegate), 'Remove')
  await sees(delegate, 'alice no longer has')

  await pressOn(links.filter({ hasText: 'Groups' }))
  await pressOn(delegate.getByRole('row', { name: 'team' }))
  await delegate.getByRole('heading', { level: 1, name: 'team' }).waitFor()
  await press(delegate, 'Add member')
  await typeKey(delegate, 'User', 'alice')
  await press(dialog(delegate), 'Add')
  await delegate.getByRole('row', { name: 'alice' }).waitFor()
  await look(delegate, 'members-delegate-group')
})

test.each(LOOKS)('the sign-in at the issuer is accessible: $size, $colors, $language', async as => {
  const page = await open.signedOut({ ...as, hash: '#/sign-in?error=invite', refusals: [401, 404] })
  await page.getByRole('alert').waitFor()
  await look(page, 'sign-in-issuer', as)
  await page.setViewportSize({ width: 320, height: 640 })
  await look(page, 'sign-in-issuer-320', as)
})

test('the link of an invitation leads to the issuer', async () => {
  const page = await open.signedOut({ hash: '#/invite/code', issuer: issuer.origin, refusals: [401, 404] })
  await sees(page, 'Use the e-mail address that was invited.')
  await look(page, 'members-invited')
  await press(page, 'Sign in with Example ID')
  await page.getByRole('heading', { name: 'Issuer' }).waitFor()
})
