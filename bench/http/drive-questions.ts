/** Checks on the drive as requests in each dialect. Plain Maps determine the correct responses. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PlainMaps } from '../lib/plain-maps.ts'
import type { Query } from '#model/decision.ts'
import { Drive } from '../data/drive.ts'
import type { WireRequest } from '../lib/load-generator.ts'

export interface Question {
  readonly query: Query
  readonly isAllowed: boolean
}

/** The drive with the same content as in the service. */
export function wholeDrive(scale: number): Drive {
  return new Drive('W1', scale)
}

/** Version of the cached decisions. Increment it when the dataset or the checks change. */
const VERSION = 1

/**
 * Returns `count` allowed and `count` denied checks. The decisions of the baseline are cached in the
 * temporary directory, because loading millions of facts into the baseline takes half a minute.
 */
export function driveQuestions(drive: Drive, count: number): { allowed: Question[]; denied: Question[] } {
  const name = `verdict-bench-questions-${drive.documents}-${count}-${VERSION}.json`
  const file = join(tmpdir(), name)
  if (!existsSync(file)) writeFileSync(file, JSON.stringify(judgedQuestions(drive, count)))
  return JSON.parse(readFileSync(file, 'utf8')) as ReturnType<typeof judgedQuestions>
}

function judgedQuestions(drive: Drive, count: number): { allowed: Question[]; denied: Question[] } {
  const engine = new PlainMaps()
  engine.apply(drive.things())
  engine.apply(drive.facts())
  const ask = (kind: 'allowed' | 'denied'): Question[] =>
    drive
      .candidates(count * 2, kind)
      .map(query => ({ query: { ...query, tenant: 'default' }, isAllowed: engine.evaluate(query) }))
      .filter(({ isAllowed }) => isAllowed === (kind === 'allowed'))
      .slice(0, count)
  return { allowed: ask('allowed'), denied: ask('denied') }
}

/** Returns allowed and denied checks alternately. */
export function mixed({ allowed, denied }: { allowed: Question[]; denied: Question[] }): Question[] {
  return allowed.flatMap((question, index) => [question, denied[index]!])
}

function nativeCheck({ user, action, type, key, tenant }: Query): object {
  return { user: { key: user }, action, resource: { type, key, tenant } }
}

export function singleRequests(questions: readonly Question[]): WireRequest[] {
  return questions.map(({ query, isAllowed }) => ({
    path: '/allowed',
    body: JSON.stringify(nativeCheck(query)),
    isRight: answer => (answer as { allow?: unknown }).allow === isAllowed,
  }))
}

/** Returns `count` bulks of this size. Each bulk has another combination of checks. */
export function bulkRequests(questions: readonly Question[], size: number, count: number): WireRequest[] {
  return slices(questions, size, count).map(slice => ({
    path: '/allowed/bulk',
    body: JSON.stringify(slice.map(({ query }) => nativeCheck(query))),
    isRight: answer => {
      const { allow } = answer as { allow: { allow: boolean }[] }
      return allow.length === size && allow.every((one, index) => one.allow === slice[index]!.isAllowed)
    },
  }))
}

/** Batches with defaults. The subject is a default, and each item has an action and a resource. */
export function evaluationRequests(
  questions: readonly Question[],
  size: number,
  count: number,
): WireRequest[] {
  return slices(questions, size, count).map(slice => ({
    path: '/access/v1/evaluations',
    body: JSON.stringify({
      action: { name: 'read' },
      context: { time: '2026-01-01T00:00:00Z' },
      evaluations: slice.map(({ query }) => ({
        subject: { type: 'user', id: query.user },
        ...(query.action !== 'read' && { action: { name: query.action } }),
        resource: { type: query.type, id: query.key },
      })),
    }),
    isRight: answer => {
      const { evaluations } = answer as { evaluations: { decision: boolean }[] }
      const isSame = (one: { decision: boolean }, index: number) => one.decision === slice[index]!.isAllowed
      return evaluations.length === size && evaluations.every(isSame)
    },
  }))
}

function slices(questions: readonly Question[], size: number, count: number): Question[][] {
  return Array.from({ length: count }, (_, start) =>
    Array.from({ length: size }, (_unused, index) => questions[(start * size + index) % questions.length]!),
  )
}
