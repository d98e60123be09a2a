/**
 * Messages between the main thread and an HTTP thread: plain data, one closed union per direction. Messages
 * of one direction arrive in the order in which they were sent. The correctness of the engines in the thread
 * depends on that order.
 */
import type { MessagePort } from 'node:worker_threads'
import type { NodeQuestion } from '#decisions/questions/node-question.ts'
import type { NodeState } from '#decisions/questions/node-state.ts'
import type { ChangeBatch } from '#management/changes/change-channel.ts'
import type { ManagementRequest } from '#management/management-service.ts'
import type { SessionChanges, SessionUse } from '#management/sessions/session-directory.ts'
import type { ErrorData } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import type { ThreadCountersHandle } from '#telemetry/thread-counters.ts'
import type { DeadlineHandle } from '#threads/indexes/staleness-deadline.ts'
import type { ProgressHandle } from '#threads/indexes/index-progress.ts'
import type { AttachedIndex } from '#threads/indexes/shared-indexes.ts'
import type { KeyRatesHandle } from './key-rates.ts'
import type { PieceAnswer } from './remote-pieces.ts'
import type { InitialSessions } from './session-authentication.ts'
import type { SharedCountsHandle } from './shared-count.ts'

/**
 * A key as a thread checks it: SHA-256 of the secret in lower-case hex, its principal, and its expiration
 * time.
 */
export interface Credential {
  readonly secretHash: string
  readonly principal: Principal
  /**
   * Index of the counter for requests with the key. The new and the former secret of a key share one counter.
   */
  readonly slot: number
  /** Milliseconds since 1970, exclusive; null if it is valid until it is replaced. */
  readonly validUntil: number | null
}

/** A request with the id that its client knows, and the requested operation. */
export interface NamedRequest {
  readonly requestId: string
  readonly operation: string
}

/** Data that an HTTP thread is created with. It loads its code before the remaining data is known. */
export interface WaitingThreadData {
  /** Delivers one message, the `HttpThreadOptions`, and is then closed. */
  readonly begin: MessagePort
}

/** Data that an HTTP thread starts with: its address and settings. */
export interface HttpThreadOptions<Settings> {
  readonly host: string
  /** 0 selects a free port, which the thread reports. */
  readonly port: number
  /** Key that signs page tokens; lower-case hex. */
  readonly tokenSecret: string
  /**
   * Known before the first request arrives, so that a valid key is rejected as "not ready" and not as
   * "unknown".
   */
  readonly credentials: readonly Credential[]
  /** The sessions, which are known as early as the credentials; null if sign-in is not configured. */
  readonly sessions: InitialSessions | null
  /** Counts of open and in-flight work in all threads. */
  readonly counts: SharedCountsHandle
  /** Number of uses of each key in the current second; null if uses are not counted. */
  readonly keyRates: KeyRatesHandle | null
  /** Deadline of the node, until which the thread can make decisions. */
  readonly deadline: DeadlineHandle
  readonly settings: Settings
}

/**
 * The next part of a stream that catches up. If it names a channel, it is the last part, and the rest arrives
 * through the channel. `isSlow` ends the stream because other streams need the memory that is buffered for
 * it.
 */
export type StreamPiece =
  | {
      readonly bytes: Uint8Array
      readonly events: number
      readonly resets: number
      readonly channel: number | null
    }
  | { readonly isSlow: true }
  | { readonly error: ErrorData }

export type ToHttpThread =
  /** Replaces all credentials. Acknowledged. */
  | {
      readonly kind: 'credentials'
      readonly credentials: readonly Credential[]
      readonly acknowledge: number
    }
  /** Orders the thread to use this index for decisions from now on. Acknowledged. */
  | {
      readonly kind: 'attach'
      readonly environmentId: string
      readonly index: AttachedIndex
      readonly acknowledge: number
    }
  /** Applies changes of the accepted sessions. Acknowledged. */
  | { readonly kind: 'sessions'; readonly changes: SessionChanges; readonly acknowledge: number }
  /** Extends sessions that other threads of this node have seen. */
  | { readonly kind: 'session-used'; readonly use: SessionUse }
  /**
   * Orders the thread to drop the index of the environment. With a reason, the environment is closed and
   * callers receive the reason. Without a reason, the environment was deleted. Acknowledged.
   */
  | {
      readonly kind: 'detach'
      readonly environmentId: string
      readonly reason: string | null
      readonly acknowledge: number
    }
  /** Orders the thread to read the visible revision of the organization from this cell from now on. */
  | { readonly kind: 'organization'; readonly progress: ProgressHandle }
  /** Orders the thread to report this state in its health routes from now on. */
  | { readonly kind: 'state'; readonly state: NodeState }
  | { readonly kind: 'answer'; readonly call: number; readonly answer: ManagementAnswerMessage }
  /** Requests the next chunk of the body of that call. */
  | { readonly kind: 'pull-body'; readonly call: number }
  /** States that the rest of the body is not needed. */
  | { readonly kind: 'cancel-body'; readonly call: number }
  /** A chunk of the response to that call, which the thread requested. */
  | { readonly kind: 'answer-piece'; readonly call: number; readonly piece: PieceAnswer }
  /** The next part of that change stream, which the thread requested. */
  | { readonly kind: 'stream-piece'; readonly call: number; readonly piece: StreamPiece }
  /** Events for all streams that have joined the channel. Batches of the same block share their bytes. */
  | ({ readonly kind: 'stream-batch'; readonly channel: number } & ChangeBatch)
  /** Orders the thread to keep serving, and to ask clients to send their next request to another node. */
  | { readonly kind: 'drain' }
  /**
   * Orders the thread to accept connections and requests, but to delay the responses to new requests until
   * `close` arrives. Acknowledged.
   */
  | { readonly kind: 'hold'; readonly acknowledge: number }
  /** Orders the thread to accept no more connections. Acknowledged. */
  | { readonly kind: 'stop-listening'; readonly acknowledge: number }
  /** Orders the thread to stop listening, to complete in-flight requests within that time, and to end. */
  | { readonly kind: 'close'; readonly withinMs: number }

export type ManagementAnswerMessage =
  /** A long response is sent as bytes, which are transferred and not copied. */
  | {
      readonly json: string | Uint8Array | null
      readonly isCreated: boolean
      readonly warning: string | null
      readonly revision: string
    }
  /** The response is sent in chunks, which the thread requests. */
  | { readonly inPieces: true; readonly revision: string }
  /** The response is a change stream, whose parts the thread requests. */
  | { readonly isStream: true; readonly revision: string }
  | { readonly error: ErrorData }

export type FromHttpThread =
  /** Handle of the counters of this thread, for the metrics. Precedes all other messages. */
  | { readonly kind: 'counters'; readonly handle: ThreadCountersHandle }
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'listen-failed'; readonly message: string }
  | { readonly kind: 'acknowledged'; readonly acknowledge: number }
  /** A caller was authenticated with that key, for the first time since uses were forgotten. */
  | { readonly kind: 'key-used'; readonly keyId: string }
  /** A request came in that session, for the first time in an interval. */
  | { readonly kind: 'session-used'; readonly sessionId: string }
  /** `hasBody` states that the body is sent in chunks, which the main thread requests. */
  | {
      readonly kind: 'manage'
      readonly call: number
      readonly request: ManagementRequest
      readonly hasBody: boolean
    }
  /** The client of that call disconnected. */
  | { readonly kind: 'abandon'; readonly call: number }
  | { readonly kind: 'body-piece'; readonly call: number; readonly piece: PieceAnswer }
  | { readonly kind: 'pull-answer'; readonly call: number }
  | { readonly kind: 'cancel-answer'; readonly call: number }
  | { readonly kind: 'pull-stream'; readonly call: number }
  | { readonly kind: 'leave-stream'; readonly call: number }
  /** A batch of that block has arrived. */
  | { readonly kind: 'took-block'; readonly block: number }
  /**
   * Requests information about the node. The response has the form of a management response, with text
   * instead of JSON.
   */
  | {
      readonly kind: 'ask-node'
      readonly call: number
      readonly question: NodeQuestion
      readonly by: NamedRequest
    }
