/** Names and attributes of the cookies of the console, and replies that set several cookies. */
import { expect, test } from 'vitest'
import { encodeReply } from '#http/message/answer.ts'
import { cookiesIn, SessionCookies } from '#model/sign-in/session-cookies.ts'

test('cookies are bound to the host and to TLS, except for an http address', () => {
  const secure = new SessionCookies('https://verdict.example.com/base')
  const session = { secret: 's', begun: { epoch: 'e', sequence: 7 } }
  expect([secure.session(session), secure.signIn(`${secure.signInPrefix}00000000`, 't', 600)]).toEqual([
    '__Host-verdict-session=s.e.7; Path=/; Secure; HttpOnly; SameSite=Strict',
    '__Host-verdict-sign-in-00000000=t; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600',
  ])
  const local = new SessionCookies('http://127.0.0.1:7766')
  expect([local.withoutSession(), local.withoutSignIn('verdict-sign-in-00000000')]).toEqual([
    'verdict-session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    'verdict-sign-in-00000000=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
  ])
})

test('a Cookie header is read with repeated names and without parts that are not cookies', () => {
  expect(cookiesIn('a=1; b=x=y;a=2 ; c')).toEqual([
    ['a', '1'],
    ['b', 'x=y'],
    ['a', '2'],
  ])
  expect(cookiesIn(undefined)).toEqual([])
})

test('a reply sets each cookie in its own header, and rejects a cookie with a line break', () => {
  const reply = (cookies: string[]) => encodeReply({ status: 200, body: undefined, headers: {}, cookies })
  expect(reply(['a=1', 'b=2']).headers).toEqual({ 'Set-Cookie': 'a=1\r\nSet-Cookie: b=2' })
  expect(() => reply(['a=1\r\nX: y'])).toThrow('Set-Cookie')
})
