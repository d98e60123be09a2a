/** Content that is the same for everybody: loaded once, unless that fails. */
import { readFile } from 'node:fs/promises'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { StaticContent } from '#http/routes/static-content.ts'

const NO_HEADERS = { headers: new Map<string, string>() }

test('content that could not be loaded is loaded by the next request, and from then on kept', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-static-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'page.html')
  const content = new StaticContent('text/html', () => readFile(file))
  const told = async () => (await content.reply(NO_HEADERS)).body
  await expect(told()).rejects.toMatchObject({ code: 'ENOENT' })
  writeFileSync(file, 'first')
  const first = await told()
  expect(first).toEqual({ bytes: Buffer.from('first') })
  writeFileSync(file, 'second')
  expect(await told()).toEqual(first)
})
