/** Reads the subjects of commits. */
import { spawnSync } from 'node:child_process'
import { capitalized, type Passage } from './passages.ts'
import { SUBJECT_PREFIX } from './rules.ts'

/** Subjects that git writes. They quote other subjects and names of branches. */
const WRITTEN_BY_GIT = /^(?:Revert "|Reapply "|Merge )/

export interface Commit {
  readonly hash: string
  readonly subject: string
}

/**
 * Commits of a range such as `origin/main..HEAD`, without merges. Null if git cannot read it, for example in
 * a checkout without that branch or outside of a repository.
 */
export function commitsIn(range: string, directory: string): Commit[] | null {
  const { status, stdout } = spawnSync('git', ['log', '--no-merges', '--format=%h %s', range, '--'], {
    cwd: directory,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (status !== 0) return null
  return stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => {
      const space = line.indexOf(' ')
      return { hash: line.slice(0, space), subject: line.slice(space + 1) }
    })
}

/** The whole subject, and its text as a sentence without the prefix. Empty for a subject that git writes. */
export function subjectPassages(subject: string): Passage[] {
  if (WRITTEN_BY_GIT.test(subject)) return []
  const text = capitalized(subject.replace(new RegExp(`^${SUBJECT_PREFIX}`), ''))
  return [
    { kind: 'subject', lines: [{ number: 1, text: subject }] },
    { kind: 'text', lines: [{ number: 1, text }] },
  ]
}
