/** Logout at the issuer (administration.md S14). */
import { describe, expect, test } from 'vitest'
import { LOGOUTS_AT_ONCE_MAX, SIGN_INS_AT_ONCE_MAX } from '#model/limits.ts'
import { CLIENT_ID, type Forgery, newKey } from '#testing/issuer/forging-issuer.ts'
import { signInAtIssuer } from './issuer-service.ts'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const SID = 'session-at-the-issuer'

/** A signed-in person with the session `SID` at the issuer. */
async function signedIn() {
  const opened = await signInAtIssuer()
  opened.issuer.person = { ...opened.issuer.person, sid: SID }
  await opened.signIn()
  const { issuer, clock } = opened
  const now = () => Math.floor(clock.now / 1_000)
  const token = (claims: object = {}, forgery: Forgery = {}) => {
    const usual = { iat: now(), exp: undefined, events: { [EVENT]: {} }, sub: 'ann', jti: 'a' }
    return issuer.token({ ...usual, ...claims }, { ...forgery, head: { typ: 'logout+jwt', ...forgery.head } })
  }
  return { ...opened, now, token }
}

describe('a logout token', () => {
  test.each<[name: string, claims: object, forgery: Forgery, rejection: string | null]>([
    ['with the subject', {}, {}, null],
    ['with the session', { sub: undefined, sid: SID }, {}, null],
    ['with the subject and another session', { sid: 'other' }, {}, null],
    ['of type JWT', {}, { head: { typ: 'JWT' } }, null],
    ['of the full type', {}, { head: { typ: 'application/logout+JWT' } }, null],
    ['without type', {}, { head: { typ: undefined } }, null],
    ['for several clients', { aud: ['other', CLIENT_ID] }, {}, null],
    ['of another type', {}, { head: { typ: 'at+jwt' } }, 'the header typ is not that of a logout token'],
    ['without signature', {}, { head: { alg: 'none' } }, 'its algorithm is not accepted'],
    ['signed with the secret of the client', {}, { head: { alg: 'HS256' } }, 'its algorithm is not accepted'],
    ['signed by an unknown key', {}, { key: newKey() }, 'the issuer publishes no key for it'],
    ['of another issuer', { iss: 'https://evil.example' }, {}, 'the claim iss is not valid'],
    ['for another client', { aud: 'other' }, {}, 'the claim aud is not valid'],
    ['without audience', { aud: undefined }, {}, 'the claim aud is not valid'],
    ['without events', { events: undefined }, {}, 'the claim events is not valid'],
    ['with another event', { events: { other: {} } }, {}, 'the claim events is not valid'],
    ['with events as a list', { events: [EVENT] }, {}, 'the claim events is not valid'],
    ['with an event that is no object', { events: { [EVENT]: true } }, {}, 'the claim events is not valid'],
    ['with a nonce', { nonce: 'a' }, {}, 'the claim nonce is not valid'],
    ['with a nonce that is null', { nonce: null }, {}, 'the claim nonce is not valid'],
    ['without subject and session', { sub: undefined }, {}, 'it has neither sub nor sid'],
    ['with a subject that is no text', { sub: 7, sid: SID }, {}, 'the claim sub is not valid'],
    ['without time', { iat: undefined }, {}, 'the claim iat is not valid'],
    ['with a time that is no number', { iat: 'now' }, {}, 'the claim iat is not valid'],
    ['that is no token', {}, { tamper: () => 'a.b' }, 'it is not a signed JWT'],
    ['that is too long', { padding: 'a'.repeat(16_384) }, {}, 'it is absent or longer than 16 KiB'],
    [
      'with another signature',
      {},
      { tamper: text => `${text.slice(0, text.lastIndexOf('.'))}.AAAA` },
      'the signature does not fit',
    ],
  ])('%s', async (_, claims, forgery, rejection) => {
    const { logOut, token, sessions, logged } = await signedIn()
    const received = logOut(token(claims, forgery))
    if (rejection === null) await received
    else {
      const message = `the logout token is not valid: ${rejection}`
      await expect(received).rejects.toMatchObject({ code: 'INVALID_INPUT', message })
      expect(logged).toEqual([{ reason: rejection }])
    }
    expect(sessions()).toHaveLength(rejection === null ? 0 : 1)
  })

  test.each([
    [{ iat: -149 }, true],
    [{ iat: -151 }, false],
    [{ iat: 150 }, true],
    [{ iat: 152 }, false],
    [{ exp: -29 }, true],
    [{ exp: -31 }, false],
    [{ nbf: 29 }, true],
    [{ nbf: 31 }, false],
  ])('with times at %j seconds from now is accepted: %s', async (offsets, isAccepted) => {
    const { logOut, token, now } = await signedIn()
    const times = Object.fromEntries(Object.entries(offsets).map(([name, at]) => [name, now() + at]))
    const received = logOut(token(times))
    await (isAccepted ? received : expect(received).rejects.toMatchObject({ code: 'INVALID_INPUT' }))
  })

  test('that names another person or session ends nothing, and neither does one that is older than the session', async () => {
    const { logOut, token, sessions, now } = await signedIn()
    await logOut(token({ sub: 'bob' }))
    await logOut(token({ sub: undefined, sid: 'other' }))
    await logOut(token({ iat: now() - 1 }))
    expect(sessions()).toHaveLength(1)
  })

  test('that is repeated ends no session that began later, even within the same second', async () => {
    const { logOut, token, sessions, signIn } = await signedIn()
    const sent = token()
    await logOut(sent)
    await signIn()
    await logOut(sent)
    expect(sessions()).toHaveLength(1)
  })

  test('that is absent is refused, and a logout while the issuer is down can be repeated', async () => {
    const { logOut, token, issuer, sessions, elapsed } = await signedIn()
    await expect(logOut(null)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    const sent = token()
    elapsed.ms += 300_000
    issuer.intercept = (_path, response) => (response.destroy(), true)
    await expect(logOut(sent)).rejects.toMatchObject({ code: 'OVERLOADED' })
    issuer.intercept = () => false
    await logOut(sent)
    expect(sessions()).toEqual([])
  })

  test('is accepted while the maximum number of sign-ins is in progress, and logouts have their own maximum', async () => {
    const { logOut, token, begin, finish, elapsed, sessions } = await signedIn()
    const [first] = sessions()
    const begun = []
    for (let count = 0; count <= SIGN_INS_AT_ONCE_MAX; count++) {
      elapsed.ms += 50
      begun.push(await begin())
    }
    const tokens = Array.from({ length: LOGOUTS_AT_ONCE_MAX + 1 }, (_, count) => token({ jti: `${count}` }))
    // All calls take their place before the first response of the issuer.
    const finished = begun.map(one => finish(one))
    const received = await Promise.allSettled(tokens.map(each => logOut(each)))
    const rejected = received.flatMap(each => (each.status === 'rejected' ? [each.reason] : []))
    expect(rejected).toMatchObject([{ code: 'OVERLOADED', limit: 'queue' }])
    expect(sessions().map(({ id }) => id)).not.toContain(first!.id)
    const failed = (await Promise.all(finished)).filter(page => page === 'sign-in?error=unavailable')
    expect(failed).toHaveLength(1)
    await logOut(tokens.at(-1)!)
  })

  test('is recorded in the audit log if it ended a session', async () => {
    const { logOut, token, entries, issuer } = await signedIn()
    await logOut(token({ sub: 'bob' }))
    await logOut(token())
    const input = { issuer: issuer.origin, subject: 'ann', sessions: 1 }
    expect(entries()).toMatchObject([{ operation: 'finishSignIn' }, { operation: 'receiveLogout', input }])
  })
})
