/**
 * The process of `allocation.claim.ts`: measures the heap growth of warm checks, and of the same loop without
 * checks.
 */
import type { Query } from '#model/decision.ts'
import { ask } from '#testing/data/dataset.ts'
import { Drive } from '../data/drive.ts'
import { TextQuestion } from '#model/question.ts'
import { packed } from '#testing/engines/packed.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const [mode, checks] = [process.argv[2], Number(process.argv[3])]
const BATCH = 1_000
/** Number of passes after which the code is optimized and scratch lists have reached their final size. */
const WARM_PASSES = 12

const drive = new Drive('small', 0.01)
const engine = new SharedEngine()
engine.apply([...drive.things()])
engine.apply([...drive.facts()])
const denied = drive.candidates(BATCH / 2, 'denied')
const unknown = Array.from({ length: 8 }, (_, n) => ask(`nobody-${n}`, 'read', 'document', 'doc-1'))
const questions: Query[] = [...drive.candidates(BATCH / 2 - 8, 'allowed'), ...denied, ...unknown]
const bodies = questions.map(question => packed([question]))
const { reader } = engine
const count = { allowed: 0 }

function checkSingly(): void {
  for (let pass = 0; pass < checks / BATCH; pass++) {
    for (let i = 0; i < questions.length; i++) if (reader.evaluate(questions[i]!)) count.allowed += 1
  }
}

function checkSinglyFromBytes(): void {
  for (let pass = 0; pass < checks / BATCH; pass++) {
    for (let i = 0; i < bodies.length; i++)
      if (reader.evaluateWithin(bodies[i]!, Infinity)) count.allowed += 1
  }
}

/**
 * Checks in batches. The engine allocates the list of results for the caller. It must not allocate anything
 * else.
 */
function checkStaged(): void {
  for (let pass = 0; pass < checks / BATCH; pass++) {
    const answers = reader.evaluateAll(new TextQuestion(questions))
    for (let i = 0; i < answers.length; i++) if (answers[i]!) count.allowed += 1
  }
}

function doNothing(): void {
  for (let pass = 0; pass < checks / BATCH; pass++) {
    for (let i = 0; i < questions.length; i++) if (questions[i]!.user === '') count.allowed += 1
  }
}

/** Allocates the same lists of results as the staged checks, and nothing else. */
function makeAnswers(): void {
  for (let pass = 0; pass < checks / BATCH; pass++) {
    const answers = questions.map(() => false)
    for (let i = 0; i < answers.length; i++) if (answers[i]!) count.allowed += 1
  }
}

/**
 * Number of bytes that `work` allocates. The bytes must fit into the young generation, because a garbage
 * collection would hide them.
 */
function bytesOf(work: () => void): number {
  globalThis.gc!()
  const before = process.memoryUsage().heapUsed
  work()
  return process.memoryUsage().heapUsed - before
}

const MODES = {
  single: [checkSingly, doNothing],
  'single, from bytes,': [checkSinglyFromBytes, doNothing],
  staged: [checkStaged, makeAnswers],
} as const
const [check, other] = MODES[mode as keyof typeof MODES]
for (let pass = 0; pass < WARM_PASSES; pass++) {
  bytesOf(check)
  bytesOf(other)
}
count.allowed = 0
const checking = bytesOf(check)
const { allowed } = count
process.stdout.write(JSON.stringify({ checking, idle: bytesOf(other), allowed }))
