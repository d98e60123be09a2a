/** The words behind a status. */
import { STATUS_CODES } from 'node:http'
import { expect, test } from 'vitest'
import { REASON_PHRASES } from '#http/message/reason-phrases.ts'

test('every status that ends a request has the phrase that Node gives it', () => {
  const ofNode = Object.entries(STATUS_CODES).filter(([status]) => Number(status) >= 200)
  expect(Object.entries(REASON_PHRASES)).toEqual(ofNode)
})
