/** Asks the person at the terminal. Where nobody sits at one, nobody is asked, and the answer is no. */
import { createInterface } from 'node:readline/promises'
import type { Session } from './session.ts'

/** Whether the question is answered with yes. */
export async function isAgreed(session: Session, question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await answerTo(session, `${question} [y/N] `)) ?? '')
}

/** Whether the name is typed: of what cannot be brought back. */
export async function isNameTyped(session: Session, name: string, what: string): Promise<boolean> {
  return (await answerTo(session, `Type ${name} to ${what}: `)) === name
}

/** `null`: nobody sits there. */
async function answerTo({ streams }: Session, question: string): Promise<string | null> {
  if (streams.stdin.isTTY !== true || streams.stderr.isTTY !== true) return null
  const prompt = createInterface({ input: streams.stdin, output: streams.stderr })
  try {
    return (await prompt.question(question)).trim()
  } finally {
    prompt.close()
  }
}
