/** The meaning of the exit code of a command, so that scripts can branch on it. */
import { inspect } from 'node:util'

export const EXIT = {
  /** Done; or the answer is yes. */
  yes: 0,
  /** The answer is no: denied, a test failed, a plan was not carried out, not ready. */
  no: 1,
  /** The command or a file it was given is wrong. */
  usage: 2,
  /** The service could not be reached or refused, or its answer was not whole. */
  service: 3,
  /** A defect of Verdict itself. Not the 1 with which Node ends then: 1 is an answer here. */
  defect: 4,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The message about a defect: where it is. */
export function defectMessage(error: unknown): string {
  return `verdict: a defect of Verdict itself: ${inspect(error)}\n`
}

/** What a call of the system about a file came to; its own words where they are not about one, or are rare. */
export function fileMessage(error: Error): string {
  const { code = '', path } = error as NodeJS.ErrnoException
  if (path === undefined) return error.message
  switch (code) {
    case 'ENOENT':
      return `${path}: there is no such file or directory (${code})`
    case 'EISDIR':
      return `${path}: this is a directory; expected a file (${code})`
    case 'ENOTDIR':
      return `${path}: a part of this path is no directory (${code})`
    case 'EACCES':
    case 'EPERM':
      return `${path}: this may not be read or written by this user (${code})`
    case 'EEXIST':
      return `${path}: this is there already (${code})`
    case 'ENOSPC':
      return `${path}: the disk is full (${code})`
  }
  return `${path}: ${error.message}`
}

/** The command line has no meaning; the message says how the command is called. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The service refused, or the answer is not one of a Verdict service. */
export class ApiError extends Error {
  override readonly name: string = 'ApiError'
}

/** The service took the request for wrong: the same request will not do better. */
export class RefusedError extends ApiError {
  override readonly name = 'RefusedError'
}

/** What is wrong with a model file; the message says it finding by finding, each with its place. */
export class ModelFileError extends Error {
  override readonly name = 'ModelFileError'
}
