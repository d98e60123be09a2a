/** Requests with an unknown key that wait for a revision that can contain the key: checks and limit. */
import { expect, test } from 'vitest'
import type { Principal } from '#model/principal.ts'
import { viewOf } from '#http/message/byte-views.ts'
import { Dispatcher, UNKNOWN_WAITERS_MAX } from '#http/routing/dispatch.ts'
import { HeaderList } from '#http/message/header-list.ts'
import { routes } from '#testing/requests/routes.ts'

const principal: Principal = {
  kind: 'environment',
  organizationId: 'o',
  projectId: 'p',
  projectKey: 'p',
  environmentId: 'e',
  environmentKey: 'e',
  keyId: 'k',
  level: 'admin',
}

/** A dispatcher that knows the key after `arrive` is called. */
function waitingDispatcher(takeRate: () => boolean) {
  const state = Promise.withResolvers<void>()
  const known = { is: false }
  const dispatcher = new Dispatcher(routes, () => (known.is ? principal : null), {
    hasStrictHeaders: false,
    takeRate,
    largeBodies: null,
    sessions: null,
    minRevision: {
      isReached: () => false,
      isAhead: () => true,
      reached: async (_, identify) => {
        await state.promise
        identify()
      },
    },
  })
  const ask = async (contentType = 'application/json') => {
    const headers = new HeaderList()
    headers.add('authorization', 'Bearer key')
    headers.add('content-type', contentType)
    headers.add('x-min-revision', 'a.1')
    const head = { method: 'POST', path: '/access/v1/evaluation', query: '', headers }
    const match = dispatcher.find(head)
    const caller = {
      isGone: false,
      bodyBytes: 0,
      whenOver: () => {},
      identifyAgain: () => null,
      requestId: '',
      traceparent: null,
    }
    const admitted = { principal: dispatcher.admit(match, head), caller }
    const body = {
      subject: { type: 'user', id: 'u' },
      action: { name: 'read' },
      resource: { type: 'doc', id: '1' },
    }
    const bytes = Buffer.from(JSON.stringify(body))
    expect(dispatcher.callerOf(match, admitted, head)?.keyId ?? null).toBe(known.is ? 'k' : null)
    return dispatcher.answer(match, admitted, head, viewOf(bytes))
  }
  const arrive = (): void => {
    known.is = true
    state.resolve()
  }
  return { ask, arrive }
}

test('rate limit and content type are checked when the key of a waiting request becomes known', async () => {
  const limited = waitingDispatcher(() => false)
  const beyond = limited.ask()
  limited.arrive()
  await expect(beyond).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  const unlimited = waitingDispatcher(() => true)
  const odd = unlimited.ask('text/plain')
  unlimited.arrive()
  await expect(odd).rejects.toMatchObject({ code: 'MALFORMED_REQUEST' })
})

test('the number of waiting requests with unknown keys is limited, and later requests are accepted again', async () => {
  const { ask, arrive } = waitingDispatcher(() => false)
  const waiting = Array.from({ length: UNKNOWN_WAITERS_MAX }, () => ask())
  await expect(ask()).rejects.toMatchObject({ code: 'OVERLOADED', limit: 'waiting' })
  arrive()
  const codes = (await Promise.allSettled(waiting)).map(
    each => each.status === 'rejected' && each.reason.code,
  )
  expect(new Set(codes)).toEqual(new Set(['RATE_LIMITED']))
  await expect(ask()).rejects.toMatchObject({ code: 'RATE_LIMITED' })
})
