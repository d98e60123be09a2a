/** Texts of the load test report. */
import autocannon from 'autocannon'
import { clientText } from '#testing/requests/client-busy.ts'
import type { Driven, WrongAnswers } from './drive.ts'
import type { Mode } from './modes.ts'

/** Describes wrong responses. Returns an empty text if there are none. */
export function wrongText({ count, told }: WrongAnswers, when: string): string {
  return count === 0
    ? ''
    : [`WRONG ANSWERS ${when}: ${count}`, ...told.map(each => `  ${each}`), ''].join('\n')
}

/** Returns the tables of autocannon, and figures that these tables do not contain. */
export function reportText({ checks }: Mode, driven: Driven): string {
  const { result, wrong, busy, cpus } = driven
  // The types of autocannon lack the option `outputStream`.
  const options = { outputStream: process.stdout, renderStatusCodes: true }
  const tables = autocannon.printResult(result, options)
  const rate = checks === 1 ? '' : `${Math.round(result.requests.average * checks)} checks a second\n`
  const { errors, timeouts } = result
  const missing = errors === 0 ? '' : `NO ANSWER: ${errors} requests, ${timeouts} of them after ten seconds\n`
  return `${tables}${rate}${clientText(busy, cpus)}${wrongText(wrong, 'under load')}${missing}`
}
