/** Main use case of the console in a browser with a real service, and the routes that serve its files. */
import { expect, test } from 'vitest'
import { API_KEY, RESOURCES } from '#testing/processes/running-service.ts'
import { complete, dialog, dialogClosed, press, pressOn } from '../support/console-keys.ts'
import { expectAccessible, goTo, sharedConsole } from '../support/console-page.ts'

const { verdict, open } = await sharedConsole()

test('the content security policy allows only files of the service, and no frames', async () => {
  const { status, headers, body } = await verdict.send<string>('GET', '/console', { key: null })

  expect(status).toBe(200)
  const policy = headers.get('content-security-policy')!
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe|http:|https:|\*/)
  expect(body).not.toMatch(/<style|<script>|https?:\/\//)
})

test('an address with a trailing slash redirects to the page by a relative path', async () => {
  const redirected = await fetch(`${verdict.address}/console/`, { redirect: 'manual' })
  expect([redirected.status, redirected.headers.get('location')]).toEqual([308, '../console'])
})

test('an unknown file returns 404, and files outside of the console cannot be read', async () => {
  for (const path of ['nothing.js', '..%2Findex.html', '..%2F..%2Fpackage.json', '%2e%2e%2fsources']) {
    expect((await verdict.send('GET', `/console/${path}`, { key: null })).status, path).toBe(404)
  }
})

test('an administrator changes the model, grants a role to a group, and sees why a member has access', async () => {
  await verdict.createDocumentModel()
  await verdict.user('alice')
  await verdict.instance('document:plan')
  const page = await open('model')
  const types = page.getByRole('group', { name: 'Types and their relations' })
  await types.getByRole('button', { name: /^document/ }).waitFor()
  await expectAccessible(page)

  await goTo(page, 'model/matrix/document')
  const grid = page.getByRole('grid', { name: 'Permissions of the roles of document' })
  await pressOn(grid.getByRole('checkbox', { name: 'viewer may not update' }), 'Space')
  await grid.getByRole('checkbox', { name: 'viewer may update' }).waitFor()
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('viewer may update')
  const viewer = await verdict.get<{ permissions: string[] }>(`${RESOURCES}/document/roles/viewer`)
  expect(viewer.body.permissions).toContain('update')

  await goTo(page, 'groups')
  await press(page, 'New group')
  await page.getByRole('textbox', { name: 'Key' }).pressSequentially('team')
  await press(dialog(page), 'Create group')
  await page.getByRole('heading', { level: 1, name: 'team' }).waitFor()
  await dialogClosed(page)
  await press(page, 'Add member')
  await complete(page, 'User', 'al', 'alice')
  await press(dialog(page), 'Add')
  await page.getByRole('link', { name: 'Members 1' }).waitFor()
  await dialogClosed(page)
  await pressOn(page.getByRole('link', { name: 'Roles' }))
  await press(page, 'Grant role')
  await complete(page, 'Type', 'docu', 'document')
  await complete(page, 'Role', 'vie', 'viewer')
  await complete(page, 'Instance', 'pl', 'plan')
  await press(dialog(page), 'Grant')
  await page.getByRole('row', { name: 'viewer document:plan' }).waitFor()
  await dialogClosed(page)

  const question = { user: 'alice', action: 'update', type: 'document', key: 'plan' }
  await goTo(page, `questions/${new URLSearchParams(question).toString()}`)
  await page.getByRole('heading', { name: 'Allowed' }).waitFor()
  const steps = await page.locator('main ol li').allTextContents()
  expect(steps.map(text => text.trim())).toEqual([
    'alice is a member of the group team.',
    'Members of the group team have the role viewer on document:plan.',
  ])
  await expectAccessible(page)
  expect(page.url()).not.toContain(API_KEY)

  await press(page, 'Sign out')
  await page.locator('input[type=password]').waitFor()
  expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toContain(API_KEY)
})
