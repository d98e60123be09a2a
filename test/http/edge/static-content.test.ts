/** Static content, which is loaded once. */
import { readFile } from 'node:fs/promises'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { StaticContent } from '#http/routes/static-content.ts'
import { ownDirectory } from '../../support/processes/temporary-directories.ts'

const NO_HEADERS = { headers: new Map<string, string>() }

test('static content that could not be loaded is loaded by the next request and then kept', async () => {
  const directory = ownDirectory()
  const file = join(directory, 'page.html')
  const content = new StaticContent('text/html', () => readFile(file))
  const read = async () => (await content.reply(NO_HEADERS)).body
  await expect(read()).rejects.toMatchObject({ code: 'ENOENT' })
  writeFileSync(file, 'first')
  const first = await read()
  expect(first).toEqual({ bytes: Buffer.from('first') })
  writeFileSync(file, 'second')
  expect(await read()).toEqual(first)
})

test('static content matches ETags that a proxy modified, and forbids proxies to transform the content', async () => {
  const content = new StaticContent('text/html', () => Buffer.from('first'))
  const { ETag: tag, 'Cache-Control': cached } = (await content.reply(NO_HEADERS)).headers!
  expect(cached).toBe('no-cache, no-transform')
  const begin = tag!.slice(0, -1)
  const statusFor = async (sent: string): Promise<number> =>
    (await content.reply({ headers: new Map([['if-none-match', sent]]) })).status
  for (const sent of [tag!, `W/${tag}`, `${begin}-gzip"`, `W/${begin}-br"`, `"a", ${begin};gzip"`, '*'])
    expect(await statusFor(sent), sent).toBe(304)
  for (const sent of ['"a"', 'W/"a-gzip"', `${begin}x"`]) expect(await statusFor(sent), sent).toBe(200)
})
