/** Exit codes of the commands, which scripts can evaluate. */
import { inspect } from 'node:util'

export const EXIT = {
  /** Success, or a positive result. */
  yes: 0,
  /**
   * Negative result: access was denied, a test failed, a plan was not applied, or the service is not ready.
   */
  no: 1,
  /** The command or an input file is invalid. */
  usage: 2,
  /** The service could not be reached, rejected the request, or sent an incomplete response. */
  service: 3,
  /**
   * A defect of Verdict itself. Node.js exits with the code 1 in this case, but here 1 means a negative
   * result.
   */
  defect: 4,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Returns the message for a defect, including the stack. */
export function defectMessage(error: unknown): string {
  return `verdict: a defect of Verdict itself: ${inspect(error)}\n`
}

/**
 * Returns the message for a system call that failed on a file. If the error has no path or its code is rare,
 * returns the original message.
 */
export function fileMessage(error: Error): string {
  const { code = '', path } = error as NodeJS.ErrnoException
  if (path === undefined) return error.message
  switch (code) {
    case 'ENOENT':
      return `${path}: no such file or directory (${code})`
    case 'EISDIR':
      return `${path}: expected a file, but this is a directory (${code})`
    case 'ENOTDIR':
      return `${path}: a part of this path is not a directory (${code})`
    case 'EACCES':
    case 'EPERM':
      return `${path}: the current user has no permission to read or write this (${code})`
    case 'EEXIST':
      return `${path}: this already exists (${code})`
    case 'ENOSPC':
      return `${path}: the disk is full (${code})`
  }
  return `${path}: ${error.message}`
}

/** Thrown if the command line is invalid. The message contains the correct usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Thrown if the service rejects a request, or the response does not come from a Verdict service. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError'
}

/** Thrown if the service considers the request invalid. It would reject the same request again. */
export class RefusedError extends ApiError {
  override readonly name = 'RefusedError'
  /** The message of the service alone, without the request. */
  readonly reason: string

  constructor(message: string, reason = message) {
    super(message)
    this.reason = reason
  }
}

/** Errors in a model file. The message contains all findings with their locations. */
export class ModelFileError extends Error {
  override readonly name = 'ModelFileError'
}
