/** Page that checks access and explains the decision: path, near misses, rules, and links to a check. */
import { beforeAll, describe, expect, test } from 'vitest'
import { ADMIN_KEY, API_KEY, FACTS } from '#testing/processes/running-service.ts'
import { complete, press, pressOn } from '../../support/console-keys.ts'
import { goTo, look, LOOKS, sees, sharedConsole, typeApiKey } from '../../support/console-page.ts'

const { verdict, open } = await sharedConsole()

const OVER_PARENT = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }
const END = '2199-12-31T12:00:00.000Z'

beforeAll(async () => {
  await verdict.resource({
    key: 'folder',
    name: 'Folder',
    actions: { read: {}, write: {} },
    roles: {
      viewer: { name: 'Viewer', permissions: ['read'] },
      editor: { name: 'Editor', permissions: ['write'], extends: ['viewer'] },
    },
  })
  await verdict.resource({
    key: 'document',
    name: 'Document',
    actions: { read: {}, list: {}, sign: {}, burn: {} },
    relations: { parent: 'folder' },
    roles: {
      guest: { name: 'Guest' },
      viewer: { name: 'Viewer', permissions: ['read'], granted_to: { users_with_role: [OVER_PARENT] } },
      reader: {
        name: 'Reader',
        permissions: ['list'],
        granted_to: { when: { no_direct_roles_on_object: true }, users_with_role: [OVER_PARENT] },
      },
    },
  })
  await verdict.tenantRole('auditor', ['document:read'])
  await verdict.tenant('acme')
  await verdict.users('anna', 'bert', 'carl', 'dora', 'emil')
  for (const reference of ['folder:specs', 'document:plan', 'document:alone'])
    await verdict.instance(reference)
  await verdict.instance('document:contract', 'acme')
  await verdict.relate('folder:specs', 'parent', 'document:plan')
  await verdict.groups('company', 'platform')
  await verdict.nest('platform', { into: 'company' })
  await verdict.grant('company', 'viewer', 'folder:specs')
  await verdict.join('platform', 'carl')
  await verdict.assign('anna', 'editor', 'folder:specs')
  await verdict.done('POST', `${FACTS}/role_assignments`, {
    user: 'bert',
    role: 'viewer',
    resource_instance: 'folder:specs',
    tenant: 'default',
    expires_at: END,
  })
  await verdict.assign('bert', 'guest', 'document:plan')
  await verdict.assign('dora', 'auditor', 'default')
  await verdict.conditionSet({
    key: 'signers',
    type: 'userset',
    conditions: {
      allOf: [
        { 'user.department': { equals: 'legal' } },
        { anyOf: [{ 'user.level': { 'greater-than': 3 } }, { 'user.is_deputy': { equals: true } }] },
      ],
    },
  })
  await verdict.conditionSet({
    key: 'drafts',
    type: 'resourceset',
    resource_id: 'document',
    conditions: { allOf: [{ 'resource.state': { equals: 'draft' } }] },
  })
  await verdict.done('POST', `${FACTS}/set_rules`, {
    user_set: 'signers',
    permission: 'document:sign',
    resource_set: 'drafts',
  })
})

/** Path of the page for a check. */
function asked(
  user: string,
  action: string,
  type: string,
  key: string,
  more: Readonly<Record<string, string>> = {},
): string {
  return `questions/${new URLSearchParams({ user, action, type, key, ...more }).toString()}`
}

test('a denied check, made by keyboard, shows the reason and the near misses', async () => {
  const page = await open()
  await sees(page, 'Enter a user, an action and a resource.')
  await complete(page, 'User', 'ann', 'anna')
  await complete(page, 'Action', 'rea', 'read')
  await complete(page, 'Resource type', 'docu', 'document')
  await complete(page, 'Resource', 'pla', 'plan')
  await press(page, 'Check access')

  await page.getByRole('heading', { name: 'Denied' }).waitFor()
  await sees(page, 'anna has no role on document:plan and no role in the tenant default.')
  await sees(page, 'Required role on document:plan: viewer.')
  await page.getByRole('heading', { name: 'The role viewer on folder:specs' }).waitFor()
  await page.getByRole('img', { name: 'Path from anna to document:plan' }).waitFor()
  await sees(page, 'anna needs the role viewer on folder:specs, but has editor.')
  await sees(page, 'editor extends viewer')
  await page.getByRole('link', { name: 'Open folder:specs' }).waitFor()
  // The focus stays on the button.
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Check access')
})

test('a displayed decision is updated when another user changes access, and the page states the change', async () => {
  const page = await open(asked('emil', 'read', 'document', 'alone'))
  await page.getByRole('heading', { name: 'Denied' }).waitFor()
  await verdict.assign('emil', 'viewer', 'document:alone')

  await page.getByRole('heading', { name: 'Allowed' }).waitFor()
  await sees(page, 'changed from denied to allowed')
  await verdict.delete(`${FACTS}/role_assignments`, {
    user: 'emil',
    role: 'viewer',
    resource_instance: 'document:alone',
    tenant: 'default',
  })
  await sees(page, 'changed from allowed to denied')
})

test('a copied link repeats the check after sign-in, and does not contain a key', async () => {
  const attributes = '{"department":"100% legal & more?","path":"a/b#c"}'
  const path = asked('anna', 'sign', 'document', 'plan', { tenant: 'default', userAttributes: attributes })
  const page = await open(path)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: verdict.address })
  await press(page, 'Copy link')
  await sees(page, 'Link copied.')
  const link = (await page.evaluate('navigator.clipboard.readText()')) as string
  expect(link).toBe(page.url())
  expect(link).not.toContain(API_KEY)
  expect(new URL(link).search).toBe('')

  const other = await open.signedOut()
  await other.goto(link)
  await typeApiKey(other)
  await other.getByRole('heading', { name: 'Denied' }).waitFor()
  expect(await other.getByLabel('Attributes of the user').inputValue()).toBe(attributes)
  await sees(other, '"100% legal & more?"')
})

test('Back repeats the previous check and fills the form with it', async () => {
  const page = await open(asked('dora', 'read', 'document', 'plan'))
  await page.getByRole('heading', { name: 'Allowed' }).waitFor()
  const user = page.getByRole('combobox', { name: 'User', exact: true })
  await user.fill('anna')
  await page.keyboard.press('Escape')
  await press(page, 'Check access')
  await page.getByRole('heading', { name: 'Denied' }).waitFor()
  await page.goBack()

  await page.getByRole('heading', { name: 'Allowed' }).waitFor()
  expect(await user.inputValue()).toBe('dora')
})

test('an allowed check shows the path that grants access as sentences', async () => {
  const page = await open()
  const overFolder =
    'folder:specs is parent of document:plan, so users with the role viewer on folder:specs have the role viewer on document:plan.'
  const byRule = {
    userAttributes: '{"department":"legal","level":4}',
    resourceAttributes: '{"state":"draft"}',
  }
  for (const [path, steps] of [
    [
      asked('carl', 'read', 'document', 'plan'),
      [
        'carl is a member of the group platform.',
        'The group platform is nested in the group company, so its members are also members of company.',
        'Members of the group company have the role viewer on folder:specs.',
        overFolder,
      ],
    ],
    [
      asked('bert', 'read', 'document', 'plan'),
      ['bert has the role viewer on folder:specs. until 31 Dec 2199, 13:00', overFolder],
    ],
    [
      asked('dora', 'read', 'document', 'plan'),
      [
        'dora has the role auditor in the tenant default.',
        'auditor allows read on document:plan, which belongs to the tenant default.',
      ],
    ],
    // A rule also applies to a user that is not stored.
    [
      asked('nobody', 'sign', 'document', 'plan', byRule),
      [
        'nobody is in the user set signers.',
        'A rule allows users in the user set signers to sign resources in the resource set drafts.',
        'document:plan is in the resource set drafts.',
      ],
    ],
  ] as const) {
    await goTo(page, path)
    const sentences = async () =>
      (await page.locator('main ol li').allTextContents()).map(text => text.trim())
    await expect.poll(sentences, { message: path }).toEqual(steps)
    await page.getByRole('heading', { name: 'Allowed' }).waitFor()
    await page.getByRole('img', { name: 'Path from' }).waitFor()
  }
})

test('a denied check states the reason in a sentence', async () => {
  const page = await open()
  for (const [path, ...sentences] of [
    [asked('anna', 'read', 'documnt', 'plan'), 'There is no resource type documnt.'],
    [
      asked('anna', 'raed', 'document', 'plan'),
      'The resource type document has no action raed.',
      'Existing actions: read, list, sign, burn.',
    ],
    [asked('anna', 'read', 'document', 'plan', { tenant: 'nowhere' }), 'There is no tenant nowhere.'],
    [asked('ana', 'read', 'document', 'plan'), 'There is no user ana.'],
    [asked('anna', 'read', 'document', 'plam'), 'The resource document:plam is not stored.'],
    [
      asked('anna', 'read', 'document', 'contract', { tenant: 'default' }),
      'document:contract belongs to the tenant acme, but the check is for the tenant default.',
    ],
    [
      asked('bert', 'list', 'document', 'plan'),
      'bert has a role on document:plan, but none that allows list.',
      'The role that is derived from folder:specs is valid only for users without a direct role on document:plan',
    ],
    [
      asked('dora', 'list', 'document', 'plan'),
      'dora has a role in the tenant default, but none that allows list there.',
    ],
    [asked('anna', 'read', 'document', ''), 'anna has no role in the tenant default.'],
    [asked('anna', 'burn', 'document', 'plan'), 'No role of document allows burn.'],
    [asked('bert', 'read', 'document', 'alone'), 'make folder:specs the parent of document:alone'],
  ] as const) {
    await goTo(page, path)
    for (const sentence of sentences) await sees(page, sentence)
    await page.getByRole('heading', { name: 'Denied' }).waitFor()
  }
})

test('conditions are shown as a tree with results and compared values', async () => {
  const path = asked('anna', 'sign', 'document', 'plan', {
    userAttributes: '{"department":"legal","level":2}',
    resourceAttributes: '{"state":"final"}',
  })
  const page = await open(path)
  const tests = page.locator('.test')
  await tests.first().waitFor()
  expect((await tests.allTextContents()).map(text => text.replaceAll(/\s+/g, ' ').trim())).toEqual([
    '✓ trueuser.department equals "legal"found: "legal"',
    '✕ falseuser.level greater-than 3found: 2',
    '? unknownuser.is_deputy equals truefound: no value',
    '✕ falseresource.state equals "draft"found: "final"',
  ])
  const rule = page.locator('.rule > summary')
  await pressOn(rule)
  await tests.first().waitFor({ state: 'hidden' })
  await pressOn(rule)
  await tests.first().waitFor()
})

test('missing and invalid inputs show an error, and no check is sent', async () => {
  const page = await open()
  await press(page, 'Check access')
  expect(await page.getByText('This field is required.').count()).toBe(3)

  await goTo(page, asked('anna', 'read', 'document', 'plan', { context: '[1, 2' }))
  await press(page, 'Check access')
  await sees(page, 'This is not a JSON object.')
  expect(await page.getByRole('heading', { name: /Allowed|Denied/ }).count()).toBe(0)
})

test('with a management key, the page states that it cannot check access', async () => {
  const path = asked('anna', 'read', 'document', 'plan')
  const page = await open.signedOut({ refusals: [403] })
  await page.goto(`${verdict.address}/console#/default/default/${path}`)
  await typeApiKey(page, ADMIN_KEY)
  await sees(page, 'This key cannot check access.')
  await sees(page, 'It is a management key.')
  await look(page, 'questions-key-that-manages')
})

describe('the page that checks access', () => {
  const views = {
    empty: ['questions', 'Enter a user', 'Geben Sie Benutzer'],
    allowed: [
      asked('carl', 'read', 'document', 'plan'),
      'Path that grants access',
      'Pfad, der den Zugriff erlaubt',
    ],
    denied: [asked('bert', 'list', 'document', 'plan'), 'Near misses', 'Beinahe erlaubt'],
    rules: [
      asked('anna', 'sign', 'document', 'plan', {
        userAttributes: '{"department":"legal","level":2}',
        resourceAttributes: '{"state":"final"}',
      }),
      'Evaluated rules',
      'Ausgewertete Regeln',
    ],
    long: [
      asked(`somebody-${'with-a-long-name-'.repeat(8)}`, 'sign', 'document', `paper-${'x'.repeat(120)}`, {
        userAttributes: JSON.stringify({ department: 'y'.repeat(400), level: 1 }),
      }),
      'Evaluated rules',
      'Ausgewertete Regeln',
    ],
  } as const
  test.each(LOOKS)('is accessible with all kinds of results: $size, $colors, $language', async as => {
    const page = await open(as)
    for (const [name, [path, english, german]] of Object.entries(views)) {
      await goTo(page, path)
      await sees(page, as.language === 'en' ? english : german)
      await look(page, `questions-${name}`, as)
    }
  })
})
