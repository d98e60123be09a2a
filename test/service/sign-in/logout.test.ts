/** Logout at the issuer (administration.md S14). */
import { describe, expect, test } from 'vitest'
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
  test.each<[string, object, Forgery, boolean]>([
    ['with the subject', {}, {}, true],
    ['with the session', { sub: undefined, sid: SID }, {}, true],
    ['with the subject and another session', { sid: 'other' }, {}, true],
    ['of type JWT', {}, { head: { typ: 'JWT' } }, true],
    ['of the full type', {}, { head: { typ: 'application/logout+JWT' } }, true],
    ['without type', {}, { head: { typ: undefined } }, true],
    ['for several clients', { aud: ['other', CLIENT_ID] }, {}, true],
    ['of another type', {}, { head: { typ: 'at+jwt' } }, false],
    ['without signature', {}, { head: { alg: 'none' } }, false],
    ['signed with the secret of the client', {}, { head: { alg: 'HS256' } }, false],
    ['signed by an unknown key', {}, { key: newKey() }, false],
    ['of another issuer', { iss: 'https://evil.example' }, {}, false],
    ['for another client', { aud: 'other' }, {}, false],
    ['without audience', { aud: undefined }, {}, false],
    ['without events', { events: undefined }, {}, false],
    ['with another event', { events: { other: {} } }, {}, false],
    ['with events as a list', { events: [EVENT] }, {}, false],
    ['with an event that is no object', { events: { [EVENT]: true } }, {}, false],
    ['with a nonce', { nonce: 'a' }, {}, false],
    ['with a nonce that is null', { nonce: null }, {}, false],
    ['without subject and session', { sub: undefined }, {}, false],
    ['with a subject that is no text', { sub: 7, sid: SID }, {}, false],
    ['without time', { iat: undefined }, {}, false],
    ['with a time that is no number', { iat: 'now' }, {}, false],
    ['that is no token', {}, { tamper: () => 'a.b' }, false],
    ['that is too long', { padding: 'a'.repeat(16_384) }, {}, false],
  ])('%s', async (_, claims, forgery, isAccepted) => {
    const { logOut, token, sessions } = await signedIn()
    const received = logOut(token(claims, forgery))
    if (isAccepted) await received
    else await expect(received).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(sessions()).toHaveLength(isAccepted ? 0 : 1)
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

  test('is recorded in the audit log if it ended a session', async () => {
    const { logOut, token, entries, issuer } = await signedIn()
    await logOut(token({ sub: 'bob' }))
    await logOut(token())
    const input = { issuer: issuer.origin, subject: 'ann', sessions: 1 }
    expect(entries()).toMatchObject([{ operation: 'finishSignIn' }, { operation: 'receiveLogout', input }])
  })
})
