/**
 * What the main thread and an HTTP thread say to each other: plain data, one closed union each way. Messages of one
 * direction arrive in the order they were sent; that order is what keeps the thread's engines right.
 */
import type { MessagePort } from 'node:worker_threads'
import type { NodeQuestion } from '#decisions/node-question.ts'
import type { NodeState } from '#decisions/node-state.ts'
import type { ChangeBatch } from '#management/changes/change-channel.ts'
import type { ManagementRequest } from '#management/management-service.ts'
import type { ErrorData } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import type { ThreadCountersHandle } from '#telemetry/thread-counters.ts'
import type { DeadlineHandle } from '#threads/indexes/staleness-deadline.ts'
import type { ProgressHandle } from '#threads/indexes/index-progress.ts'
import type { AttachedIndex } from '#threads/indexes/shared-indexes.ts'
import type { KeyRatesHandle } from './key-rates.ts'
import type { PieceAnswer } from './remote-pieces.ts'
import type { SharedCountsHandle } from './shared-count.ts'

/** A key as a thread checks it: SHA-256 of the secret in lower-case hex, whom it stands for, and how long. */
export interface Credential {
  readonly secretHash: string
  readonly principal: Principal
  /** Where the requests with the key are counted. The new and the former secret of a key share one counter. */
  readonly slot: number
  /** Milliseconds since 1970, exclusive; null: valid until it is replaced. */
  readonly validUntil: number | null
}

/** A request by the name that its caller knows, and the operation that it asks for. */
export interface NamedRequest {
  readonly requestId: string
  readonly operation: string
}

/** What an HTTP thread is made with: it may load its code before anybody can tell it the rest. */
export interface WaitingThreadData {
  /** Brings one message, the `HttpThreadOptions`, and is closed then. */
  readonly begin: MessagePort
}

/** What an HTTP thread begins with: where it listens, and the settings it goes by. */
export interface HttpThreadOptions<Settings> {
  readonly host: string
  /** 0 takes a free port, which the thread reports. */
  readonly port: number
  /** Signs page tokens; lower-case hex. */
  readonly tokenSecret: string
  /** Known before the first request is taken, so that a valid key is answered "not ready" and not "unknown". */
  readonly credentials: readonly Credential[]
  /** Counts of what is open and under way in all threads. */
  readonly counts: SharedCountsHandle
  /** How often each key was used in the present second; null: uses are not counted. */
  readonly keyRates: KeyRatesHandle | null
  /** The node's deadline: until when the thread may decide. */
  readonly deadline: DeadlineHandle
  readonly settings: Settings
}

/**
 * The next part of a stream that catches up. With a channel it is the last: the rest comes from there. `isSlow`: it ends, since others need
 * the room of what is kept for it.
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
  /** Decide on this index from now on. Acknowledged. */
  | {
      readonly kind: 'attach'
      readonly environmentId: string
      readonly index: AttachedIndex
      readonly acknowledge: number
    }
  /**
   * Forget the environment's index. With a reason the environment is closed and callers are told; without one it is gone.
   * Acknowledged.
   */
  | {
      readonly kind: 'detach'
      readonly environmentId: string
      readonly reason: string | null
      readonly acknowledge: number
    }
  /** How far this process follows the organization, from now on. */
  | { readonly kind: 'organization'; readonly progress: ProgressHandle }
  /** What the health routes tell, from now on. */
  | { readonly kind: 'state'; readonly state: NodeState }
  | { readonly kind: 'answer'; readonly call: number; readonly answer: ManagementAnswer }
  /** Send the next piece of the body of that call. */
  | { readonly kind: 'pull-body'; readonly call: number }
  /** The rest of the body is not wanted. */
  | { readonly kind: 'cancel-body'; readonly call: number }
  /** A piece of the answer to that call, which the thread asked for. */
  | { readonly kind: 'answer-piece'; readonly call: number; readonly piece: PieceAnswer }
  /** The next piece of that stream of changes, which the thread asked for. */
  | { readonly kind: 'stream-piece'; readonly call: number; readonly piece: StreamPiece }
  /** Events for all streams that have joined the channel. Batches of the same block share their bytes. */
  | ({ readonly kind: 'stream-batch'; readonly channel: number } & ChangeBatch)
  /** Go on serving, and ask callers to send the next request elsewhere. */
  | { readonly kind: 'drain' }
  /** Take connections and requests, but answer those that come from now on only when `close` says so. Acknowledged. */
  | { readonly kind: 'hold'; readonly acknowledge: number }
  /** Take no more connections. Acknowledged. */
  | { readonly kind: 'stop-listening'; readonly acknowledge: number }
  /** Stop listening, finish what is in flight within that time, and end. */
  | { readonly kind: 'close'; readonly withinMs: number }

export type ManagementAnswer =
  /** A long answer comes as bytes, which are moved and not copied. */
  | {
      readonly json: string | Uint8Array | null
      readonly isCreated: boolean
      readonly warning: string | null
      readonly revision: string
    }
  /** The answer comes in pieces, which the thread asks for. */
  | { readonly inPieces: true; readonly revision: string }
  /** The answer is a stream of changes, which the thread asks for. */
  | { readonly isStream: true; readonly revision: string }
  | { readonly error: ErrorData }

export type FromHttpThread =
  /** Where this thread counts, for the metrics. Comes before all other messages. */
  | { readonly kind: 'counters'; readonly handle: ThreadCountersHandle }
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'listen-failed'; readonly message: string }
  | { readonly kind: 'acknowledged'; readonly acknowledge: number }
  /** Somebody was let in with that key, for the first time since uses were forgotten. */
  | { readonly kind: 'key-used'; readonly keyId: string }
  /** `hasBody`: the body comes in pieces, which the main thread asks for. */
  | {
      readonly kind: 'manage'
      readonly call: number
      readonly request: ManagementRequest
      readonly hasBody: boolean
    }
  /** The caller of that call has left. */
  | { readonly kind: 'abandon'; readonly call: number }
  | { readonly kind: 'body-piece'; readonly call: number; readonly piece: PieceAnswer }
  | { readonly kind: 'pull-answer'; readonly call: number }
  | { readonly kind: 'cancel-answer'; readonly call: number }
  | { readonly kind: 'pull-stream'; readonly call: number }
  | { readonly kind: 'leave-stream'; readonly call: number }
  /** A batch of that block has come. */
  | { readonly kind: 'took-block'; readonly block: number }
  /** Asks about the node; answered like a management request, with text in place of JSON. */
  | {
      readonly kind: 'ask-node'
      readonly call: number
      readonly question: NodeQuestion
      readonly by: NamedRequest
    }
