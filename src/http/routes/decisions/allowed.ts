/** `/allowed` and `/allowed/bulk`: the native decision interface (native.md A.2, A.3). */
import { debugText, type ExplainedDecision } from '#decisions/rules/decision-debug.ts'
import type { AskingClient, CancelableClient } from '#model/caller.ts'
import type { DecisionService } from '#decisions/decision-service.ts'
import { queryOf } from '#decisions/dialects/native-query.ts'
import { BulkReader } from '#http/bytes/bulk-reader.ts'
import { NATIVE } from '#http/bytes/dialects.ts'
import { SingleReader } from '#http/bytes/single-reader.ts'
import { PrebuiltReply } from '#http/message/answer.ts'
import { REQUIRED_REQUEST_ID } from '#http/message/header-fields.ts'
import { RawJson, type Reply } from '#http/message/request-reply.ts'
import { environmentOf } from '#http/routing/route-access.ts'
import type { AnswersOfParts } from '#http/routing/large-answers.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import type { Query } from '#model/decision.ts'
import { PackedQueries } from '#model/packed-queries.ts'
import { type Principal, reaches } from '#model/principal.ts'
import { TextQuestion } from '#model/question.ts'
import {
  AllowedQuery,
  AllowedResult,
  BulkAllowedResult,
  BulkAuthorizationQuery,
  ExplainedResult,
  ExplainQuery,
} from '#model/wire/decisions/decision.ts'
import { bulkAnswer, replyWith } from './bulk-answer.ts'
import { presentForm, presentForms } from './older-questions.ts'
import { prebuiltResponse } from './prebuilt-response.ts'

export interface AllowedOptions {
  /** Whether responses contain the reasons of decisions. Off by default because it takes time. */
  readonly hasDebug: boolean
  /**
   * Whether common bodies are read directly from their bytes. Must be false with `hasDebug`, because the
   * response then repeats the query, which would not be available.
   */
  readonly hasBytesPath: boolean
  readonly bulkChecksMax: number
  /** See `BulkReader`. */
  readonly unlikePartsMax?: number | undefined
}

/** Number of explained decisions of a bulk that are written before the thread yields to the event loop. */
const WRITTEN_AT_ONCE = 64

/** Responses to a deny (index 0) and to an allow (index 1). */
const ANSWERS = [false, true].map(allow => new PrebuiltReply(200, { allow, result: allow }))
const ANSWERS_OR_403 = [new PrebuiltReply(403, { allow: false, result: false }), ANSWERS[1]!]

export function allowedRoutes(
  decisions: DecisionService,
  options: AllowedOptions,
  answers: AnswersOfParts,
): Route[] {
  const { hasDebug, hasBytesPath, bulkChecksMax, unlikePartsMax } = options
  const isReadFromBytes = hasBytesPath && !hasDebug
  const singles = isReadFromBytes ? new SingleReader(NATIVE, decisions.now) : null
  const bulks = isReadFromBytes ? new BulkReader(bulkChecksMax, decisions.now, unlikePartsMax) : null
  return [
    defineRoute({
      method: 'POST',
      path: '/allowed',
      operationId: 'isAllowed',
      level: 'decide',
      summary: 'Check whether a user can perform an action on a resource',
      family: 'native',
      access: 'environment',
      headers: [REQUIRED_REQUEST_ID],
      ignoresHeaders: true,
      body: AllowedQuery,
      presentForm,
      responses: { 200: { description: 'The decision: allow or deny.', schema: AllowedResult } },
      readBytes: singles === null ? undefined : body => singles.read(body),
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        if (body instanceof PackedQueries) {
          return prebuiltResponse(ANSWERS, decisions.evaluate(environmentId, body, caller))
        }
        return decided(
          { decisions, hasDebug: hasDebug && seesReasons(principal) },
          environmentId,
          body,
          caller,
        )
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/allowed/explain',
      operationId: 'explainAllowed',
      level: 'read',
      summary: 'Check access and explain the decision, regardless of `DEBUG_DECISIONS`; slower',
      family: 'native',
      access: 'environment',
      headers: [REQUIRED_REQUEST_ID],
      query: ExplainQuery,
      body: AllowedQuery,
      presentForm,
      responses: { 200: { description: 'The decision with its explanation.', schema: ExplainedResult } },
      handle: ({ principal, query, body, caller }) => {
        const explained = decisions.explain(
          environmentOf(principal),
          queryOf(body, decisions.now()),
          caller,
          query.full ? 'tree' : 'leaf',
        )
        return explainedReply(
          explained,
          one => `${resultOf(body, one)}${one.rules === null ? '' : `,${one.rules}`}}`,
        )
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/allowed/bulk',
      operationId: 'isAllowedBulk',
      level: 'decide',
      summary: 'Make many checks, with results in order',
      family: 'native',
      access: 'environment',
      headers: [REQUIRED_REQUEST_ID],
      ignoresHeaders: true,
      body: BulkAuthorizationQuery,
      presentForm: presentForms,
      responses: { 200: { description: 'One result for each check, in order.', schema: BulkAllowedResult } },
      readBytes: bulks === null ? undefined : body => bulks.read(body),
      handle: ({ principal, body, caller }) => {
        const environmentId = environmentOf(principal)
        if (body instanceof PackedQueries) {
          return replyWith(decisions.evaluate(environmentId, body, caller), bulkAnswer)
        }
        const readAt = decisions.now()
        const queries = body.map(question => queryOf(question, readAt))
        if (!hasDebug || !seesReasons(principal)) {
          return replyWith(decisions.evaluate(environmentId, new TextQuestion(queries), caller), bulkAnswer)
        }
        return explainedBulk(decisions, answers, { environmentId, questions: body, queries, caller })
      },
    }),
  ]
}

/** Whether the client can get the reasons of decisions with `DEBUG_DECISIONS` (administration.md K12). */
export function seesReasons(principal: Principal | null): boolean {
  return principal !== null && reaches(principal.level, 'read')
}

/** Dependencies for a check that was parsed and not read from its bytes. */
export interface Decider {
  readonly decisions: DecisionService
  readonly hasDebug: boolean
  /** Status of the response to a deny. Default: 200. */
  readonly deniedStatus?: 403
}

/** Response of `/allowed`. If debug is on, the response contains the reasons of the decision. */
export function decided(
  { decisions, hasDebug, deniedStatus }: Decider,
  environmentId: string,
  question: AllowedQuery,
  caller: CancelableClient & AskingClient,
): Reply | Promise<Reply> {
  const query = queryOf(question, decisions.now())
  if (!hasDebug) {
    return prebuiltResponse(
      deniedStatus ? ANSWERS_OR_403 : ANSWERS,
      decisions.evaluate(environmentId, TextQuestion.single(query), caller),
    )
  }
  const explained = decisions.explain(environmentId, query, caller, 'none')
  return explainedReply(explained, one => withQuestion(question, one), deniedStatus)
}

function explainedReply(
  explained: ExplainedDecision | Promise<ExplainedDecision>,
  write: (one: ExplainedDecision) => string,
  deniedStatus = 200,
): Reply | Promise<Reply> {
  const reply = (one: ExplainedDecision): Reply => ({
    status: one.allow ? 200 : deniedStatus,
    body: new RawJson(write(one)),
  })
  return explained instanceof Promise ? explained.then(reply) : reply(explained)
}

/** JSON of a decision with its reasons, without the closing brace. */
function resultOf(question: AllowedQuery, one: ExplainedDecision): string {
  const { allow } = one
  return `{"allow":${allow},"result":${allow},"debug":${debugText(question, queryOf(question, 0), one)}`
}

function withQuestion(question: AllowedQuery, one: ExplainedDecision): string {
  const { user, action, resource } = question
  return `${resultOf(question, one)},"query":${JSON.stringify({ user, action, resource })}}`
}

async function explainedBulk(
  decisions: DecisionService,
  answers: AnswersOfParts,
  asked: {
    readonly environmentId: string
    readonly questions: readonly AllowedQuery[]
    readonly queries: readonly Query[]
    readonly caller: CancelableClient & AskingClient
  },
): Promise<Reply> {
  const { environmentId, questions, queries, caller } = asked
  const explained = await decisions.explainAll(environmentId, queries, caller)
  const parts: Uint8Array[] = [Buffer.from('{"allow":[')]
  for (const [index, one] of explained.entries()) {
    // Yields to the event loop after each chunk of written decisions, because writing all of them at once
    // would block the thread. The decisions were also explained in chunks.
    if (index % WRITTEN_AT_ONCE === WRITTEN_AT_ONCE - 1) await new Promise(resolve => setImmediate(resolve))
    parts.push(Buffer.from(`${index === 0 ? '' : ','}${withQuestion(questions[index]!, one)}`))
  }
  parts.push(Buffer.from(']}'))
  return answers.reply(environmentId, parts)
}
