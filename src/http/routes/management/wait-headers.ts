/**
 * Headers of facts written through a decision point (native.md A.8). They say how long to wait for the change
 * to be in force; here it is before the answer leaves, so they are checked and have no effect.
 */
import { TIMEOUT_POLICY, WAIT_TIMEOUT } from '#http/message/header-fields.ts'
import { AuthzError } from '#model/errors.ts'
import type { CheckedHeaders } from './managed.ts'

/** Throws `INVALID_INPUT` for a value that means nothing. An empty or negative timeout means no limit. */
function checkWaitHeaders(headers: ReadonlyMap<string, string>): void {
  const timeout = headers.get('x-wait-timeout')?.trim() ?? ''
  if (timeout !== '' && !Number.isFinite(Number(timeout))) {
    throw new AuthzError('INVALID_INPUT', 'X-Wait-Timeout is a number of seconds')
  }
  const policy = headers.get('x-timeout-policy')
  if (policy !== undefined && policy !== 'ignore' && policy !== 'fail') {
    throw new AuthzError('INVALID_INPUT', 'X-Timeout-Policy is ignore or fail')
  }
}

export const WAIT_HEADERS: CheckedHeaders = {
  fields: [WAIT_TIMEOUT, TIMEOUT_POLICY],
  check: checkWaitHeaders,
}
