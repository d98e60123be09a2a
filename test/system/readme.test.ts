/**
 * The README tells the truth, and so do the documents that go on from it: their commands are run as they stand there, in a
 * clean copy, one document after the other, and answer what they say.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { settings } from '../../src/config/config.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const readme = textOf('README.md')
/** The model file and its commands. */
const commandLine = textOf('docs/model-files.md')
/** The program of somebody who comes from the commercial service. */
const compatibility = textOf('docs/compatibility.md')
const copy = mkdtempSync(join(tmpdir(), 'verdict-readme-'))

afterAll(() => rmSync(copy, { recursive: true, force: true }))

interface CodeBlock {
  readonly language: string
  readonly text: string
}

function textOf(document: string): string {
  return readFileSync(join(root, document), 'utf8')
}

function codeBlocks(document: string): CodeBlock[] {
  return [...document.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({
    language: language!,
    text: text!.trim(),
  }))
}

/** The blocks of a document that can be run, each with the output block behind it. */
function examples(
  document: string,
  isOne: (block: CodeBlock) => boolean,
): { readonly text: string; readonly output: string }[] {
  const blocks = codeBlocks(document)
  return blocks.flatMap((block, index) =>
    isOne(block) ? [{ text: block.text, output: blocks[index + 1]!.text }] : [],
  )
}

const isOwn = (path: string): boolean => !path.endsWith('node_modules')

test("the README's run command starts the service and its examples answer what it says", async () => {
  // A fresh clone after `npm ci`, which whoever runs this test has run. The second level runs it once more.
  for (const part of ['package.json', 'bin', 'src', 'packaging', 'workers', 'console', 'dist']) {
    cpSync(join(root, part), join(copy, part), { recursive: true, preserveTimestamps: true, filter: isOwn })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const run = codeBlocks(readme).find(block => block.text.includes('npm start'))!.text
  expect(run).toBe('npm ci && npm start')
  const service = new ServiceProcess({ cwd: copy, command: ['bash', '-c', 'npm start & wait $!'] })
  const address = await service.address()
  const [, key] = await service.stdoutMatch(/API key, shown this once: (\S+)/)
  try {
    const env = { ...process.env, VERDICT: address, KEY: key }
    const commands = examples(readme, ({ text }) => text.startsWith('curl'))
    expect(commands.length).toBeGreaterThanOrEqual(4)
    for (const { text, output } of commands) {
      const { stdout } = await promisify(execFile)('bash', ['-c', text], { env })
      expect(stdout.trim(), text).toBe(output)
    }
    // The command line, as on a terminal; the file it is about stands in its document.
    const model = codeBlocks(commandLine).find(
      ({ language, text }) => language === 'yaml' && text.includes('resources:'),
    )!
    writeFileSync(join(copy, 'model.yaml'), model.text)
    const isCommand = ({ text }: CodeBlock) => text.startsWith('npx verdict-authz')
    const session = [...examples(readme, isCommand), ...examples(commandLine, isCommand)]
    expect(session.length).toBeGreaterThanOrEqual(6)
    const onTerminal = { ...env, VERDICT_URL: address, VERDICT_KEY: key, VERDICT_OUTPUT: 'table' }
    for (const { text, output } of session) {
      const { stdout } = await promisify(execFile)('bash', ['-c', `${text} 2>&1`], {
        env: onTerminal,
        cwd: copy,
      })
      // What npm itself has to say is about the machine.
      expect(stdout.replaceAll(/^npm .*\n/gm, '').trim(), text).toBe(output)
    }
    const programs = examples(compatibility, ({ language }) => language === 'js')
    expect(programs).toHaveLength(1)
    for (const { text, output } of programs) {
      writeFileSync(join(copy, 'example.mjs'), text)
      const { stdout } = await promisify(execFile)('node_modules/.bin/node', ['example.mjs'], {
        cwd: copy,
        env,
      })
      expect(stdout.trim(), text).toBe(output)
    }
    const printed = [...service.stdout.matchAll(/^ {2}(curl .*)$/gm)].map(([, command]) => command!)
    expect(printed).toHaveLength(2)
    const { stdout } = await promisify(execFile)('bash', ['-c', printed[0]!])
    expect(stdout).toBe('{"allow":true,"result":true}')
  } finally {
    const pid = Number(/"pid":(\d+)/.exec(service.stderr)?.[1])
    process.kill(pid, 'SIGTERM')
    await service.exited
  }
  expect(service.stderr).toContain('"msg":"stopped"')
})

test('SIGTERM to the run command itself stops the service, with exit code 0', async () => {
  const service = new ServiceProcess({
    cwd: root,
    command: ['npm', 'start'],
    env: { STORE_URL: 'memory:' },
  })
  const address = await service.address()
  expect(await service.end('SIGTERM')).toBe(0)
  await expect(fetch(`${address}/healthy`)).rejects.toThrow()
})

test('every setting has a name of its own in the code', () => {
  const names = Object.values(settings).map(({ as }) => as)
  expect(new Set(names).size).toBe(names.length)
})
