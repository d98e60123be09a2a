/** Clients whose management requests wait for a slot are checked again before the request runs. */
import { expect, test } from 'vitest'
import type { ManagementReply } from '#management/management-service.ts'
import type { RequestClient } from '#model/caller.ts'
import { AuthzError } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import { READS_UNDER_WAY_MAX } from '#threads/channel/management-admission.ts'
import { ManagementClient } from '#threads/channel/management-client.ts'
import type { FromHttpThread } from '#threads/channel/messages.ts'
import { Outbox } from '#threads/channel/outbox.ts'
import { createSharedCounts, SharedCount } from '#threads/channel/shared-count.ts'

const ADMIN: Principal = { kind: 'organization', organizationId: 'o', keyId: 'k', level: 'admin' }
const READER: Principal = { ...ADMIN, level: 'read' }
const REPLY: ManagementReply = { json: '[]', isCreated: false, warning: null, revision: '1' }

/** A client of an HTTP thread, and the requests that the main thread receives from it. */
function requested() {
  const received: Extract<FromHttpThread, { kind: 'manage' }>[] = []
  const outbox = new Outbox<FromHttpThread>({
    postMessage: messages => received.push(...messages.filter(each => each.kind === 'manage')),
  })
  const inFlight = new SharedCount(createSharedCounts(), 'management')
  const streams = null as never // No request of these tests opens a stream.
  const client = new ManagementClient(outbox, { inFlight, max: 100, threads: 1 }, streams)
  const ask = (identifyAgain: () => Principal | null, isRead: boolean) => {
    let over = (): void => {}
    const caller: RequestClient = {
      isGone: false,
      bodyBytes: isRead ? 0 : 16_777_216,
      whenOver: listener => (over = listener),
      identifyAgain,
    }
    const request = {
      about: 'organization',
      operation: 'listProjects',
      principal: ADMIN,
      requestId: 'r',
      claim: null,
      input: { params: {}, query: {}, body: undefined },
    } as never
    const answer = client.execute(request, { caller, isRead })
    return { answer, end: () => over() }
  }
  const arrived = async () => {
    await new Promise(resolve => setImmediate(resolve))
    await new Promise(resolve => setImmediate(resolve))
    return received
  }
  return { client, ask, arrived }
}

test.each([
  ['read', true, READS_UNDER_WAY_MAX],
  ['change', false, 1],
])(
  'a %s that waited is sent with the present rights, or rejected without them',
  async (_, isRead, running) => {
    const { client, ask, arrived } = requested()
    const first = Array.from({ length: running }, () => ask(() => ADMIN, isRead))
    const lowered = ask(() => READER, isRead)
    const ended = ask(() => {
      throw new AuthzError('UNAUTHENTICATED', 'the session has ended')
    }, isRead)
    const rejected = expect(ended.answer).rejects.toMatchObject({ code: 'UNAUTHENTICATED' })
    expect(await arrived()).toHaveLength(running)

    for (const [index, { answer, end }] of first.entries()) {
      client.receive(index + 1, REPLY)
      await answer
      end()
    }
    const sent = await arrived()
    expect(sent[running]!.request).toMatchObject({ principal: READER })
    client.receive(sent[running]!.call, REPLY)
    await lowered.answer
    lowered.end()
    await rejected
    ended.end()
    expect(await arrived()).toHaveLength(running + 1)
    // The rejected request has given its slot back.
    const next = ask(() => ADMIN, isRead)
    expect(await arrived()).toHaveLength(running + 2)
    client.receive(running + 2, REPLY)
    expect(await next.answer).toMatchObject({ json: '[]' })
  },
)
