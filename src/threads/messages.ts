/**
 * What the main thread and an HTTP thread say to each other: plain data, one closed union each way. Messages of one
 * direction arrive in the order they were sent; that order is what keeps the thread's engines right.
 */
import type { ErrorData } from '#model/errors.ts'
import type { Principal } from '#model/principal.ts'
import type { ManagementRequest } from '#services/management-service.ts'
import type { IndexHandle } from './shared-indexes.ts'

/** A key as a thread checks it: SHA-256 of the secret in lower-case hex, and whom it stands for. */
export interface Credential {
  readonly secretHash: string
  readonly principal: Principal
}

/** The start data of an HTTP thread: where it listens, and the settings it goes by. */
export interface HttpThreadOptions<Settings> {
  readonly host: string
  /** 0 takes a free port, which the thread reports. */
  readonly port: number
  /** Signs page tokens; lower-case hex. */
  readonly tokenSecret: string
  readonly settings: Settings
}

export type ToHttpThread =
  /** Replaces all credentials. */
  | { readonly kind: 'credentials'; readonly credentials: readonly Credential[] }
  /** Decide on this index from now on. Acknowledged. */
  | {
      readonly kind: 'attach'
      readonly environmentId: string
      readonly handle: IndexHandle
      readonly acknowledge: number
    }
  /** Whether `/ready` says yes. */
  | { readonly kind: 'ready'; readonly isReady: boolean }
  /** Whether decisions are refused because what the indexes know is too old. */
  | { readonly kind: 'suspend'; readonly isSuspended: boolean }
  | { readonly kind: 'answer'; readonly call: number; readonly answer: ManagementAnswer }
  /** Stop listening, finish what is in flight within that time, and end. */
  | { readonly kind: 'close'; readonly withinMs: number }

export type ManagementAnswer =
  | { readonly json: string | null; readonly isCreated: boolean; readonly revision: string }
  | { readonly error: ErrorData }

export type FromHttpThread =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'listen-failed'; readonly message: string }
  | { readonly kind: 'acknowledged'; readonly acknowledge: number }
  | { readonly kind: 'manage'; readonly call: number; readonly request: ManagementRequest }
