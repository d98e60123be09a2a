/** Clients that pause within a request. The HTTP library waits eleven seconds for each byte. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Scrape } from '#testing/requests/metrics.ts'
import { API_KEY, question, sharedService } from '#testing/processes/running-service.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'

const verdict = await sharedService()
const AUTHORIZATION = `Authorization: Bearer ${API_KEY}`

test.concurrent('an idle connection is closed, and its request is counted as aborted', async () => {
  const [inHead, inBody] = [await RawConnection.open(verdict.port), await RawConnection.open(verdict.port)]
  await inHead.send('POST /allowed HTTP/1.1\r\nHost: verdict\r\nX-Slow:')
  await inBody.send(requestText('POST /allowed', [AUTHORIZATION, 'Content-Length: 9'], '{'))
  await Promise.all([inHead.closed, inBody.closed])
  expect([await inHead.answer(), await inBody.answer()]).toEqual([null, null])
  const scrape = await Scrape.of(verdict.address)
  expect(scrape.sum('verdict_http_requests_total', { endpoint: 'isAllowed', status: 'aborted' })).toBe(1)
})

test.concurrent('a request with a slow body is processed as long as bytes keep arriving', async () => {
  const body = JSON.stringify(question('alice', 'read', 'document'))
  const connection = await RawConnection.open(verdict.port)
  await connection.send(requestText('POST /allowed', [AUTHORIZATION, `Content-Length: ${body.length}`]))
  const length = Math.ceil(body.length / 14)
  for (let from = 0; from < body.length; from += length) {
    await pause(1_000)
    await connection.send(body.slice(from, from + length))
  }
  expect((await connection.answer())?.status).toBe(200)
})
