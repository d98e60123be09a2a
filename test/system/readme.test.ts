/** Runs the commands of the README and its following documents in a clean copy, and compares their output. */
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { settings } from '../../src/config/settings.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'
import { sharedDirectory } from '../support/processes/temporary-directories.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const readme = textOf('README.md')
const gettingStarted = textOf('docs/getting-started.md')
const modelFiles = textOf('docs/model-files.md')
/** Example program for users of the commercial service. */
const compatibility = textOf('docs/compatibility.md')
const copy = sharedDirectory()

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

/** Code blocks in a language that are followed by a block with their output. */
function examples(document: string, wanted: string): { readonly text: string; readonly output: string }[] {
  const blocks = codeBlocks(document)
  return blocks.flatMap(({ language, text }, index) => {
    const next = blocks[index + 1]
    const hasOutput = next?.language === 'text' || next?.language === ''
    return language === wanted && hasOutput ? [{ text, output: next.text }] : []
  })
}

/** The model file in a document. */
function modelOf(document: string): string {
  return codeBlocks(document).find(
    ({ language, text }) => language === 'yaml' && text.includes('resources:'),
  )!.text
}

const isOwn = (path: string): boolean => !path.endsWith('node_modules')

test('the run command of the README starts the service, and its examples have the documented output', async () => {
  // The copy is like a clone after `npm ci`. A test of the second level runs `npm ci` itself.
  for (const part of ['package.json', 'bin', 'src', 'packaging', 'workers', 'console', 'dist']) {
    cpSync(join(root, part), join(copy, part), { recursive: true, preserveTimestamps: true, filter: isOwn })
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const run = codeBlocks(readme).find(block => block.text.includes('npm start'))!.text
  expect(run).toBe('npm ci && npm start')
  const service = new ServiceProcess({ cwd: copy, command: ['bash', '-c', 'npm start & wait $!'] })
  const address = await service.address()
  const [, key] = await service.stdoutMatch(/API key, shown only once: (\S+)/)
  try {
    const env = { ...process.env, VERDICT: address, KEY: key }
    // The first command runs through npm, as for a reader. The other commands are faster without npm.
    const direct = join(copy, 'direct')
    mkdirSync(direct)
    writeFileSync(
      join(direct, 'npx'),
      `#!/bin/sh\nshift\nexec ${process.execPath} ${copy}/bin/verdict.js "$@"\n`,
      {
        mode: 0o755,
      },
    )
    const terminal = { ...env, VERDICT_URL: address, VERDICT_KEY: key, VERDICT_OUTPUT: 'table' }
    let path = process.env['PATH']
    for (const [document, least] of [
      [readme, 6],
      [gettingStarted, 10],
      [modelFiles, 3],
    ] as const) {
      if (document !== readme) writeFileSync(join(copy, 'model.yaml'), modelOf(document))
      const commands = examples(document, 'sh')
      expect(commands.length).toBeGreaterThanOrEqual(least)
      for (const { text, output } of commands) {
        const options = { env: { ...terminal, PATH: path }, cwd: copy }
        // A denied check has the exit code 1.
        const { stdout } = await promisify(execFile)(
          'bash',
          ['-c', `{ ${text}\n} 2>&1 || [ $? = 1 ]`],
          options,
        )
        // Messages of npm depend on the machine.
        expect(stdout.replaceAll(/^npm .*\n/gm, '').trim(), text).toBe(output)
        if (text.startsWith('npx')) path = `${direct}:${process.env['PATH']}`
      }
    }
    const programs = examples(compatibility, 'js')
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

test('SIGTERM to the run command stops the service with exit code 0', async () => {
  const service = new ServiceProcess({
    cwd: root,
    command: ['npm', 'start'],
    env: { STORE_URL: 'memory:' },
  })
  const address = await service.address()
  expect(await service.end('SIGTERM')).toBe(0)
  await expect(fetch(`${address}/healthy`)).rejects.toThrow()
})

test('every setting has a unique field name in the configuration', () => {
  const names = Object.values(settings).map(({ as }) => as)
  expect(new Set(names).size).toBe(names.length)
})
