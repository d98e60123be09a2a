/** The reason phrases of HTTP responses. */
import { STATUS_CODES } from 'node:http'
import { expect, test } from 'vitest'
import { REASON_PHRASES } from '#http/message/reason-phrases.ts'

test('every final status has the reason phrase of Node.js', () => {
  const ofNode = Object.entries(STATUS_CODES).filter(([status]) => Number(status) >= 200)
  expect(Object.entries(REASON_PHRASES)).toEqual(ofNode)
})
