/** Response to a single decision. There are two possible responses, which are created once and reused. */
import type { PrebuiltReply } from '#http/message/answer.ts'
import type { Reply } from '#http/message/request-reply.ts'

/** `answers`: responses to a deny and to an allow. The decision is known, or promised. */
export function prebuiltResponse(
  answers: readonly PrebuiltReply[],
  decided: boolean | Promise<boolean>,
): Reply | Promise<Reply> {
  if (decided instanceof Promise) return decided.then(isAllowed => answers[Number(isAllowed)]!)
  return answers[Number(decided)]!
}
