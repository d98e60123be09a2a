/** Rules and readers of the language check (`packaging/language`). */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findingsIn } from '../../packaging/language/check.ts'
import { readCode } from '../../packaging/language/code.ts'
import { readLineComments } from '../../packaging/language/comments.ts'
import { commitsIn, subjectPassages } from '../../packaging/language/commits.ts'
import { languageFiles } from '../../packaging/language/files.ts'
import { readMarkdown } from '../../packaging/language/markdown.ts'
import type { FileText, PassageKind } from '../../packaging/language/passages.ts'
import { RULES } from '../../packaging/language/rules.ts'
import { sharedDirectory } from '../support/processes/temporary-directories.ts'

/** For each rule: a text with a finding for each pattern, and clean texts with similar wording. */
const SAMPLES: Readonly<Record<string, [violating: string[], clean: string[], kind?: PassageKind]>> = {
  'clause-as-subject': [
    ['It is. Who reads waits.', 'It is; who reads waits.', 'It is. What it reads is cut.'],
    ['It is. A reader waits.'],
  ],
  'what-for-a-noun': [['What a client receives.'], ['What follows: a list.']],
  'bare-who': [['It is sent by who comes first.'], ['It is sent by the first client, who waits.']],
  'indefinite-person': [['Nobody waits for this.'], ['No client waits for this.']],
  'fronted-of': [['Of several tags any is sufficient.'], ['Of course, any tag is sufficient.']],
  told: [['It tells of keys.', 'It is told this.', 'It is told to nobody.'], ['It is told apart.']],
  said: [['It is said in the log.', 'This was said of it.'], ['It is reported in the log.']],
  heard: [['A node hears nothing.', 'A node heard nothing.'], ['A node receives nothing.']],
  asked: [['It is asked of me.', 'The rules are asked.', 'It asks rules.'], ['Rules are evaluated.']],
  'looked-at': [['Each row is looked at.'], ['Each row is examined.']],
  stands: [['It stands in the header.', 'The place where it stands.'], ['It stands in for the key.']],
  lies: [['The file lies in the directory.'], ['The file is in the directory.']],
  'is-there': [['The row is not there.'], ['The row does not exist.']],
  'is-no': [['This is no key.', 'The matches are none.'], ['There is no key.']],
  'goes-on': [['The node goes on.'], ['Options go on the command line.', 'Bytes go on the wire.']],
  behind: [
    ['It runs behind the commit.', 'It is a list behind the keys.'],
    ['It runs behind the load balancer.', 'It runs behind a reverse proxy.', '1 commit behind the last.'],
  ],
  beside: [['It is stored beside the key.', 'It has a name besides.'], ['It is stored next to the key.']],
  along: [['It takes its tuples along.'], ['The path goes along the relation.']],
  too: [['It has a name, too.'], ['The list is cut, too long to send.']],
  'of-its-own': [['It has a port of its own.'], ['It stops of its own accord.']],
  anew: [['It is loaded anew.'], ['It is loaded again.']],
  meanwhile: [['It was changed meanwhile.'], ['Meanwhile, it was changed.']],
  else: [['It waits. Else it fails.', 'It waits, else it fails.'], ['It waits, otherwise it fails.']],
  'also-where': [
    ['It is also where it is empty.', 'It is read, also by a node.'],
    ['It is even if it is empty.'],
  ],
  'but-for': [['All but for one.'], ['All except one.']],
  'a-for-per': [
    ['It takes 70 bytes a fact.', 'It holds one lock a thread.'],
    ['It takes 70 bytes per fact.', 'The first one creates a user.', 'Each one creates a user.'],
  ],
  dear: [['A scan is dear.'], ['A scan is expensive.']],
  mend: [['It is mended.'], ['It is repaired.']],
  'in-turns': [['They run in turns.'], ['They alternate.']],
  'one-does': [['Fields complete what one types.', 'One signs in.'], ['Fields complete your input.']],
  'odd-phrase': [['It is as fast as ever.'], ['It is as fast as before.']],
  'subject-form': [['wip: reject a key'], ['fix: reject a key', 'feat(store)!: reject a key'], 'subject'],
  'subject-length': [[`fix(store): ${'x'.repeat(61)}`], [`fix(store): ${'x'.repeat(60)}`], 'subject'],
  'subject-mood': [
    ['fix(store): a key is rejected'],
    ['fix: pass in the clock', 'fix: access by id', 'fix: also return keys', 'fix: no longer retry'],
    'subject',
  ],
}

function textOf(kind: PassageKind, text: string): FileText {
  return { passages: [{ kind, lines: [{ number: 1, text }] }], markers: [] }
}

const rulesIn = (text: FileText) => findingsIn(text).map(({ rule }) => rule)
const placesIn = (text: FileText) => findingsIn(text).map(({ line, rule }) => `${line} ${rule}`)

test('each rule of the language check has samples', () => {
  expect(Object.keys(SAMPLES)).toEqual(RULES.map(({ name }) => name))
})

test.each(RULES)('each pattern of the rule $name reports its wording, and no similar wording', rule => {
  const [violating, clean, kind = 'text'] = SAMPLES[rule.name]!
  expect(violating).toHaveLength(rule.patterns.length)
  for (const [index, text] of violating.entries()) {
    expect(text).toMatch(rule.patterns[index]!)
    expect(rulesIn(textOf(kind, text))).toContain(rule.name)
  }
  expect(clean.flatMap(text => rulesIn(textOf(kind, text)))).toEqual([])
})

test('questions and inline code cause no findings', () => {
  expect(rulesIn(textOf('text', 'Nobody waits? The field `nobody` is empty.'))).toEqual([])
  expect(rulesIn(textOf('text', 'Nobody may GET /v1?x=1.'))).toEqual(['indefinite-person'])
})

describe('the reader of TypeScript', () => {
  test('reads comments across lines and reports the line of the wording', () => {
    const source = "/**\n * The first line.\n * Nobody\n * waits.\n */\nconst url = 'a//b' // of its own\n"
    expect(placesIn(readCode('src/a.ts', source))).toEqual(['3 indefinite-person', '6 of-its-own'])
  })

  test('reads adjacent line comments as one text', () => {
    expect(placesIn(readCode('src/a.ts', '// The rules are\n// asked.\n'))).toEqual(['1 asked'])
  })

  test('reads messages of the product, and no other literals', () => {
    const source = "throw new Error(`${name}: nobody waits for this`)\nconst words = 'nobody else'\n"
    expect(placesIn(readCode('src/a.ts', source))).toEqual(['1 indefinite-person'])
    expect(placesIn(readCode('packaging/a.ts', source))).toEqual([])
  })

  test('reads names of tests, and no other literals of tests', () => {
    const table = `[${"['a', f(g(1))],\n".repeat(30)}]`
    const source = `test.each<string[]>(${table})('nobody waits', () => {\n  expect(x).toBe('nobody waits')\n})\n`
    expect(placesIn(readCode('test/a.test.ts', source))).toEqual(['31 indefinite-person'])
    expect(placesIn(readCode('test/a.test.ts', 'it(`${a} has ${b} of its own`)'))).toEqual(['1 of-its-own'])
  })

  test('reads all texts of the console in English', () => {
    expect(placesIn(readCode('console/src/texts/en.ts', "export const en = { a: 'Nobody' }"))).toHaveLength(1)
  })

  test('continues after templates and regular expressions with quotes', () => {
    const source = "const a = `${b ? `'${c}` : {}}'` + /['`]/.source // of its own\n"
    expect(placesIn(readCode('src/a.ts', source))).toEqual(['1 of-its-own'])
  })
})

test('the reader of Markdown reads prose, headings and cells, and neither code nor table headers', () => {
  const source =
    '# Nobody\n\n```sh\nnobody\n```\n\n| nobody |\n| --- |\n| cell of its own |\n\n- The rules are\n  asked.\n'
  expect(placesIn(readMarkdown(source))).toEqual(['1 indefinite-person', '9 of-its-own', '11 asked'])
})

test('the reader of line comments reads only line comments', () => {
  const source = '#!/bin/nobody\n# Nobody\nnobody: a # of its own\n'
  expect(placesIn(readLineComments(source, '#'))).toEqual(['2 indefinite-person', '3 of-its-own'])
  expect(placesIn(readLineComments('-- Nobody\nnobody()\n', '--'))).toEqual(['1 indefinite-person'])
})

describe('a comment that accepts a wording', () => {
  test('removes the findings of its line and of the next line', () => {
    expect(placesIn(readCode('src/a.ts', '// language: a quotation\n// Nobody\n\n// Nobody\n'))).toEqual([
      '4 indefinite-person',
    ])
    expect(placesIn(readMarkdown('<!-- language: a quotation -->\nNobody\n'))).toEqual([])
    expect(placesIn(readLineComments('# language: a quotation\n# Nobody\n', '#'))).toEqual([])
  })

  test('is reported if it states no reason or accepts nothing', () => {
    expect(placesIn(readCode('src/a.ts', '// language:\n// Nobody\n'))).toEqual(['1 marker'])
    expect(placesIn(readCode('src/a.ts', '// language: a quotation\n// A client\n'))).toEqual(['1 marker'])
  })
})

test('the subject of a commit is checked as a whole and without its prefix', () => {
  const passages = subjectPassages('fix(store)!: what nobody reads')
  expect(rulesIn({ passages, markers: [] }).toSorted()).toEqual([
    'indefinite-person',
    'subject-mood',
    'what-for-a-noun',
  ])
})

test.each(['Revert "feat(store): a key of nobody"', "Merge branch 'nobody'"])(
  '%s has no findings',
  subject => {
    expect(subjectPassages(subject)).toEqual([])
  },
)

test('a range of commits that does not exist is null', () => {
  expect(commitsIn('no-such-branch..HEAD', import.meta.dirname)).toBeNull()
})

test('tracked files are read, and all files without git, except packages, data and German texts', () => {
  const root = sharedDirectory()
  for (const path of ['a.md', 'types/b.ts', 'node_modules/c.md', 'test/vectors/d.md', 'src/de.ts']) {
    mkdirSync(dirname(`${root}/${path}`), { recursive: true })
    writeFileSync(`${root}/${path}`, '')
  }
  expect(languageFiles(root)).toEqual(['a.md', 'types/b.ts'])
  execFileSync('git', ['init', '-q'], { cwd: root })
  execFileSync('git', ['add', 'a.md', 'src'], { cwd: root })
  expect(languageFiles(root)).toEqual(['a.md'])
})
