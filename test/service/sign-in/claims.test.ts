/** Identity and groups in the claims of the issuer (administration.md S10, S12). */
import { describe, expect, test } from 'vitest'
import type { Claims } from '#sign-in/issuer.ts'
import { IssuerError } from '#sign-in/issuer-error.ts'
import { identityFrom } from '#sign-in/claims.ts'
import { signInAtIssuer } from './issuer-service.ts'

const person = { sub: 'ann', name: 'Ann Lee', email: 'ann@example.com', email_verified: true }
const long = 'ö'.repeat(129)
const many = Array.from({ length: 1_001 }, (_, index) => `g${index}`)

function identityOf(claims: object, info: object | Error | null, groupsClaim: string | null = 'groups') {
  const requests = { count: 0 }
  const idToken = { iss: 'https://id.example.com', ...claims } as unknown as Claims['idToken']
  const userInfo = async () => {
    requests.count += 1
    if (info instanceof Error) throw info
    return info as Awaited<ReturnType<Claims['userInfo']>>
  }
  const read = identityFrom({ idToken, userInfo }, { groupsClaim, scopes: 'openid profile email' })
  return read.then(identity => ({ ...identity, requests: requests.count }))
}

describe('groups', () => {
  test.each<[string, object, object | null, string[], boolean, number]>([
    ['are a list', { groups: ['a', 'b'] }, null, ['a', 'b'], false, 0],
    ['are a text', { groups: 'a' }, null, ['a'], false, 0],
    ['are empty', { groups: [] }, { groups: ['a'] }, [], false, 0],
    ['come from UserInfo if the token has none', {}, { groups: ['a'] }, ['a'], false, 1],
    ['are absent everywhere', {}, {}, [], false, 1],
    ['are absent without a UserInfo endpoint', {}, null, [], false, 1],
    ['are a number', { groups: 7 }, null, [], true, 1],
    ['are a list with a number', { groups: ['a', 7] }, null, [], true, 1],
    ['are an object', { groups: { a: true } }, null, [], true, 1],
    ['are elsewhere', { _claim_names: { groups: 'src1' } }, {}, [], true, 1],
    ['are too many', { groups: many }, null, many.slice(0, 1_000), true, 0],
    ['have too long names', { groups: [long, 'a'] }, null, ['a'], true, 0],
  ])('that %s', async (_, claims, info, groups, areGroupsCut, requests) => {
    expect(await identityOf({ ...person, ...claims }, info)).toMatchObject({ groups, areGroupsCut, requests })
  })

  test.each([
    ['/realm_access/roles', { realm_access: { roles: ['a'] } }, ['a']],
    ['/a~1b/m~0n', { 'a/b': { 'm~n': ['a'] } }, ['a']],
    ['https://example.com/groups', { 'https://example.com/groups': ['a'] }, ['a']],
    ['/constructor/name', {}, []],
    ['__proto__', {}, []],
  ])('are found at %s', async (groupsClaim, claims, groups) => {
    expect(await identityOf({ ...person, ...claims }, null, groupsClaim)).toMatchObject({ groups })
  })
})

describe('a person', () => {
  test('has an address that is verified only if its source states this', async () => {
    const info = { email: 'a@example.com', email_verified: true, name: 'A' }
    expect(await identityOf({ sub: 'ann' }, info, null)).toMatchObject({
      email: 'a@example.com',
      isEmailVerified: true,
      name: 'A',
    })
    const mixed = await identityOf({ sub: 'ann', email: 'b@example.com' }, info, null)
    expect(mixed).toMatchObject({ email: 'b@example.com', isEmailVerified: false })
    const text = await identityOf({ ...person, email_verified: 'true' }, null, null)
    expect(text.isEmailVerified).toBe(false)
  })

  test.each([
    [new IssuerError('unavailable', 'down'), {}, 'resolves'],
    [new IssuerError('failed', 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'), {}, 'rejects'],
    [new IssuerError('unavailable', 'down'), { groupsClaim: 'groups' }, 'rejects'],
  ] as const)(
    'whose UserInfo is %s with %j: %s',
    async (error, { groupsClaim = null }: { groupsClaim?: string | null }, result) => {
      const read = identityOf({ sub: 'ann' }, error, groupsClaim)
      await (result === 'resolves'
        ? expect(read).resolves.toMatchObject({ name: null })
        : expect(read).rejects.toBe(error))
    },
  )

  test('is refused if UserInfo is about another person, and otherwise gets the groups there', async () => {
    const owners = { owners: new Set<string>(), ownerGroups: new Set(['root']) }
    const { issuer, signIn, sessions } = await signInAtIssuer({ groupsClaim: 'groups', owners })
    issuer.userInfo = { sub: 'eve', groups: ['root'] }
    expect(await signIn()).toBe('sign-in?error=failed')
    issuer.userInfo = { sub: 'ann', groups: ['root'] }
    await signIn()
    expect(sessions()).toMatchObject([
      { groups: ['root'], endSessionUrl: `${issuer.origin}/logout?client_id=verdict` },
    ])
  })
})
