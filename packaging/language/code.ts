/**
 * Reader of TypeScript and JavaScript: comments of all files, names of tests, texts of the console in
 * English, and messages of the product.
 */
import { readComments } from './comments.ts'
import { capitalized, type FileText, type Line, type Passage, type PassageKind } from './passages.ts'
import { type Token, tokensOf } from './tokens.ts'

const TESTS = /^(?:test|bench)\//
const CONSOLE_TEXTS = /^console\/src\/texts\/(?:.*\.)?en\.ts$/
const PRODUCT = /^(?:src|bin|workers)\//
/** Matches the code before the name of a test, of a group of tests or of a claim. */
const TEST_CALL = /(?<![.\w])(?:test|it|describe|claim)(?:\.\w+|<[^;]*?>|\(\))*\(\s*$/
const SENTENCE_WORDS_MIN = 4
const SENTENCE = /[a-z]{2} [a-z]/
/** Matches lines of a shell script, which are not prose. */
const SCRIPT = /^\s*(?:if \(\(|(?:local|set -l|done|end)\b)/m

export function readCode(path: string, source: string): FileText {
  const tokens = tokensOf(source)
  const literals = tokens.filter(({ kind }) => kind === 'literal')
  const { passages, markers } = readComments(tokens.filter(({ kind }) => kind === 'comment'))
  return { passages: [...passages, ...literals.flatMap(token => passageOf(path, token) ?? [])], markers }
}

function passageOf(path: string, { text, line, before }: Token): Passage | null {
  const kind = kindOf(path, text, before)
  if (kind === null) return null
  const named = kind === 'test' ? capitalized(text) : text
  return { kind, lines: named.split('\n').map((part, index): Line => ({ number: line + index, text: part })) }
}

function kindOf(path: string, text: string, before: string): PassageKind | null {
  if (TESTS.test(path)) return TEST_CALL.test(before) ? 'test' : null
  if (CONSOLE_TEXTS.test(path)) return 'console'
  const isSentence = text.split(' ').length >= SENTENCE_WORDS_MIN && SENTENCE.test(text)
  return PRODUCT.test(path) && isSentence && !SCRIPT.test(text) ? 'text' : null
}
