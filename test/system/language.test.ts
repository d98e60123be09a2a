/** Rules and readers of the language check (`packaging/language`). */
import { describe, expect, test } from 'vitest'
import { findingsIn } from '../../packaging/language/check.ts'
import { readCode } from '../../packaging/language/code.ts'
import { readLineComments } from '../../packaging/language/comments.ts'
import { commitsIn, subjectPassages } from '../../packaging/language/commits.ts'
import { languageFiles } from '../../packaging/language/files.ts'
import { readMarkdown } from '../../packaging/language/markdown.ts'
import type { FileText, PassageKind } from '../../packaging/language/passages.ts'
import { RULES } from '../../packaging/language/rules.ts'

/** Per rule: a text with a finding, and a clean one with a similar wording. */
const SAMPLES: Readonly<Record<string, readonly [violating: string, clean: string, kind?: PassageKind]>> = {
  'clause-as-subject': ['It is open. Who reads slowly waits.', 'It is open. A slow reader waits.'],
  'what-for-a-noun': ['What a client receives.', 'What follows: a list.'],
  'bare-who': ['It is sent by who comes first.', 'It is sent by the first client, who waits.'],
  'indefinite-person': ['Nobody waits for this.', 'No client waits for this.'],
  'fronted-of': ['Of several tags any is sufficient.', 'Of course, any tag is sufficient.'],
  told: ['The client is told of it.', 'The client is told apart from others.'],
  said: ['It is said in the log.', 'It is reported in the log.'],
  heard: ['A node hears nothing.', 'A node receives nothing.'],
  asked: ['The rules are asked.', 'The rules are evaluated.'],
  'looked-at': ['Each row is looked at.', 'Each row is examined.'],
  stands: ['The key stands in the header.', 'The variable stands in for the key.'],
  lies: ['The file lies in the directory.', 'The file is in the directory.'],
  'is-there': ['The row is not there.', 'The row does not exist.'],
  'is-no': ['This is no key.', 'There is no key.'],
  'goes-on': ['The node goes on.', 'The node continues.'],
  behind: ['It runs behind the commit.', 'It runs behind a load balancer.'],
  beside: ['It is stored beside the key.', 'It is stored next to the key.'],
  along: ['It takes its tuples along.', 'The path goes along the relation.'],
  too: ['It has a name, too.', 'The list is cut, too long to send.'],
  'of-its-own': ['It has a port of its own.', 'It stops of its own accord.'],
  anew: ['It is loaded anew.', 'It is loaded again.'],
  meanwhile: ['It was changed meanwhile.', 'Meanwhile, it was changed.'],
  else: ['It waits, else it fails.', 'It waits, otherwise it fails.'],
  'also-where': ['It is valid also where it is empty.', 'It is valid even if it is empty.'],
  'but-for': ['All but for one.', 'All except one.'],
  'a-for-per': ['It takes 70 bytes a fact.', 'It takes 70 bytes per fact.'],
  dear: ['A scan is dear.', 'A scan is expensive.'],
  mend: ['It is mended.', 'It is repaired.'],
  'in-turns': ['They run in turns.', 'They alternate.'],
  'one-does': ['Fields complete what one types.', 'Fields complete your input.'],
  'odd-phrase': ['It is as fast as ever.', 'It is as fast as before.'],
  'subject-length': [`fix(store): ${'x'.repeat(61)}`, `fix(store): ${'x'.repeat(60)}`, 'subject'],
  'subject-mood': ['fix(store): a key is rejected', 'fix(store): reject a key', 'subject'],
}

function textOf(kind: PassageKind, text: string): FileText {
  return { passages: [{ kind, lines: [{ number: 1, text }] }], markers: [] }
}

const rulesIn = (text: FileText) => findingsIn(text).map(({ rule }) => rule)
const placesIn = (text: FileText) => findingsIn(text).map(({ line, rule }) => `${line} ${rule}`)

test('each rule has samples', () => {
  expect(Object.keys(SAMPLES)).toEqual(RULES.map(({ name }) => name))
})

test.each(Object.entries(SAMPLES))(
  'the rule %s reports its wording and no similar one',
  (name, [violating, clean, kind = 'comment']) => {
    expect(rulesIn(textOf(kind, violating))).toContain(name)
    expect(rulesIn(textOf(kind, clean))).toEqual([])
  },
)

test('questions and inline code have no findings', () => {
  expect(rulesIn(textOf('prose', 'Nobody waits? The field `nobody` is empty.'))).toEqual([])
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
    const source =
      "test.each([['a', (1)]])('nobody waits', () => {\n  expect(x).toBe('nobody waits for this')\n})\n"
    expect(placesIn(readCode('test/a.test.ts', source))).toEqual(['1 indefinite-person'])
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

test('the reader of line comments reads them, and nothing else', () => {
  const source = '#!/bin/nobody\n# Nobody\nnobody: a # of its own\n'
  expect(placesIn(readLineComments(source, '#'))).toEqual(['2 indefinite-person', '3 of-its-own'])
  expect(placesIn(readLineComments('-- Nobody\nnobody()\n', '--'))).toEqual(['1 indefinite-person'])
})

describe('a marker', () => {
  test('accepts the findings of its line and of the next line', () => {
    expect(placesIn(readCode('src/a.ts', '// language: a quotation\n// Nobody\n\n// Nobody\n'))).toEqual([
      '4 indefinite-person',
    ])
    expect(placesIn(readMarkdown('<!-- language: a quotation -->\nNobody\n'))).toEqual([])
    expect(placesIn(readLineComments('# language: a quotation\n# Nobody\n', '#'))).toEqual([])
  })

  test('is reported if it has no reason or accepts nothing', () => {
    expect(placesIn(readCode('src/a.ts', '// language:\n// Nobody\n'))).toEqual(['1 marker'])
    expect(placesIn(readCode('src/a.ts', '// language: a quotation\n// A client\n'))).toEqual(['1 marker'])
  })
})

test('a subject is checked as a whole and without its prefix', () => {
  const passages = subjectPassages('fix(store)!: what nobody reads')
  expect(rulesIn({ passages, markers: [] }).toSorted()).toEqual([
    'indefinite-person',
    'subject-mood',
    'what-for-a-noun',
  ])
})

test('a range of commits that does not exist is null', () => {
  expect(commitsIn('no-such-branch..HEAD', import.meta.dirname)).toBeNull()
})

test('files of all folders are read, without packages and German texts', () => {
  const files = languageFiles(`${import.meta.dirname}/../..`)
  expect(files).toEqual(
    expect.arrayContaining(['README.md', 'docs/cli.md', 'src/main.ts', 'test/tidy.test.ts']),
  )
  expect(files.filter(path => /node_modules|[/.]de\.ts$/.test(path))).toEqual([])
})
