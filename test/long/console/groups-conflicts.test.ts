/** Concurrent changes to groups by two administrators, long lists, and users with unusual keys. */
import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import {
  type Answer,
  type Envelope,
  FACTS,
  fresh,
  grantBody,
  groupPath,
  memberPath,
} from '#testing/processes/running-service.ts'
import {
  button,
  choose,
  dialog,
  dialogClosed,
  press,
  pressInToast,
  pressOn,
  typeKey,
} from '../../support/console-keys.ts'
import { expectAccessible, goTo, look, sees, sharedConsole } from '../../support/console-page.ts'

const { verdict, open } = await sharedConsole()

await verdict.createDocumentModel()

const MAY = '2090-05-01T00:00:00.000Z'
const JUNE = '2090-06-01T00:00:00.000Z'

const row = (page: Page, name: string | RegExp): Locator => page.getByRole('row', { name })

/** A kind of grant to or by a new group. */
interface Kind {
  /** Address of the page that shows the grant. */
  readonly path: string
  readonly add: string
  readonly submit: string
  /** Name of the grant in sentences of the console. */
  readonly what: string
  /** Name of the button that removes the grant. */
  readonly remove: string
  fill(page: Page): Promise<void>
  /** Changes by another administrator, through the API. */
  put(end: string | null): Promise<Answer>
  drop(): Promise<unknown>
  /** Expiration time; undefined if the grant does not exist. */
  end(): Promise<string | null | undefined>
}

async function firstExpiry(path: string): Promise<string | null | undefined> {
  const { body } = await verdict.get<Envelope<{ expires_at: string | null }>>(path)
  return body.data[0]?.expires_at
}

async function membership(): Promise<Kind> {
  const [group, user] = fresh('team', 'ann')
  await verdict.group(group)
  await verdict.user(user)
  return {
    path: `groups/${group}`,
    add: 'Add member',
    submit: 'Add',
    what: `the membership of ${user}`,
    remove: `Remove ${user}`,
    fill: page => typeKey(page, 'User', user),
    put: end => verdict.put(memberPath(group, user), { tenant: 'default', expires_at: end }),
    drop: () => verdict.leave(group, user),
    end: () => firstExpiry(`${groupPath(group)}/users`),
  }
}

async function nesting(): Promise<Kind> {
  const [outer, inner] = fresh('outer', 'inner')
  await verdict.groups(outer, inner)
  return {
    path: `groups/${outer}/inside`,
    add: 'Add group',
    submit: 'Add',
    what: `the nesting of ${inner} in ${outer}`,
    remove: `Remove ${inner} from ${outer}`,
    fill: page => typeKey(page, 'Group', inner),
    put: end =>
      verdict.put(`${groupPath(outer)}/assign_group`, { group_instance_key: inner, expires_at: end }),
    drop: () => verdict.unnest(inner, { from: outer }),
    end: () => firstExpiry(`${groupPath(outer)}/children`),
  }
}

async function role(): Promise<Kind> {
  const [group, plan] = fresh('team', 'plan')
  await verdict.group(group)
  await verdict.instance(`document:${plan}`)
  return {
    path: `groups/${group}/roles`,
    add: 'Grant role',
    submit: 'Grant',
    what: `the role viewer on document:${plan}`,
    remove: `Remove viewer on document:${plan}`,
    fill: async page => {
      await typeKey(page, 'Type', 'document')
      await typeKey(page, 'Role', 'viewer')
      await typeKey(page, 'Instance', plan)
    },
    put: end =>
      verdict.post(`${groupPath(group)}/roles`, {
        ...grantBody('viewer', `document:${plan}`),
        expires_at: end,
      }),
    drop: () => verdict.revoke(group, 'viewer', `document:${plan}`),
    end: () => firstExpiry(`${groupPath(group)}/roles`),
  }
}

const KINDS: readonly (readonly [name: string, make: () => Promise<Kind>])[] = [
  ['a member', membership],
  ['a group in a group', nesting],
  ['a role of a group', role],
]

const STALE = 'Another user changed this in the meantime.'
const byNow = ({ what }: Kind): string => `Currently, ${what} is valid until 1 May 2090`

async function opened(kind: Kind): Promise<Page> {
  const page = await open(kind.path, { refusals: [404, 412] })
  await button(page, kind.add).waitFor()
  return page
}

describe.each(KINDS)('the grant of %s', (name, make) => {
  test('is shown if another user added it concurrently, and only a second submit overwrites it', async () => {
    const kind = await make()
    const page = await opened(kind)
    await press(page, kind.add)
    await kind.fill(page)
    await kind.put(MAY)
    await press(dialog(page), kind.submit)
    await dialog(page).getByText(STALE).waitFor()
    await dialog(page).getByText(byNow(kind)).waitFor()
    await look(page, `groups-conflict-${name.replaceAll(' ', '-')}`)
    expect(await kind.end()).toBe(MAY)

    await press(dialog(page), kind.submit)
    await pressInToast(page, `Expiration changed: ${kind.what} does not expire.`)
    await sees(page, 'Change undone.')
    expect(await kind.end()).toBe(MAY)
  })

  test('cannot be undone after another user has changed or removed it', async () => {
    const kind = await make()
    const page = await opened(kind)
    for (const isRemoved of [false, true]) {
      await press(page, kind.add)
      await kind.fill(page)
      await press(dialog(page), kind.submit)
      await dialogClosed(page)
      await button(page, kind.remove).waitFor()
      await (isRemoved ? kind.drop() : kind.put(MAY))
      await pressInToast(page, 'Undo')
      await page.locator('.toast', { hasText: STALE }).waitFor()
      expect(await kind.end()).toBe(isRemoved ? undefined : MAY)
      await press(page.locator('.toast', { hasText: STALE }), 'Dismiss')
      await page.locator('.toast', { hasText: STALE }).waitFor({ state: 'detached' })
      if (isRemoved) continue
      await kind.drop()
      await button(page, kind.remove).waitFor({ state: 'detached' })
    }
  })

  test('keeps an expiration time that another user changed until the page has shown it', async () => {
    const kind = await make()
    await kind.put(null)
    const page = await opened(kind)
    await press(page, `Change expiration: ${kind.what}`)
    await choose(dialog(page), /Expires/, 'in 7 days')
    await kind.put(MAY)
    await press(dialog(page), 'Change')
    await dialog(page).getByText(byNow(kind)).waitFor()
    expect(await kind.end()).toBe(MAY)
    await press(dialog(page), 'Change')
    await dialogClosed(page)
    const chosen = await kind.end()
    expect(Date.parse(chosen!)).toBeLessThan(Date.parse(MAY))

    await kind.put(JUNE)
    await pressInToast(page, `Expiration changed: ${kind.what} is valid until`)
    await page.locator('.toast', { hasText: STALE }).waitFor()
    expect(await kind.end()).toBe(JUNE)
  })

  test('is removed only with the expiration time that the page shows, and undo does not overwrite a new grant', async () => {
    const kind = await make()
    await kind.put(null)
    const page = await opened(kind)
    await press(page, kind.remove)
    await kind.put(MAY)
    await press(dialog(page), 'Remove')
    await dialog(page).getByText(byNow(kind)).waitFor()
    await expectAccessible(page)
    expect(await kind.end()).toBe(MAY)
    await press(dialog(page), 'Remove')
    await button(page, kind.remove).waitFor({ state: 'detached' })
    expect(await kind.end()).toBeUndefined()
    await kind.put(JUNE)
    await dialogClosed(page)
    await pressInToast(page, 'Undo')
    await page.locator('.toast', { hasText: STALE }).waitFor()
    expect(await kind.end()).toBe(JUNE)
  })

  test('cannot be removed if another user removed it concurrently', async () => {
    const kind = await make()
    await kind.put(MAY)
    const page = await opened(kind)
    await press(page, kind.remove)
    await dialog(page).waitFor()
    // The list cannot reload, so only the response to the removal reports the change.
    await page.route('**/*', route => (route.request().method() === 'GET' ? route.abort() : route.continue()))
    await kind.drop()
    await press(dialog(page), 'Remove')
    await dialog(page).getByText(`In the meantime, ${kind.what} was removed or expired.`).waitFor()
    expect(await button(dialog(page), 'Remove').isDisabled()).toBe(true)
    await page.unrouteAll()
  })
})

test('a group is moved only with the expiration times that the page shows, and always has the old or the new parent', async () => {
  const [outer, other, inner] = fresh('outer', 'other', 'inner')
  await verdict.groups(outer, other, inner)
  await verdict.nest(inner, { into: outer })
  const put = (group: string, end: string | null): Promise<Answer> =>
    verdict.put(`${groupPath(group)}/assign_group`, { group_instance_key: inner, expires_at: end })
  const ends = () => Promise.all([outer, other].map(group => firstExpiry(`${groupPath(group)}/children`)))
  const page = await open(`groups/${outer}/inside`, { refusals: [404, 412] })
  await press(page, `Move ${inner}`)
  await typeKey(page, 'New parent group', other)
  await put(outer, MAY)
  await press(dialog(page), 'Move')
  await sees(dialog(page), `Currently, the nesting of ${inner} in ${outer} is valid until 1 May 2090`)
  expect(await ends()).toEqual([MAY, undefined])
  await put(other, JUNE)
  await press(dialog(page), 'Move')
  await sees(dialog(page), `Currently, the nesting of ${inner} in ${other} is valid until 1 Jun 2090`)
  expect(await ends()).toEqual([MAY, JUNE])
  await press(dialog(page), 'Move')
  await button(page, `Move ${inner}`).waitFor({ state: 'detached' })
  expect(await ends()).toEqual([undefined, MAY])

  await pressInToast(page, `${inner} was moved from ${outer} to ${other}.`)
  await sees(page, 'Change undone.')
  expect(await ends()).toEqual([MAY, JUNE])
})

test('a conflict with the last of 1,100 roles of a group is detected', async () => {
  const [group, plan] = fresh('team', 'plan')
  await verdict.group(group)
  await verdict.grant(group, 'viewer', `document:${plan}-0`)
  const tuples = `${FACTS}/relationship_tuples`
  const { body } = await verdict.get<{ relation: string }[]>(`${tuples}?subject=group:${group}`)
  const { relation } = body[0]!
  const operations = Array.from({ length: 1_100 }, (_, index) => ({
    subject: `group:${group}`,
    relation,
    object: `document:${plan}-${index + 1}`,
    tenant: 'default',
    expires_at: MAY,
  }))
  await verdict.post(`${tuples}/bulk`, { operations })
  const page = await open(`groups/${group}/roles`, { refusals: [412] })
  await press(page, 'Grant role')
  await typeKey(page, 'Type', 'document')
  await typeKey(page, 'Role', 'viewer')
  await typeKey(page, 'Instance', `${plan}-1100`)
  await press(dialog(page), 'Grant')
  await sees(dialog(page), `Currently, the role viewer on document:${plan}-1100 is valid until 1 May 2090`)
})

const SELECTED = '.tree [role=row][aria-selected=true]'
/** Runs in the page: whether the selected row of the tree is visible without scrolling. */
const IS_IN_SIGHT = `(() => {
  const [row, tree] = ['${SELECTED}', '.tree'].map(each => document.querySelector(each).getBoundingClientRect())
  return row.top >= tree.top && row.bottom <= tree.bottom
})()`

test('the tree scrolls to the selected group when a search is cleared', async () => {
  const [top, inner, last] = fresh('a-top', 'inner', 'inner-last')
  await verdict.group(top)
  for (let index = 0; index < 40; index += 1) {
    const filler = `${inner}-${String(index).padStart(2, '0')}`
    await verdict.group(filler)
    await verdict.nest(filler, { into: top })
  }
  await verdict.group(last)
  await verdict.nest(last, { into: top })
  const page = await open('groups')
  const search = page.getByRole('searchbox')
  await search.fill(last)
  await sees(page, '1 of 1')
  await pressOn(row(page, last))
  await page.getByRole('heading', { level: 1, name: last }).waitFor()
  await sees(page, '1 of 1')
  const chosen = page.locator(SELECTED)
  for (let round = 0; round < 2; round += 1) {
    await search.fill('')
    await row(page, `${inner}-00`).waitFor()
    await expect.poll(() => chosen.innerText()).toContain(last)
    await expect.poll(() => page.evaluate(IS_IN_SIGHT)).toBe(true)
    expect(await chosen.getAttribute('aria-level')).toBe('2')
    // A collapsed parent is expanded again.
    await pressOn(row(page, top), 'ArrowLeft')
    await row(page, `${inner}-00`).waitFor({ state: 'detached' })
    await search.fill(last)
    await sees(page, '1 of 1')
  }
})

test('users with the keys "." and ".." can be members and have pages', async () => {
  const [group] = fresh('team')
  await verdict.group(group)
  await verdict.users('.', '..')
  await verdict.tenantRole('clerk', ['document:read'])
  await verdict.assign('..', 'clerk', 'default')
  const page = await open(`groups/${group}`, { refusals: [404] })
  const members = async (): Promise<string[]> =>
    (await verdict.get<Envelope<{ key: string }>>(`${groupPath(group)}/users`)).body.data.map(
      ({ key }) => key,
    )
  for (const user of ['.', '..']) {
    await press(page, 'Add member')
    await typeKey(page, 'User', user)
    await press(dialog(page), 'Add')
    await dialogClosed(page)
    await button(page, `Remove ${user}`).waitFor()
  }
  expect(await members()).toEqual(['.', '..'])
  await pressOn(page.getByRole('link', { name: '..', exact: true }))
  await page.getByRole('heading', { level: 1, name: '..', exact: true }).waitFor()
  await page.getByRole('row', { name: 'clerk' }).waitFor()
  await press(page, `Remove .. from ${group}`)
  await press(dialog(page), 'Remove')
  await button(page, `Remove .. from ${group}`).waitFor({ state: 'detached' })
  expect(await members()).toEqual(['.'])
  await goTo(page, 'access/users/user/..')
  await sees(page, 'clerk')

  // An unknown user with such a key is reported.
  await verdict.delete(`${FACTS}/bulk/users`, { idents: ['.'] })
  await goTo(page, `groups/${group}`)
  await press(page, 'Add member')
  await typeKey(page, 'User', '.')
  await press(dialog(page), 'Add')
  await page.locator('.field .problem', { hasText: 'there is no "."' }).waitFor()
})
