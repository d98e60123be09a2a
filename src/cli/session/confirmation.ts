/** Asks the user for confirmation. Without a terminal, the operation is not confirmed. */
import { createInterface } from 'node:readline/promises'
import type { Session } from './session.ts'

/** Whether the user answers yes. */
export async function confirm(session: Session, question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await answerTo(session, `${question} [y/N] `)) ?? '')
}

/** Whether the user types the given name. Used to confirm operations that cannot be undone. */
export async function isNameTyped(session: Session, name: string, what: string): Promise<boolean> {
  return (await answerTo(session, `Type ${name} to ${what}: `)) === name
}

/** Whether there is a terminal on which the user can answer. */
export function canConfirm({ streams }: Session): boolean {
  return streams.stdin.isTTY === true && streams.stderr.isTTY === true
}

/** Reads an answer from the terminal. Returns null if there is no terminal. */
async function answerTo(session: Session, question: string): Promise<string | null> {
  if (!canConfirm(session)) return null
  const { streams } = session
  const prompt = createInterface({ input: streams.stdin, output: streams.stderr })
  try {
    return (await prompt.question(question)).trim()
  } finally {
    prompt.close()
  }
}
