/**
 * Headers that clients send when they write facts through a decision point (native.md A.8). The headers limit
 * how long such a client waits until its change takes effect. In this service, a change takes effect before
 * the response is sent. The headers are therefore validated and then ignored.
 */
import { TIMEOUT_POLICY, WAIT_TIMEOUT } from '#http/message/header-fields.ts'
import { AuthzError } from '#model/errors.ts'
import type { CheckedHeaders } from './managed.ts'

/** Throws `INVALID_INPUT` for invalid values. An empty or negative timeout means no limit. */
function checkWaitHeaders(headers: ReadonlyMap<string, string>): void {
  const timeout = headers.get('x-wait-timeout')?.trim() ?? ''
  if (timeout !== '' && !Number.isFinite(Number(timeout))) {
    throw new AuthzError('INVALID_INPUT', 'X-Wait-Timeout must be a number of seconds')
  }
  const policy = headers.get('x-timeout-policy')
  if (policy !== undefined && policy !== 'ignore' && policy !== 'fail') {
    throw new AuthzError('INVALID_INPUT', 'X-Timeout-Policy must be ignore or fail')
  }
}

export const WAIT_HEADERS: CheckedHeaders = {
  fields: [WAIT_TIMEOUT, TIMEOUT_POLICY],
  check: checkWaitHeaders,
}
