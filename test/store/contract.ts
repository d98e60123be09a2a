/** Contract of every ledger. An adapter names the parts that it does not support, with the reasons. */
import { describe, onTestFinished } from 'vitest'
import { describeCommitIds, describeCommits } from './commit-contract.ts'
import { describeEnds } from './end-contract.ts'
import { describeFeed } from './feed-contract.ts'
import { describeHistories } from './history-contract.ts'
import type { Exceptions, OpenLedger } from './ledger-under-test.ts'
import { describeRows } from './rows-contract.ts'

export function describeLedger(name: string, open: OpenLedger, exceptions: Exceptions = {}): void {
  const start: OpenLedger = async options => {
    const subject = await open(options)
    onTestFinished(() => subject.dispose())
    return subject
  }

  describe(`${name}: commits`, () => describeCommits(start, exceptions))
  describe(`${name}: commit ids`, () => describeCommitIds(start))
  describe(`${name}: rows and lists`, () => describeRows(start))
  describe(`${name}: shutdown and limits`, () => describeEnds(start, exceptions))
  describe(`${name}: feed`, () => describeFeed(start))
  describe(`${name}: random histories`, () => describeHistories(open))
}
