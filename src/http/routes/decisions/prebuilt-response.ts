/** Response to a single decision. Only two responses are possible. They are created once and reused. */
import type { PrebuiltReply } from '#http/message/answer.ts'
import type { Reply } from '#http/message/request-reply.ts'

/**
 * Selects the response to a decision or to a promise of a decision. `answers`: responses to a deny (index 0)
 * and to an allow (index 1).
 */
export function prebuiltResponse(
  answers: readonly PrebuiltReply[],
  decided: boolean | Promise<boolean>,
): Reply | Promise<Reply> {
  if (decided instanceof Promise) return decided.then(isAllowed => answers[Number(isAllowed)]!)
  return answers[Number(decided)]!
}
