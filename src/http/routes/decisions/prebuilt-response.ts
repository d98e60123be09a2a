/** Response to a single decision. Only two responses are possible. They are created once and reused. */
import type { PrebuiltReply } from '#http/message/answer.ts'
import type { Reply } from '#http/message/request-reply.ts'
import type { Verdicts } from '#model/question.ts'

/**
 * Selects the response to a decision or to a promise of a decision. `answers`: responses to a deny (index 0)
 * and to an allow (index 1).
 */
export function prebuiltResponse(
  answers: readonly PrebuiltReply[],
  decided: Verdicts | Promise<Verdicts>,
): Reply | Promise<Reply> {
  if (decided instanceof Promise) return decided.then(verdicts => answers[verdicts[0]!]!)
  return answers[decided[0]!]!
}
