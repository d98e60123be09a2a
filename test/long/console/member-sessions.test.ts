/** Sign-in at a real issuer, sessions, members and invitations in a browser; and the pages of each level. */
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { freePort } from '#testing/processes/free-port.ts'
import { REAL_CLIENT, startRealIssuer } from '#testing/issuer/real-issuer.ts'
import { sharedService, startedService } from '#testing/processes/running-service.ts'
import { choose, dialog, dialogClosed, press, pressOn, typeKey } from '../../support/console-keys.ts'
import { unreached } from '../../support/console-focus.ts'
import { consoleOf, goToAddress, loaded, look, LOOKS, rowWith, sees } from '../../support/console-page.ts'

const [port, briefPort] = [await freePort(), await freePort()]
const urlOf = (of: number): string => `http://127.0.0.1:${of}`
const publicUrl = urlOf(port)
const person = (name: string, more: object = {}) => ({
  name,
  email: `${name.toLowerCase()}@example.com`,
  email_verified: true,
  ...more,
})
const people = {
  ann: person('Ann'),
  bob: person('Bob'),
  carol: person('Carol'),
  dora: person('Dora', { groups: ['staff'] }),
  eve: person('Eve'),
  ...Object.fromEntries(['read', 'write_facts', 'write', 'admin'].map(level => [level, person(level)])),
}
const issuer = await startRealIssuer([publicUrl, urlOf(briefPort)], people, { notified: publicUrl })
afterAll(() => issuer.close())
const withIssuer = (of: number) => ({
  port: of,
  publicUrl: urlOf(of),
  oidcIssuer: issuer.origin,
  oidcClientId: REAL_CLIENT.id,
  oidcClientSecret: REAL_CLIENT.secret,
  oidcGroupsClaim: 'groups',
  oidcOwners: ['ann'],
  oidcName: 'Example ID',
})
const verdict = await sharedService(withIssuer(port))
const open = consoleOf(verdict.address)
const HERE = '#/default/default'

await verdict.createDocumentModel()
await verdict.tenant('acme')
await verdict.users('alice')

/** Opens the console signed out. The request for the session is then rejected. */
function openSignedOut(hash = '', options: Parameters<typeof open.signedOut>[0] = {}): Promise<Page> {
  return open.signedOut({ hash, issuer: issuer.origin, refusals: [401], ...options })
}

/** Leaves for the issuer, and returns as this person. */
async function signIn(page: Page, as: string, button = 'Sign in with Example ID'): Promise<void> {
  await press(page, button)
  await pressOn(page.getByRole('link', { name: as, exact: true }))
}

async function openAs(as: string, hash = '', options = {}): Promise<Page> {
  const page = await openSignedOut(hash, options)
  await signIn(page, as)
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  return page
}

/** Gives a person a level on the organization. */
async function joinAs(subject: string, level: string): Promise<void> {
  const permissions = [{ object_type: 'org', access_level: level }]
  await verdict.admin('POST', '/v2/members', { subject, permissions })
}

const hashOf = (page: Page): string => new URL(page.url()).hash

test('a sign-in returns to the wanted page, and reload, Back and a second tab keep the session', async () => {
  const page = await openSignedOut(`${HERE}/groups`)
  await page.getByRole('button', { name: 'Sign in with Example ID' }).waitFor()
  await look(page, 'members-sign-in')
  await signIn(page, 'ann')
  await page.getByRole('button', { name: 'New group' }).waitFor()
  expect(hashOf(page)).toBe(`${HERE}/groups`)
  // Scripts see no cookie, and nothing of the sign-in stays in an address or in the storage.
  const kept =
    'JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }, location.href, history.state])'
  expect(await page.evaluate(kept)).not.toMatch(/session|code=|state=|[\w-]{43}/)

  await page.reload()
  await page.getByRole('button', { name: 'New group' }).waitFor()
  // The pages of the issuer are behind this one in the history.
  await page.goBack()
  await page.goForward()
  await page.getByRole('button', { name: 'New group' }).waitFor()

  const popup = page.waitForEvent('popup')
  await page.evaluate(`void open('${publicUrl}/console${HERE}/questions')`)
  const second = await popup
  await second.getByRole('link', { name: 'Your account: Ann' }).waitFor()

  // The sign-out is in effect in both tabs.
  await press(page, 'Sign out')
  await sees(page, 'You are signed out.')
  await sees(page, 'Sign out at Example ID')
  await look(page, 'members-signed-out')
  await sees(second, 'Your session has ended.')
  await page.goBack()
  expect(await page.getByRole('navigation').count()).toBe(0)
})

test.each([
  ['denied', 'Cancel', 'Example ID did not allow the sign-in.'],
  ['not_a_member', 'eve', 'but you have no access to this service'],
])('the reason %s of a failed sign-in is shown in words', async (_reason, as, text) => {
  const page = await openSignedOut(`${HERE}/model`)
  await signIn(page, as)
  await sees(page, text)
  // The next attempt still leads to the wanted page.
  expect(await page.getByRole('alert').count()).toBe(1)
  await page.context().clearCookies({ domain: 'localhost' })
  await signIn(page, 'ann')
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  expect(hashOf(page)).toBe(`${HERE}/model`)
  // With a session, the error of an earlier attempt is not shown.
  await goToAddress(page, '#/sign-in?error=failed')
  await page.getByRole('navigation', { name: 'Pages' }).waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
})

test('a member ends one session and then all others, whose tabs offer a sign-in at the same page', async () => {
  const other = await openAs('ann', `${HERE}/groups`)
  const latest = await openAs('ann', `${HERE}/model`)
  const page = await openAs('ann', '#/~/account')
  await page.getByRole('heading', { name: 'Your sessions' }).waitFor()
  await page.getByRole('row', { name: 'this session' }).waitFor()
  await look(page, 'members-account')
  const ends = page.getByRole('button', { name: /^End the session of Chrome on Linux/ })
  const count = await ends.count()
  // After the current session, the one that was used last is the first.
  await pressOn(ends.first())
  await press(dialog(page), 'End')
  await sees(latest, 'Your session has ended.')
  await expect.poll(() => ends.count()).toBe(count - 1)
  await page.locator('h1:focus').waitFor()
  await press(page, 'End all other sessions')
  await press(dialog(page), 'End all other sessions')
  await dialogClosed(page)
  await expect.poll(() => ends.count()).toBe(0)
  await page.locator('h1:focus').waitFor()

  await sees(other, 'Your session has ended. Sign in again to continue where you were.')
  // The issuer still has a session, so it asks for nothing.
  await press(other, 'Sign in with Example ID')
  await other.getByRole('button', { name: 'New group' }).waitFor()
  expect(hashOf(other)).toBe(`${HERE}/groups`)
})

test('an owner invites a person, who accepts with the invited address alone, and removes the person', async () => {
  const owner = await openAs('ann', '#/~/members')
  await press(owner, 'Invite member')
  await owner.getByRole('textbox', { name: 'E-mail address' }).fill('bob@example.com')
  await choose(dialog(owner), /On$/, 'an environment')
  await typeKey(owner, 'Project', 'default')
  await typeKey(owner, 'Environment', 'default')
  await press(dialog(owner), 'Invite')
  await owner.getByRole('heading', { name: 'Invitation created' }).waitFor()
  await look(owner, 'members-invitation')
  const link = await dialog(owner).locator('.secret code').innerText()
  expect(link).toMatch(new RegExp(`^${publicUrl}/console#/invite/[\\w-]{43}$`))
  await press(dialog(owner), 'I have copied the link')
  await dialogClosed(owner)
  await rowWith(owner, 'bob@example.com').getByText('invited until').waitFor()
  expect(await owner.content()).not.toContain(link)

  const wrong = await openSignedOut(new URL(link).hash)
  await sees(wrong, 'Use the e-mail address that was invited.')
  await look(wrong, 'members-invited')
  await signIn(wrong, 'carol')
  await sees(wrong, 'The invitation was not accepted.')

  const invited = await openAs('bob', new URL(link).hash)
  await invited.getByRole('heading', { level: 1, name: 'Why?' }).waitFor()
  await owner.reload()
  await pressOn(owner.getByRole('button', { name: 'Details of Bob' }))
  await press(owner, 'Remove Bob')
  await look(owner, 'members-remove')
  await press(dialog(owner), 'Remove')
  await dialogClosed(owner)
  await sees(invited, 'Your session has ended.')
})

test('an owner gives a group of the issuer a level, and its member sees only what the level permits', async () => {
  const owner = await openAs('ann', '#/~/members/groups')
  await press(owner, 'Add group')
  await owner.getByRole('textbox', { name: 'Group' }).fill('staff')
  await press(dialog(owner), 'Add group')
  await dialogClosed(owner)
  await rowWith(owner, 'staff').getByText('viewer').waitFor()
  await look(owner, 'members-groups')

  const viewer = await openAs('dora', `${HERE}/groups`, { refusals: [401, 403] })
  await sees(viewer, 'This needs the level “editor of facts” or above. Your level here is “viewer”.')
  expect(await viewer.getByRole('button', { name: 'New group' }).isDisabled()).toBe(true)
  // A member decides in the environment of the page.
  await goToAddress(viewer, `${HERE}/questions/user=alice&action=read&type=document`)
  await viewer.getByRole('heading', { name: 'Denied' }).waitFor()
  await goToAddress(viewer, '#/~/members')
  await sees(viewer, 'Ann')
  expect(await viewer.getByRole('button', { name: 'Invite member' }).isDisabled()).toBe(true)
  // The removal of rights takes effect without a new sign-in.
  await goToAddress(viewer, `${HERE}/groups`)
  await press(rowWith(owner, 'staff'), 'Remove staff')
  await press(dialog(owner), 'Remove')
  await dialogClosed(owner)
  await sees(viewer, 'You have no grants here at the moment.')
  await look(viewer, 'members-no-access')
})

test('a sign-out at the issuer ends all sessions of the person, and the next sign-in asks who it is', async () => {
  const page = await openAs('ann', `${HERE}/groups`)
  const elsewhere = await openAs('ann', `${HERE}/model`)
  await joinAs('read', 'read')
  const another = await openAs('read', `${HERE}/groups`)
  const popup = page.waitForEvent('popup')
  await page.evaluate(`void open('${issuer.origin}/session/end')`)
  const atIssuer = await popup
  await press(atIssuer, 'Yes, sign out')
  await atIssuer.getByRole('heading', { name: 'Signed out' }).waitFor()
  await sees(page, 'Your session has ended.')
  await sees(elsewhere, 'Your session has ended.')
  await another.reload()
  await another.getByRole('button', { name: 'Sign out' }).waitFor()
  await signIn(page, 'ann')

  // The console links to the same page of the issuer after a sign-out.
  await press(page, 'Sign out')
  await pressOn(page.getByRole('link', { name: 'Sign out at Example ID' }))
  await press(page, 'Yes, sign out')
  await page.getByRole('heading', { name: 'Signed out' }).waitFor()
})

test('while the issuer is down, the page says so; sessions continue without it', async () => {
  const [servicePort, issuerPort] = [await freePort(), await freePort()]
  const origin = `http://localhost:${issuerPort}`
  const service = await startedService({
    ...withIssuer(servicePort),
    oidcIssuer: origin,
    isKeySignInOffered: false,
  })
  const openThere = consoleOf(service.address, open.chromium)
  const page = await openThere.signedOut({ issuer: origin, refusals: [401, 503] })
  await press(page, 'Sign in with Example ID')
  await sees(page.getByRole('alert'), 'The sign-in is not available at the moment')
  expect(await page.locator('input').count()).toBe(0)
  await look(page, 'sign-in-issuer-down')

  const late = await startRealIssuer([urlOf(servicePort)], people, { port: issuerPort })
  await signIn(page, 'ann')
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  await late.close()
  await page.reload()
  await press(page, 'Sign out')
  await sees(page, 'You are signed out.')
})

test.each([
  { level: 'read', offered: [] },
  { level: 'write_facts', offered: ['New group'] },
  { level: 'write', offered: ['New group', 'Add type'] },
  { level: 'admin', offered: ['New group', 'Add type', 'Create key', 'Invite member', 'Add group'] },
])('a member of level $level is offered the changes of that level', async ({ level, offered }) => {
  await joinAs(level, level)
  const page = await openAs(level, `${HERE}/groups`)
  const found: string[] = []
  for (const [hash, button] of [
    [`${HERE}/groups`, 'New group'],
    [`${HERE}/model`, 'Add type'],
    ['#/~/operations/keys', 'Create key'],
    ['#/~/members', 'Invite member'],
    ['#/~/members/groups', 'Add group'],
  ] as const) {
    await goToAddress(page, hash)
    await loaded(page)
    const change = page.getByRole('button', { name: button, exact: true })
    await change.waitFor()
    if (await change.isEnabled()) found.push(button)
  }
  expect(found).toEqual(offered)
})

test('a delegate gives and takes the listed roles in the listed tenants, and is offered nothing else', async () => {
  const role = 'clerk'
  await verdict.tenantRole(role, [])
  const permission = { object_type: 'env', project_id: 'default', environment_id: 'default' }
  const limits = { access_level: 'write_facts', tenants: ['acme'], roles: [role] }
  await verdict.admin('POST', '/v2/members', {
    subject: 'carol',
    permissions: [{ ...permission, ...limits }],
  })
  const page = await openAs('carol')
  await page.getByRole('heading', { level: 1, name: 'Roles' }).waitFor()
  expect(await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts()).toEqual([
    'Roles',
    'Groups',
  ])
  await press(page, 'Assign role')
  await page.getByRole('textbox', { name: 'User' }).fill('alice')
  await press(dialog(page), 'Assign role')
  await dialogClosed(page)
  await page.getByRole('row', { name: `alice ${role}` }).waitFor()
  await look(page, 'members-delegate')
  await goToAddress(page, `${HERE}/model`)
  await sees(page, 'Page not found.')

  const auditor = await openAs('ann', `${HERE}/access/audit`)
  const entry = rowWith(auditor, 'Carol')
  await entry.getByText(`signed in at ${new URL(issuer.origin).host}`).waitFor()
  await pressOn(entry.getByRole('button', { name: /^Show entry|Details/ }).first())
  await pressOn(auditor.getByRole('link', { name: 'All entries of this member' }))
  await expect.poll(() => hashOf(auditor)).toContain('/member/')
  await rowWith(auditor, 'Carol').first().waitFor()
  await look(auditor, 'members-audit')
})

/**
 * Runs in the page, because the warning is shown for a few seconds only: accepts the first warning, and
 * records what is shown in which order.
 */
const RECORD = `(() => {
  globalThis.shown = []
  new MutationObserver(() => {
    const stay = document.querySelector('.session-notice button')
    const what = stay !== null ? 'warning' : document.querySelector('nav') !== null ? 'page' : 'end'
    if (shown.at(-1) === what || (shown.length === 0 && what === 'page')) return
    shown.push(what)
    if (shown.length === 1) stay?.click()
  }).observe(document, { subtree: true, childList: true, characterData: true })
})()`

test('polling does not extend a session, a warning precedes its end, and an action extends it', async () => {
  const brief = await startedService({ ...withIssuer(briefPort), sessionIdleSeconds: 40 })
  const openBrief = consoleOf(brief.address, open.chromium)
  const page = await openBrief.signedOut({ hash: '#/~/operations', issuer: issuer.origin, refusals: [401] })
  await signIn(page, 'ann')
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  await page.evaluate(RECORD)
  await sees(page, 'Your session has ended.')
  expect(await page.evaluate('shown')).toEqual(['warning', 'page', 'warning', 'end'])
})

test.each(LOOKS)('the pages about members are accessible: $size, $colors, $language', async as => {
  const page = await openSignedOut('', as)
  const isEnglish = as.language === 'en'
  await signIn(page, 'ann', isEnglish ? undefined : 'Mit Example ID anmelden')
  for (const [name, hash] of [
    ['members', '#/~/members'],
    ['account', '#/~/account'],
  ] as const) {
    await page.getByRole('button', { name: isEnglish ? 'Sign out' : 'Abmelden' }).waitFor()
    await goToAddress(page, hash)
    await page.locator('table').first().waitFor()
    await look(page, name, as)
    if (as.size === 'desktop' && isEnglish) expect([hash, await unreached(page)]).toEqual([hash, []])
  }
  await page.setViewportSize({ width: 320, height: 640 })
  await look(page, 'account-320', as)
})
