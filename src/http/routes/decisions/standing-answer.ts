/** The answer to a single decision, of which there are two: made once, and given again and again. */
import type { StandingReply } from '#http/message/answer.ts'
import type { Reply } from '#http/message/request-reply.ts'

/** `answers`: to a deny and to an allow. For a decision that is known, or promised. */
export function standingAnswer(
  answers: readonly StandingReply[],
  decided: boolean | Promise<boolean>,
): Reply | Promise<Reply> {
  if (decided instanceof Promise) return decided.then(isAllowed => answers[Number(isAllowed)]!)
  return answers[Number(decided)]!
}
